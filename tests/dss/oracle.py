"""An independent engine for the answers of `assay load dss`: DuckDB with its own generator and its own queries.

`pip install duckdb==1.5.5 duckdb-extension-tpch==1.5.5`; the versions of both must be equal.
"""

from decimal import Decimal, InvalidOperation
from pathlib import Path

# Relative difference of averages and quotients, which one engine keeps as decimals and the other as binary numbers.
TOLERANCE = Decimal("1e-9")


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
    """Tables of a scale, made by DuckDB's own generator."""

    def __init__(self, scale: float) -> None:
        import duckdb

        self._scale = scale
        self._connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
        self._connection.execute(f"LOAD '{_extension(duckdb.__version__)}'")
        self._connection.execute(f"CALL dbgen(sf={scale})")
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

    def table(self, name: str) -> "list[list[str]]":
        """All rows of a table in the order of its first two columns."""
        rows = self._connection.execute(f"SELECT * FROM {name} ORDER BY ALL").fetchall()
        return [[str(cell) for cell in row] for row in rows]


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
