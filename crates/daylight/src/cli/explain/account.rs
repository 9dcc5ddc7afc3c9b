//! The time of an answer, as a table: operations on its line add up to its duration. Below an operation stand the members that it asked,
//! and below a member the fetch that it waited for.

use super::record::{Cost, Member, Record};
use crate::cli::table;
use std::collections::BTreeMap;
use std::io::{self, Write};
use telemetry::Op;

/// The columns of the table.
const HEAD: [&str; 5] = ["TIME SPENT ON", "MS", "SHARE", "TIMES", "WHAT"];

/// How far rows are indented at most.
const DEPTH_MAX: usize = 8;

/// The fetches that members waited for, and those for which these waited, by the ids of their events.
pub(super) type Fetches = BTreeMap<String, Record>;

/// Writes the table. `fetches` may lack some.
pub(super) fn write(out: &mut dyn Write, record: &Record, fetches: &Fetches) -> io::Result<()> {
    let mut rows = Vec::new();
    let total = record.duration_ms;
    let (inside, mut line): (Vec<_>, Vec<_>) = record.ops.iter().partition(|(_, cost)| cost.inside);
    line.sort_by(|(_, one), (_, other)| other.ms.total_cmp(&one.ms));
    let mut shown = false;
    let asks = line.iter().any(|(op, _)| *op == Op::MembersAsk.as_str());
    for (op, cost) in line {
        rows.push(row(0, op, cost, total));
        let asked = op == Op::MembersAsk.as_str();
        if asked || !asks && op == Op::FlightWait.as_str() {
            members(&record.members, asked, fetches, &mut rows);
            shown = true;
            if !asked && record.members.iter().all(|member| member.flight.is_empty()) {
                fetched(1, &record.upstream.flight, fetches, &mut rows);
            }
        }
        if op == Op::BodySend.as_str() {
            for (op, cost) in inside.iter().filter(|(op, _)| is_sending(op)) {
                rows.push(row(1, op, cost, None));
                if *op == Op::BodyWait.as_str() && !shown {
                    members(&record.members, false, fetches, &mut rows);
                }
            }
        }
    }
    if let Some((total, unaccounted)) = total.zip(record.unaccounted_ms) {
        let share = share(unaccounted, Some(total));
        let what = "The time in between, which no operation measures".to_owned();
        rows.push(["unaccounted".into(), format!("{unaccounted:.3}"), share, String::new(), what]);
        rows.push(["in all".into(), format!("{total:.3}"), "100 %".into(), String::new(), String::new()]);
    }
    let beside = inside.iter().filter(|(op, _)| !is_sending(op));
    rows.extend(beside.map(|(op, cost)| row(0, &format!("beside: {op}"), cost, None)));
    table::write(out, HEAD, rows)
}

/// Whether the operation runs while a body is sent.
fn is_sending(op: &str) -> bool {
    [Op::BodyRead, Op::BodyWait].iter().any(|one| one.as_str() == op)
}

/// The members that were asked, each with its operations and its fetch. `named`: they stand below the operation that asked them all.
fn members(all: &[Member], named: bool, fetches: &Fetches, rows: &mut Vec<[String; 5]>) {
    let found = all.iter().position(|member| ["hit", "stale"].contains(&member.said.as_str()));
    for (place, member) in all.iter().enumerate().filter(|(_, member)| member.ms > 0.0 || !member.flight.is_empty()) {
        let kept_waiting = found.map(|at| (at, &all[at])).filter(|(at, found)| place < *at && member.ms > found.ms);
        let waited = kept_waiting.map(|(_, found)| format!("; the file of {} waited for it", found.member));
        let depth = if named { 2 } else { 1 };
        if named {
            let said = format!("The repository's answer: {}{}", member.said, waited.unwrap_or_default());
            rows.push([
                format!("  {}", member.member),
                format!("{:.3}", member.ms),
                String::new(),
                String::new(),
                said,
            ]);
            let mut ops: Vec<_> = member.ops.iter().collect();
            ops.sort_by(|(_, one), (_, other)| other.ms.total_cmp(&one.ms));
            rows.extend(ops.into_iter().map(|(op, cost)| row(depth, op, cost, None)));
        }
        fetched(depth, &member.flight, fetches, rows);
    }
}

