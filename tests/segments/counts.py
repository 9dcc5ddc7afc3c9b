"""Reads files of counts with PyArrow and with DuckDB, and prints what each of them found as JSON: `counts.py FILE...`."""

import json
import sys

import duckdb
from pyarrow import parquet

files = sys.argv[1:]
DURATIONS = ("first_byte_ms", "duration_ms")


def micros(decimal):
    """Durations are decimal numbers of milliseconds: as microseconds they are whole."""
    return round(decimal * 1000)


def quantile(buckets, percent):
    """The upper edge of the bucket that this part of the events does not exceed."""
    rank, below = -(-sum(buckets.values()) * percent // 100), 0
    for upper, count in sorted(buckets.items()):
        below += count
        if below >= rank:
            return upper


def figures(requests, spreads):
    durations = {
        name: {"sum": total, "max": most, "events": sum(buckets.values()), "p95": quantile(buckets, 95)}
        for name, (total, most, buckets) in spreads.items()
    }
    return {"requests": sorted([*key, *sums] for key, sums in requests.items()), "durations": durations}


def with_pyarrow():
    requests, spreads = {}, {}
    for row in (row for file in files for row in parquet.read_table(file).to_pylist()):
        if row["kind"] == "request":
            sums = requests.setdefault((row["repository"], row["outcome"]), [0, 0, 0])
            for place, name in enumerate(("count", "bytes_in", "bytes_out")):
                sums[place] += row[name]
        for name in DURATIONS:
            total, most, buckets = spreads.get(name, (0, 0, {}))
            for upper, count in zip(row[f"{name}_upper"], row[f"{name}_counts"], strict=True):
                buckets[micros(upper)] = buckets.get(micros(upper), 0) + count
            spreads[name] = (total + micros(row[f"{name}_sum"]), max(most, micros(row[f"{name}_max"])), buckets)
    return figures(requests, spreads)


def with_duckdb():
    ask = lambda question: duckdb.execute(question.replace("FILES", "read_parquet(?)"), [files]).fetchall()
    sums = "sum(count)::bigint, sum(bytes_in)::bigint, sum(bytes_out)::bigint"
    grouped = ask(f"select repository, outcome, {sums} from FILES where kind = 'request' group by all")
    spreads = {}
    for name in DURATIONS:
        total, most = ask(f"select sum({name}_sum), max({name}_max) from FILES")[0]
        listed = f"select unnest({name}_upper) as upper, unnest({name}_counts) as events from FILES"
        buckets = ask(f"select upper, sum(events)::bigint from ({listed}) group by upper")
        spreads[name] = (micros(total), micros(most), {micros(upper): count for upper, count in buckets})
    return figures({(repository, outcome): rest for repository, outcome, *rest in grouped}, spreads)


print(json.dumps({"pyarrow": with_pyarrow(), "duckdb": with_duckdb()}))
