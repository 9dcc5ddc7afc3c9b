//! Prints an answer for people: a table, and what must be known to read it.

use super::super::silent_nodes;
use super::super::table::{self, Head};
use super::answer::{Answer, Compared, Row};
use crate::lookup::cells::{Unit, milliseconds};
use std::io::{self, Write};

/// The columns of a comparison.
const LEGEND: &str = "score: how well the value tells the selected events from the others, 1 at most; share, base_share: the part of \
                      each side that has it; lift: share / base_share; same: columns that tell the same";

/// Writes an answer.
pub(super) fn write(out: &mut dyn Write, answer: &Answer) -> io::Result<()> {
    if let Some(compared) = &answer.compared {
        write_sides(out, compared)?;
    }
    match answer.rows.first() {
        None if answer.compared.is_some() => writeln!(out, "no column differs")?,
        None => writeln!(out, "no events")?,
        Some(first) => {
            let units: Vec<Unit> = first.0.iter().map(|(name, _)| Unit::of(name)).collect();
            let is_figure = |at: usize| units[at] != Unit::Text && answer.rows.iter().all(|row| is_number(row, at));
            let names = first.0.iter().enumerate();
            let head: Vec<Head> =
                names.map(|(at, (name, _))| Head { name: name.to_uppercase(), right: is_figure(at) }).collect();
            let cells = |row: &Row| row.0.iter().zip(&units).map(|((_, figure), unit)| unit.show(figure)).collect();
            // A row of another form would have no place under these names.
            let rows = answer.rows.iter().filter(|row| row.0.len() == head.len()).map(cells).collect();
            table::write_under(out, &head, rows)?;
            if answer.compared.is_some() {
                writeln!(out, "{LEGEND}")?;
            }
        }
    }
    if let Some(compared) = &answer.compared {
        write_line(out, compared)?;
    }
    writeln!(out)?;
    let (seen, cpu) = (&answer.seen, milliseconds(answer.cost.cpu_ms));
    writeln!(out, "from {} to {}", answer.from, answer.to)?;
    let parts = format!("parts read: {}, skipped: {}", seen.segments, seen.skipped);
    writeln!(out, "events seen: {}, {parts}, processor time: {cpu}", seen.events)?;
    for note in notes(answer) {
        writeln!(out, "note: {note}")?;
    }
    for hint in &answer.hints {
        writeln!(out, "hint: {hint}")?;
    }
    Ok(())
}

fn is_number(row: &Row, at: usize) -> bool {
    row.0.get(at).is_some_and(|(_, figure)| figure.is_number() || figure.is_null())
}

/// What must be known to read the values.
fn notes(answer: &Answer) -> Vec<String> {
    let mut notes = Vec::new();
    if !answer.exact {
        notes.push("the values are estimates: some stored events stand for several".to_owned());
    }
    if answer.complete < 1.0 {
        notes.push(format!("only {:.0} % of the stored events were seen", answer.complete * 100.0));
    }
    if answer.left_out > 0 {
        notes.push(format!("{} events are in no row, because there were too many groups", answer.left_out));
    }
    notes.extend(silent_nodes::lines(&answer.nodes, "requests"));
    notes.extend(answer.unreadable.iter().map(|part| format!("a part of the events could not be read: {part}")));
    notes
}

fn write_sides(out: &mut dyn Write, compared: &Compared) -> io::Result<()> {
    for (name, side) in [("selected", &compared.selected), ("compared", &compared.base)] {
        writeln!(out, "{name}  {} events, {} on average", side.events, milliseconds(side.duration_ms))?;
    }
    writeln!(out)
}

/// The operations whose times differ, the largest difference first.
fn write_line(out: &mut dyn Write, compared: &Compared) -> io::Result<()> {
    let mut steps: Vec<_> = compared.line.iter().filter(|step| step.selected > 0.0 || step.base > 0.0).collect();
    if steps.is_empty() {
        return Ok(());
    }
    steps.sort_by(|one, other| other.difference.abs().total_cmp(&one.difference.abs()));
    let names = [("TIME SPENT ON", false), ("SELECTED", true), ("COMPARED", true), ("DIFFERENCE", true)];
    let head = names.map(|(name, right)| Head { name: name.to_owned(), right });
    let row = |step: &&super::answer::Step| {
        let [selected, base, difference] = [step.selected, step.base, step.difference].map(milliseconds);
        vec![step.column.clone(), selected, base, difference]
    };
    writeln!(out)?;
    table::write_under(out, &head, steps.iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(answer: serde_json::Value) -> String {
        let mut all = json!({
            "rows": [], "exact": true, "complete": 1.0, "from": "2026-11-23T11:00:00.000Z", "to": "2026-11-23T12:00:00.000Z",
            "seen": {"events": 412, "of": 412, "segments": 1, "skipped": 0}, "left_out": 0,
            "cost": {"cpu_ms": 1.5, "bytes": 0}, "next": null,
        });
        let answer = answer.as_object().unwrap().clone();
        all.as_object_mut().unwrap().extend(answer.into_iter().filter(|(key, _)| key != "rows"));
        let mut text = all.to_string();
        // Objects of `Value` have their keys in another order.
        text = text.replace("\"rows\":[]", r#""rows":[{"package":"rack","count":412,"p95(duration_ms)":8.1}]"#);
        let mut out = Vec::new();
        write(&mut out, &serde_json::from_str(&text).unwrap()).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_answer_is_a_table_with_the_columns_in_the_order_of_the_question() {
        let expected = "PACKAGE  COUNT  P95(DURATION_MS)\nrack       412            8.1 ms\n\n\
                        from 2026-11-23T11:00:00.000Z to 2026-11-23T12:00:00.000Z\n\
                        events seen: 412, parts read: 1, skipped: 0, processor time: 1.5 ms\n";
        assert_eq!(shown(json!({})), expected);
    }

    #[test]
    fn an_answer_tells_what_is_estimated_left_out_or_unreadable() {
        let text = shown(json!({
            "exact": false, "left_out": 7, "unreadable": ["a: torn"], "hints": ["did you mean `rack`?"],
            "nodes": [{"node": "a", "answered": true}, {"node": "b", "answered": false, "error": "it does not run"}],
        }));
        for note in [
            "values are estimates",
            "7 events are in no row",
            "could not be read: a: torn",
            "\nnote: node `b` did not answer: it does not run, so its requests are missing\n",
            "\nhint: did you mean",
        ] {
            assert!(text.contains(note), "{text}");
        }
    }

    #[test]
    fn a_comparison_shows_where_the_time_went_the_largest_difference_first() {
        let step = |column: &str, selected: f64, base: f64| json!({"column": column, "selected": selected, "base": base, "difference": selected - base});
        let line = [step("truth_ms", 1.0, 0.5), step("upstream_ms", 800.0, 20.0), step("blob_ms", 0.0, 0.0)];
        let side =
            |events: u64, duration_ms: f64| json!({"events": events, "sample": events, "duration_ms": duration_ms});
        let text = shown(json!({"compared": {"selected": side(40, 812.0), "base": side(5000, 12.0), "line": line}}));
        let places: Vec<usize> = ["selected  40 events, 812 ms", "rack", "upstream_ms", "truth_ms"]
            .map(|part| text.find(part).unwrap_or_else(|| panic!("{part}: {text}")))
            .to_vec();
        assert!(places.is_sorted() && !text.contains("blob_ms"), "{text}");
    }
}
