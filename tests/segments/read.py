"""Reads a segment with PyArrow and with DuckDB, and prints what each of them found as JSON: `read.py FILE PATH`."""

import json
import sys

import duckdb
import pyarrow
from pyarrow import parquet

file, path = sys.argv[1:]


def figures(rows, sums, texts, durations, top, found):
    """Durations are decimal numbers of milliseconds: as microseconds they are whole."""
    durations = sorted(round(duration * 1000) for duration in durations)
    quantiles = [durations[-(-len(durations) * percent // 100) - 1] for percent in (50, 95, 99)]
    return {"rows": rows, "sums": sums, "texts": texts, "quantiles": quantiles, "top": top, "found": found}


def with_pyarrow():
    table = parquet.read_table(file)
    sums, texts = {}, {}
    for field in table.schema:
        cells = table[field.name]
        if pyarrow.types.is_string(field.type):
            cells = cells.to_pylist()
            texts[field.name] = [sum(cell != "" for cell in cells), len(set(cells))]
        elif pyarrow.types.is_decimal(field.type):
            sums[field.name] = str(round(sum(cells.to_pylist()) * 1000))
        else:
            whole = cells.cast(pyarrow.int64()) if pyarrow.types.is_timestamp(field.type) else cells
            sums[field.name] = str(sum(whole.to_pylist()))
    paths = table.group_by("path").aggregate([("bytes_out", "sum")]).to_pylist()
    paths = sorted(([row["path"], row["bytes_out_sum"]] for row in paths), key=lambda row: (-row[1], row[0]))
    found = parquet.read_table(file, filters=[("path", "=", path)]).num_rows
    return figures(table.num_rows, sums, texts, table["duration_ms"].to_pylist(), paths[:20], found)


def with_duckdb():
    ask = lambda question, *values: duckdb.execute(f'select {question.replace("FILE", "read_parquet(?)")}', values).fetchall()
    sums, texts = {}, {}
    for name, kind, *_ in duckdb.execute("describe select * from read_parquet(?)", [file]).fetchall():
        if kind == "VARCHAR":
            texts[name] = list(ask(f'''count(*) filter ("{name}" <> ''), count(distinct "{name}") from FILE''', file)[0])
        else:
            cell = {"DECIMAL(18,3)": f'"{name}" * 1000', "TIMESTAMP WITH TIME ZONE": f'epoch_ms("{name}")'}.get(kind, f'"{name}"')
            sums[name] = str(round(ask(f"sum(({cell})::hugeint) from FILE", file)[0][0]))
    rows = ask("count(*) from FILE", file)[0][0]
    durations = [row[0] for row in ask("duration_ms from FILE", file)]
    top = ask("path, sum(bytes_out)::bigint as bytes from FILE group by path order by bytes desc, path limit 20", file)
    found = ask("count(*) from FILE where path = ?", file, path)[0][0]
    return figures(rows, sums, texts, durations, [list(row) for row in top], found)


print(json.dumps({"pyarrow": with_pyarrow(), "duckdb": with_duckdb()}))