/// The fetch that was waited for. Below it stands the fetch for which it waited: that of the checksum of its file.
fn fetched(depth: usize, id: &str, fetches: &Fetches, rows: &mut Vec<[String; 5]>) {
    let Some(fetch) = fetches.get(id).filter(|_| depth <= DEPTH_MAX) else { return };
    let ms = fetch.duration_ms.map(|ms| format!("{ms:.3}")).unwrap_or_default();
    let what = format!("The download that it waited for, event {id}");
    rows.push([format!("{}{}", indent(depth), fetch.method), ms, String::new(), String::new(), what]);
    let mut ops: Vec<_> = fetch.ops.iter().collect();
    ops.sort_by(|(_, one), (_, other)| other.ms.total_cmp(&one.ms));
    for (op, cost) in ops {
        rows.push(row(depth + 1, op, cost, None));
        if op == Op::FlightWait.as_str() {
            fetched(depth + 2, &fetch.upstream.flight, fetches, rows);
        }
    }
}

fn row(depth: usize, op: &str, cost: &Cost, total: Option<f64>) -> [String; 5] {
    let vain = if cost.vain > 0 { format!(", {} of no effect", cost.vain) } else { String::new() };
    let known = Op::ALL.iter().find(|known| known.as_str() == op.trim_start_matches("beside: "));
    let what = known.map(|known| known.doc().to_owned()).unwrap_or_default();
    let times = format!("{}{vain}", cost.count);
    [format!("{}{op}", indent(depth)), format!("{:.3}", cost.ms), share(cost.ms, total), times, what]
}

fn indent(depth: usize) -> String {
    "  ".repeat(depth)
}

/// `ms` as a share of `total`, in percent.
fn share(ms: f64, total: Option<f64>) -> String {
    total.filter(|total| *total > 0.0).map(|total| format!("{:.0} %", 100.0 * ms / total)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(record: &serde_json::Value, fetches: &Fetches) -> String {
        let mut out = Vec::new();
        write(&mut out, &serde_json::from_value(record.clone()).unwrap(), fetches).unwrap();
        let text = String::from_utf8(out).unwrap();
        // The texts about operations are those of their list.
        let cells = text.lines().map(|line| {
            line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).take(3).collect::<Vec<_>>().join("|")
        });
        cells.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn each_millisecond_stands_at_an_operation_and_those_of_members_and_fetches_below_it() {
        let record = json!({
            "duration_ms": 20.0, "unaccounted_ms": 0.5,
            "ops": {
                "members.ask": {"count": 1, "ms": 15.0}, "body.send": {"count": 1, "ms": 4.0},
                "route.read": {"count": 1, "ms": 0.5}, "body.read": {"count": 3, "ms": 1.0, "inside": true},
                "tls.handshake": {"count": 1, "ms": 3.0, "inside": true},
            },
            "members": [
                {"member": "ours", "said": "not_asked", "ms": 0.0},
                {"member": "near", "said": "not_found", "ms": 15.0},
                {"member": "far", "said": "hit", "ms": 14.0, "flight": "00000000000000f1", "ops": {"flight.wait": {"count": 1, "ms": 13.0}}},
            ],
        });
        let fetch = json!({
            "method": "fetch", "duration_ms": 12.5, "upstream": {"flight": "00000000000000f2"},
            "ops": {"upstream.first_byte": {"count": 1, "ms": 12.0}, "flight.wait": {"count": 1, "ms": 0.25}},
        });
        let checksum = json!({"method": "fetch.checksum", "duration_ms": 12.25, "ops": {"upstream.body": {"count": 1, "ms": 12.0}}});
        let fetches = [("00000000000000f1", fetch), ("00000000000000f2", checksum)];
        let fetches = fetches.map(|(id, fetch)| (id.to_owned(), serde_json::from_value(fetch).unwrap())).into();
        let expected = "TIME SPENT ON|MS|SHARE\nmembers.ask|15.000|75 %\n\
            near|15.000|The repository's answer: not_found; the file of far waited for it\nfar|14.000|The repository's answer: hit\n\
            flight.wait|13.000|1\nfetch|12.500|The download that it waited for, event 00000000000000f1\n\
            upstream.first_byte|12.000|1\nflight.wait|0.250|1\n\
            fetch.checksum|12.250|The download that it waited for, event 00000000000000f2\nupstream.body|12.000|1\nbody.send|4.000|20 %\nbody.read|1.000|3\nroute.read|0.500|2 %\n\
            unaccounted|0.500|2 %\nin all|20.000|100 %\nbeside: tls.handshake|3.000|1";
        assert_eq!(shown(&record, &fetches), expected);
    }

    #[test]
    fn a_predicted_answer_has_neither_shares_nor_unaccounted_time() {
        let record = json!({"ops": {"truth.read": {"count": 2, "ms": 0.25, "vain": 1}}});
        assert_eq!(shown(&record, &Fetches::default()), "TIME SPENT ON|MS|SHARE\ntruth.read|0.250|2, 1 of no effect");
    }
}
