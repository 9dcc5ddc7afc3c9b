//! Questions about the events: when the first rows come, when the answer is whole, and how much memory they take.

use super::filled::Filled;
use crate::http::Connection;
use crate::process::{Server, TOKEN, load_average};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::time::Instant;

/// How often each question is asked.
const ROUNDS: usize = 10;
/// After so many milliseconds the rows so far are wanted.
const WAIT_MS: u64 = 200;

/// The questions: a name, the time, the keys, the figures, the filter and more.
fn questions(filled: &Filled) -> Vec<(&'static str, Value)> {
    let to = filled.before(0);
    let of = |days: i64, by: &[&str], measures: &[&str], filter: &str| {
        let from = filled.before(days);
        let mut question = json!({ "from": from, "to": to, "by": by, "measures": measures, "limit": 20 });
        if !filter.is_empty() {
            question["where"] = filter.into();
        }
        question
    };
    let mut series = of(7, &[], &["p50(duration_ms)", "p95(duration_ms)"], "");
    series["per"] = "1m".into();
    series.as_object_mut().map(|series| series.remove("limit"));
    let mut rest = json!({ "from": filled.before(1), "to": to, "where": "duration_ms > 2" });
    rest["compare"] = "rest".into();
    vec![
        ("p95 by repository, a day", of(1, &["repository"], &["p95(duration_ms)", "count"], "")),
        ("top 20 paths by bytes, a day", of(1, &["path"], &["sum(bytes_out)"], "")),
        ("5xx by package, a day", of(1, &["package"], &["count"], "status >= 500")),
        ("slowest 20 paths, a day", of(1, &["path"], &["max(duration_ms)"], "")),
        ("quantiles per minute, a week", series),
        ("packages by client, a day", of(1, &["client"], &["distinct(package)"], "")),
        ("one path, a week", of(7, &[], &["count", "p95(duration_ms)"], "path = '/gems/info/package-name-00000'")),
        ("misses by client version, a day", of(1, &["client_version"], &["count"], "layer = group")),
        ("the slow ones against the rest, a day", rest),
        ("failures by upstream, a day", of(1, &["upstream_host"], &["count"], "outcome = failed")),
        ("p95 by repository, a week", of(7, &["repository"], &["p95(duration_ms)", "count"], "")),
        ("top 20 paths by bytes, a week", of(7, &["path"], &["sum(bytes_out)"], "")),
    ]
}

/// One answer: milliseconds until the first rows and until the whole, and the last answer.
pub(super) fn answer(connection: &mut Connection, question: &Value) -> Result<(f64, f64, Value)> {
    let (began, mut first, mut body) = (Instant::now(), None, question.clone());
    body["wait_ms"] = WAIT_MS.into();
    loop {
        let auth = format!("Bearer {TOKEN}");
        let reply = connection.call("POST", "/api/v1/ask", &[("Authorization", &auth)], body.to_string().as_bytes())?;
        ensure!(reply.status == 200, "{question}: {} {}", reply.status, String::from_utf8_lossy(&reply.body));
        let answer: Value = serde_json::from_slice(&reply.body)?;
        let millis = began.elapsed().as_secs_f64() * 1e3;
        let first = *first.get_or_insert(millis);
        if answer["next"].is_null() {
            return Ok((first, millis, answer));
        }
        body = json!({ "next": answer["next"], "wait_ms": 30_000 });
    }
}

/// Asks all questions, prints the times of each and of all, and then those of single events.
pub(super) fn ask(server: &Server, filled: &Filled) -> Result<()> {
    let mut connection = Connection::open(server.address.parse()?)?;
    println!(
        "\n| question | first rows, ms: p50 | p95 | whole, ms: p50 | p95 | events seen | processor, ms | MB read |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let before = server.resident()?;
    let (mut firsts, mut wholes) = (Vec::new(), Vec::new());
    for (name, question) in questions(filled) {
        let (mut first, mut whole, mut last) = (Vec::new(), Vec::new(), Value::Null);
        for _ in 0..ROUNDS {
            let (rows, all, answer) = answer(&mut connection, &question)?;
            first.push(rows);
            whole.push(all);
            last = answer;
        }
        firsts.extend_from_slice(&first);
        wholes.extend_from_slice(&whole);
        let [seen, cpu, bytes] = [&last["seen"]["events"], &last["cost"]["cpu_ms"], &last["cost"]["bytes"]]
            .map(|figure| figure.as_f64().unwrap_or(f64::NAN));
        // Counts of all events would answer some questions without reading one.
        ensure!(bytes > 0.0, "{name}: no file of events was read");
        println!("| {name} | {} | {seen:.0} | {cpu:.0} | {:.1} |", both(&mut first, &mut whole), bytes / 1e6);
    }
    println!("| all | {} | | | |", both(&mut firsts, &mut wholes));
    let mut times = Vec::new();
    for id in &filled.ids {
        let began = Instant::now();
        let auth = format!("Bearer {TOKEN}");
        let reply = connection.call("GET", &format!("/api/v1/events/{id}"), &[("Authorization", &auth)], b"")?;
        ensure!(reply.status == 200, "event {id}: {}", reply.status);
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    println!(
        "\n{} events by their ids: p50 {:.1} ms, p95 {:.1} ms",
        filled.ids.len(),
        at(&mut times, 0.5),
        at(&mut times, 0.95)
    );
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let (highest, after) = (server.highest()?, server.resident()?);
    println!(
        "resident memory: {:.0} MiB before, {:.0} MiB after, {:.0} MiB at most",
        mib(before),
        mib(after),
        mib(highest)
    );
    println!("load average after it: {}", load_average().context("the load")?);
    Ok(())
}

fn both(first: &mut [f64], whole: &mut [f64]) -> String {
    let [a, b, c, d] = [at(first, 0.5), at(first, 0.95), at(whole, 0.5), at(whole, 0.95)];
    format!("{a:.0} | {b:.0} | {c:.0} | {d:.0}")
}

/// The value that this part of the values does not exceed.
pub(super) fn at(values: &mut [f64], quantile: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = (values.len() as f64 * quantile).ceil() as usize;
    values.get(place.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}
