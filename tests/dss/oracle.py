"""An independent engine for the answers of `assay bench dss`: DuckDB, with its own queries on the same rows.

`pip install duckdb==1.5.5 duckdb-extension-tpch==1.5.5`; the versions of both must be equal.

The rows come as text (`dss_rows`, an example of crates/assay-loads), because DuckDB's own generator makes other texts: its addresses and
comments differ from those of the benchmark's. All other columns are compared with those that it makes.
"""

from decimal import Decimal, InvalidOperation
from pathlib import Path

# Relative difference of averages and quotients, which one engine keeps as decimals and the other as binary numbers.
TOLERANCE = Decimal("1e-9")
TABLES = ["region", "nation", "supplier", "part", "partsupp", "customer", "orders", "lineitem"]


def missing() -> str:
    """Why there is no such engine here; empty where there is one."""
    try:
        import duckdb
        import duckdb_extension_tpch  # noqa: F401
    except ModuleNotFoundError as error:
        return f"{error.name} is not installed"
    return "" if _extension(duckdb.__version__) else f"duckdb-extension-tpch is not of version {duckdb.__version__}"


def _extension(version: str) -> "Path | None":
    import duckdb_extension_tpch

    folder = Path(duckdb_extension_tpch.__file__).parent / "extensions"
    return next(folder.glob(f"*{version}/tpch.duckdb_extension"), None)


class Oracle:
    """Tables of a scale with the rows of a folder."""

    def __init__(self, scale: float, rows: Path) -> None:
        import duckdb

        self._scale = scale
        self._connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
        self._connection.execute(f"LOAD '{_extension(duckdb.__version__)}'")
        self._connection.execute("CALL dbgen(sf=0)")
        for table in TABLES:
            self._connection.execute(f"COPY {table} FROM '{rows / table}.csv' (DELIMITER '|', HEADER false, QUOTE '')")
        self._queries = dict(self._connection.execute("SELECT query_nr, query FROM tpch_queries()").fetchall())

    def answer(self, query: int) -> "list[list[str]]":
        """The rows of a query with the values of its validation."""
        text = self._queries[query]
        if query == 11:
            # The share that is important shrinks with the scale; the text is that of scale 1.
            assert "0.0001000000" in text
            text = text.replace("0.0001000000", f"{0.0001 / self._scale:.10f}")
        rows = self._connection.execute(text).fetchall()
        return [["" if cell is None else str(cell).rstrip() for cell in row] for row in rows]

    def other_rows(self) -> "dict[str, int]":
        """How many rows of each table differ from those that DuckDB makes itself, addresses and comments left out."""
        self._connection.execute("CREATE SCHEMA made")
        self._connection.execute(f"CALL dbgen(sf={self._scale}, schema='made')")
        return {table: self._others(table) for table in TABLES}

    def _others(self, table: str) -> int:
        columns = [name for name, *_ in self._connection.execute(f"DESCRIBE {table}").fetchall()]
        same = ", ".join(name for name in columns if not name.endswith(("_comment", "_address")))
        both = (f"(SELECT {same} FROM main.{table} EXCEPT ALL SELECT {same} FROM made.{table}) "
                f"UNION ALL (SELECT {same} FROM made.{table} EXCEPT ALL SELECT {same} FROM main.{table})")
        return self._connection.execute(f"SELECT count(*) FROM ({both})").fetchone()[0]


def differences(ours: "list[list[str]]", theirs: "list[list[str]]") -> "list[str]":
    """What differs, row by row; nothing where both are the same."""
    if len(ours) != len(theirs):
        return [f"{len(ours)} rows where {len(theirs)} are"]
    pairs = enumerate(zip(ours, theirs), 1)
    return [f"row {place}: {one} is not {other}" for place, (one, other) in pairs if not _same(one, other)]


def _same(one: "list[str]", other: "list[str]") -> bool:
    return len(one) == len(other) and all(map(_equal, one, other))


def _equal(one: str, other: str) -> bool:
    if one == other:
        return True
    try:
        mine, theirs = Decimal(one), Decimal(other)
    except InvalidOperation:
        return False
    return abs(mine - theirs) <= TOLERANCE * max(abs(mine), abs(theirs))
