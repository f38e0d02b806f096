#!/usr/bin/env python3
"""Loading the tables of three loads next to `COPY` of the same rows by as many psql sessions as there are processors, the same indexes and statistics behind it."""

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from bench import machine, repeats, report
from slob import SETTINGS, Server

# The load's options, and the least ratio of COPY's time to Assay's that is asked for; of the limit 0.7 is.
LOADS = {
    "oltp": (["--warehouses", "10", "--sessions", "1", "--time", "1s"], 0.7),
    "slob": (["--scale", "1GiB", "--sessions", "1", "--time", "1s"], 1.5),
    "brokerage": (["--sessions", "1", "--time", "1s"], 0.7),
}
SETTINGS.update({"shared_buffers": "2GB", "checkpoint_timeout": "15min", "max_wal_size": "8GB", "wal_level": "minimal", "max_wal_senders": "0"})
# What every session of Assay sets while it loads.
LOADING = "SET client_min_messages = warning; SET maintenance_work_mem = '256MB'; SET synchronous_commit = off;"
# A load whose database is copied makes one of this name, another a schema, some of a name of their own.
KEPT = "kept"
# A table of more blocks is copied in parts, so that all sessions have something to do.
PART_BLOCKS = 8192


@dataclass
class Loaded:
    """What a load left in its schema, and how it is made again."""

    address: str
    schema: str
    parts: list = field(default_factory=list)
    tables: list = field(default_factory=list)
    indexes: list = field(default_factory=list)


def by_assay(given, server, load, keep=False):
    """Loads by Assay, with a run as short as it may be."""
    options, _ = LOADS[load]
    keeping = ["--keep"] if load == "slob" else ["--schema", KEPT, "--keep"]
    command = [given.assay, "bench", load, server.address, *options, *(keeping if keep else []), "--json", "--quiet", "--store", given.store]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise SystemExit(done.stderr)
    filled = json.loads(done.stdout)["load"]["filled"]
    return {"elapsed_s": filled["elapsed_s"], "rows": filled["rows"], "bytes": filled["table_bytes"] + filled["index_bytes"]}


def rows_of(server, text, address):
    """Rows of a statement, their columns apart."""
    command = [server.bindir / "psql", "-XAtq", "-F", "\t", "-c", text, address]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def kept(server, directory):
    """Writes the rows that a load kept into files, large tables in parts; what was there before belongs to nobody else."""
    databases = rows_of(server, "SELECT datname FROM pg_database", server.address)
    address = server.address.replace("/postgres?", f"/{KEPT}?") if [KEPT] in databases else server.address
    tables = rows_of(server, "SELECT nspname, relname, pg_relation_size(c.oid) / 8192, coalesce(array_to_string(reloptions, ', '), '') "
                             "FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace WHERE relkind = 'r' "
                             "AND nspname NOT IN ('pg_catalog', 'information_schema') AND relname NOT LIKE 'assay\\_%' ORDER BY 3 DESC", address)
    found = Loaded(address, tables[0][0])
    for schema, table, blocks, options in tables:
        found.tables.append((table, options))
        parts = -(-int(blocks) // PART_BLOCKS) or 1
        for part in range(parts):
            path = directory / f"{table}.{part}"
            last = "" if part == parts - 1 else f" AND ctid < '({(part + 1) * PART_BLOCKS},0)'"
            where = f"ctid >= '({part * PART_BLOCKS},0)'{last}"
            for form in ("text", "binary"):
                run(server, f"COPY (SELECT * FROM {schema}.{table} WHERE {where}) TO '{path}.{form}' (FORMAT {form})", address)
            found.parts.append((table, path))
    indexes = rows_of(server, f"SELECT indexdef FROM pg_indexes WHERE schemaname = '{found.schema}' AND tablename NOT LIKE 'assay\\_%'", address)
    found.indexes = [row[0] for row in indexes]
    return found


def run(server, text, address):
    """One statement by psql."""
    command = [server.bindir / "psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-c", LOADING, "-c", text, address]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def at_once(server, statements, address):
    """Carries out lists of statements one list after the other, those of a list by as many psql sessions as there are processors."""
    for group in statements:
        waiting = queue.SimpleQueue()
        for text in group:
            waiting.put(text)
        threads = [threading.Thread(target=session, args=(server, waiting, address)) for _ in range(os.cpu_count())]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def session(server, waiting, address):
    """One psql session after the other's statement."""
    while True:
        try:
            text = waiting.get_nowait()
        except queue.Empty:
            return
        run(server, text, address)


def by_copy(server, loaded, form, is_client):
    """The same rows by COPY: through psql, as people do, or by the server from its own disk, which is the limit."""
    run(server, "CREATE SCHEMA copied", loaded.address)
    command = "\\copy" if is_client else "COPY"
    begun = time.monotonic()
    for table, options in loaded.tables:
        with_options = f" WITH ({options})" if options else ""
        run(server, f"CREATE TABLE copied.{table} (LIKE {loaded.schema}.{table}){with_options}", loaded.address)
    copies = [f"{command} copied.{table} FROM '{path}.{form}' (FORMAT {form})" for table, path in loaded.parts]
    indexes = [text.replace(f" ON {loaded.schema}.", " ON copied.") for text in loaded.indexes]
    analyses = [f"ANALYZE copied.{table}" for table, _ in loaded.tables]
    at_once(server, [copies, indexes, analyses], loaded.address)
    elapsed_s = time.monotonic() - begun
    run(server, "DROP SCHEMA copied CASCADE", loaded.address)
    return {"elapsed_s": elapsed_s}


def measured(given, load, raw):
    """All sides of one load, alternating; the row of its table."""
    with Server(given.bindir, given.directory) as server, tempfile.TemporaryDirectory(dir=server.path) as place:
        directory = Path(place)
        if server.user:
            directory.chmod(0o777)
        by_assay(given, server, load, keep=True)
        loaded = kept(server, directory)
        sides = {
            "assay": lambda: by_assay(given, server, load),
            "psql": lambda: by_copy(server, loaded, "text", True),
            "limit": lambda: by_copy(server, loaded, "binary", False),
        }
        raw[load] = done = repeats.alternate(repeats.Plan(given), sides)
    used, count = repeats.chosen(done)
    first = used[0]["sides"]["assay"]
    seconds = [f"{repeats.median(used, side, lambda result: result['elapsed_s']):.1f}" for side in sides]
    psql = repeats.Ratio(used, "psql", "assay", lambda result: result["elapsed_s"])
    limit = repeats.Ratio(used, "limit", "assay", lambda result: result["elapsed_s"])
    least = LOADS[load][1]
    return [load, f"{first['rows']:,}", f"{first['bytes'] / 2**20:,.0f}", " / ".join(seconds),
            f"{psql} {report.bar(psql.median >= least, f'≥ {least}')}", f"{limit} {report.bar(limit.median >= 0.7, '≥ 0.7')}", count]


def main():
    parser = report.options(__doc__, repeats=3, extra=0)
    parser.add_argument("--bindir", required=True, help="programs of PostgreSQL and its client")
    given = parser.parse_args()
    raw, lines = {}, []
    with tempfile.TemporaryDirectory() as given.store:
        for load in LOADS:
            if given.only in load:
                print(load, file=sys.stderr, flush=True)
                lines.append(measured(given, load, raw))
    report.keep(given, "loading", {"cases": raw, "settings": SETTINGS, "device": machine.device_of(given.directory)})
    report.table(["load", "rows", "MiB", "seconds: Assay / psql / limit", "psql's time over Assay's", "the limit's time over Assay's", "repeats"], lines)


if __name__ == "__main__":
    main()
