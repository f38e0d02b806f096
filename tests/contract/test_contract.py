"""Every schema in contract/ is valid, every example fits its schema, every refused document does not."""

import json
import tempfile
import unittest
from pathlib import Path

from tests.contract.documents import problems

CONTRACT = Path(__file__).parents[2] / "contract"
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["format"],
    "properties": {"format": {"const": 1}},
    "additionalProperties": False,
}


@unittest.skipUnless(CONTRACT.is_dir(), "there is no folder contract yet")
class Contract(unittest.TestCase):
    """The repository's own documents."""

    def test_documents_hold_together(self) -> None:
        self.assertEqual(problems(CONTRACT), [])

    def test_there_are_schemas(self) -> None:
        self.assertTrue(list(CONTRACT.glob("*.schema.json")))


class Judge(unittest.TestCase):
    """The judge on made-up folders: each rule can be broken."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.contract = Path(folder.name)
        self.write("run.schema.json", json.dumps(SCHEMA))
        self.write("examples/a.run.toml", "format = 1\n")
        self.write("refused/b.run.json", '{"format": 2}')

    def write(self, name: str, text: str) -> None:
        path = self.contract / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def assert_problem(self, expected: str) -> None:
        found = problems(self.contract)
        self.assertEqual(len(found), 1, found)
        self.assertIn(expected, found[0])

    def test_a_sound_folder_passes(self) -> None:
        self.assertEqual(problems(self.contract), [])

    def test_an_example_that_does_not_fit(self) -> None:
        self.write("examples/c.run.jsonl", '{"format": 1}\n{"format": 1, "more": 2}\n')
        self.assert_problem("'more' was unexpected")

    def test_a_document_that_is_not_refused(self) -> None:
        self.write("refused/c.run.json", '{"format": 1}')
        self.assert_problem("c.run.json: must be refused")

    def test_a_schema_that_is_none(self) -> None:
        self.write("examples/a.x.json", "{}")
        self.write("x.schema.json", json.dumps({**SCHEMA, "type": "objekt"}))
        self.assertIn("x.schema.json", problems(self.contract)[0])

    def test_a_schema_without_a_dialect(self) -> None:
        self.write("x.schema.json", "{}")
        self.assert_problem("names no known $schema")

    def test_a_schema_without_an_example(self) -> None:
        self.write("x.schema.json", json.dumps(SCHEMA))
        self.assert_problem("x.schema.json: no example")

    def test_an_example_without_a_schema(self) -> None:
        self.write("examples/a.x.json", "{}")
        self.assert_problem("there is no x.schema.json")


if __name__ == "__main__":
    unittest.main()
