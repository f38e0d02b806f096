"""Judges the documents of contract/: schemas, examples, and documents that must be refused.

contract/KIND.schema.json               the schema of `*.KIND.*` documents
contract/examples/NAME.KIND.EXTENSION   a document that must be accepted
contract/refused/NAME.KIND.EXTENSION    a document that must be refused
contract/earlier/NAME.KIND.EXTENSION    a document of an earlier form, which the program still reads and no schema describes

EXTENSION is json, toml, or jsonl (one document a line).
"""

import json
from pathlib import Path

import jsonschema
import referencing
import referencing.jsonschema

try:
    import tomllib
except ModuleNotFoundError:  # before Python 3.11
    import tomli as tomllib

SCHEMA = ".schema.json"


def problems(contract: Path) -> "list[str]":
    """Everything that is wrong with a folder of that form; nothing if it holds together."""
    schemas, found = _schemas(contract)
    accepted = _documents(contract / "examples")
    refused = _documents(contract / "refused")
    shown = {_kind(path) for path in accepted}
    found += [f"{kind}{SCHEMA}: no example in examples/" for kind in sorted(set(schemas) - shown)]
    for path in accepted + refused:
        validator = schemas.get(_kind(path))
        if validator is None:
            found.append(f"{path.name}: there is no {_kind(path)}{SCHEMA}")
        else:
            found += _judge(path, validator, must_pass=path in accepted)
    return found


def _schemas(contract: Path) -> "tuple[dict, list[str]]":
    schemas, found = {}, []
    texts = {path: json.loads(path.read_text(encoding="utf-8")) for path in sorted(contract.glob(f"*{SCHEMA}"))}
    # A schema may name another one by its file.
    draft = referencing.jsonschema.DRAFT202012
    registry = referencing.Registry().with_resources(
        (path.name, referencing.Resource.from_contents(schema, default_specification=draft))
        for path, schema in texts.items()
        if isinstance(schema, dict)
    )
    for path, schema in texts.items():
        kind = jsonschema.validators.validator_for(schema, default=None)
        if kind is None:
            found.append(f"{path.name}: names no known $schema")
            continue
        try:
            kind.check_schema(schema)
        except jsonschema.SchemaError as error:
            found.append(f"{path.name}: {error.message}")
        else:
            schemas[path.name[: -len(SCHEMA)]] = kind(schema, registry=registry)
    return schemas, found


def _documents(folder: Path) -> "list[Path]":
    return sorted(path for path in folder.glob("*") if path.suffix in {".json", ".toml", ".jsonl"})


def _kind(path: Path) -> str:
    """`run` of `mail.run.toml`."""
    return path.name.split(".")[-2]


def _judge(path: Path, validator, must_pass: bool) -> "list[str]":
    errors = [
        f"{path.name}: {error.json_path}: {error.message}"
        for document in _parse(path)
        for error in validator.iter_errors(document)
    ]
    if must_pass:
        return errors
    return [] if errors else [f"{path.name}: must be refused and is accepted"]


def _parse(path: Path) -> list:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".toml":
        return [tomllib.loads(text)]
    lines = text.splitlines() if path.suffix == ".jsonl" else [text]
    return [json.loads(line) for line in lines]
