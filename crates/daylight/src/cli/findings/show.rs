//! Findings for people: one paragraph for each.

use crate::cli::failure::plain;
use serde::Deserialize;
use serde_json::Value;
use std::io::{self, Write};

/// A finding, as far as it is shown.
#[derive(Debug, Deserialize)]
pub(super) struct Finding {
    id: String,
    state: String,
    since: String,
    lost_s_per_hour: f64,
    sentence: String,
    #[serde(default)]
    changes: Vec<Change>,
    #[serde(default)]
    evidence: Value,
    event: Option<String>,
    #[serde(default)]
    folds: Vec<String>,
    promise: Option<Promise>,
    mute: Option<Mute>,
    /// The nodes that have it; empty: there is one server.
    #[serde(default)]
    nodes: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Change {
    setting: Option<String>,
    from: Option<Value>,
    to: Option<Value>,
    #[serde(default)]
    live: bool,
    command: Option<String>,
}

/// What a change that was advised has promised, and what came.
#[derive(Debug, Deserialize)]
struct Promise {
    setting: String,
    from: Value,
    to: Value,
    changed_at: String,
    promised_s_per_hour: f64,
    came_s_per_hour: Option<f64>,
    requests_after: u64,
    state: String,
}

#[derive(Debug, Deserialize)]
struct Mute {
    why: String,
    until: String,
    by: String,
}

/// Writes them with an empty line between two of them.
pub(super) fn write(out: &mut dyn Write, findings: &[Finding]) -> io::Result<()> {
    for (at, finding) in findings.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        one(out, finding)?;
    }
    Ok(())
}

fn one(out: &mut dyn Write, finding: &Finding) -> io::Result<()> {
    let Finding { id, state, since, lost_s_per_hour, sentence, changes, evidence, event, folds, promise, mute, nodes } =
        finding;
    writeln!(out, "{}: {} since {}{}", plain(id), plain(state), plain(since), cost(*lost_s_per_hour))?;
    writeln!(out, "  {}", plain(sentence))?;
    if !nodes.is_empty() {
        writeln!(out, "  node      {}", plain(&nodes.join(", ")))?;
    }
    for change in changes {
        writeln!(out, "  change    {}", plain(&described(change)))?;
    }
    if let Some(promise) = promise {
        writeln!(out, "  promise   {}", plain(&kept(promise)))?;
    }
    if !evidence.is_null() {
        writeln!(out, "  question  daylight ask {}", quoted(&plain(&evidence.to_string())))?;
    }
    if let Some(event) = event {
        writeln!(out, "  event     daylight explain --event {}", plain(event))?;
    }
    for symptom in folds {
        writeln!(out, "  explains  {}", plain(symptom))?;
    }
    if let Some(Mute { why, until, by }) = mute {
        writeln!(out, "  muted     until {} by {}: {}", plain(until), plain(by), plain(why))?;
    }
    Ok(())
}

/// The client time that it costs.
fn cost(seconds: f64) -> String {
    match seconds {
        seconds if seconds >= 9.95 => format!(", clients lose {seconds:.0} s an hour"),
        seconds if seconds >= 0.05 => format!(", clients lose {seconds:.1} s an hour"),
        _ => String::new(),
    }
}

/// The line of configuration, or the command.
fn described(change: &Change) -> String {
    let Change { setting, from, to, live, command } = change;
    let Some(setting) = setting else { return command.clone().unwrap_or_default() };
    let value = |value: &Option<Value>| value.as_ref().map_or_else(|| "its default".to_owned(), Value::to_string);
    let when = if *live { "in force at once" } else { "needs a restart" };
    format!("{setting} = {} (now {}; {when})", value(to), value(from))
}

/// What was changed, what that was to save, and what came.
fn kept(promise: &Promise) -> String {
    let Promise { setting, from, to, changed_at, promised_s_per_hour, came_s_per_hour, requests_after, state } =
        promise;
    let value = |value: &Value| if value.is_null() { "its default".to_owned() } else { value.to_string() };
    let came = match came_s_per_hour {
        Some(came) => format!("came {came:.0} s"),
        None => format!("{requests_after} requests since"),
    };
    let (from, to) = (value(from), value(to));
    format!(
        "{state}: {setting} = {to} (before {from}) since {changed_at}, promised {promised_s_per_hour:.0} s an hour, {came}"
    )
}

/// A text as one argument of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_finding_is_a_paragraph_with_the_lines_to_copy() {
        let finding: Finding = serde_json::from_value(json!({
            "id": "pool-too-narrow@upstream:a:443", "key": "pool-too-narrow", "state": "open", "since": "2026-11-01T12:00:00.000Z",
            "lost_s_per_hour": 340.4, "sentence": "The pool is\u{1b} full.",
            "changes": [
                { "setting": "upstream.max_calls", "from": 2, "to": 31, "live": false, "command": null },
                { "setting": null, "from": null, "to": null, "live": true, "command": "daylight repo set all --member b --member a" },
            ],
            "evidence": { "measures": ["count"], "where": ["path", "=", "it's"] }, "event": "0123456789abcdef",
            "folds": ["slow@server"], "promise": {
                "setting": "upstream.max_calls", "from": 2, "to": 31, "advised": 31, "changed_at": "2026-11-01T13:00:00.000Z",
                "lost_s_per_hour": 350.0, "promised_s_per_hour": 340.4, "came_s_per_hour": null, "requests_before": 64, "requests_after": 12,
                "state": "measuring",
            },
            "mute": { "why": "later", "until": "2026-12-01T00:00:00.000Z", "by": "ada" },
            "nodes": ["a", "b"],
        })).unwrap();
        let mut out = Vec::new();
        write(&mut out, &[finding]).unwrap();
        let expected = "\
pool-too-narrow@upstream:a:443: open since 2026-11-01T12:00:00.000Z, clients lose 340 s an hour
  The pool is\u{fffd} full.
  node      a, b
  change    upstream.max_calls = 31 (now 2; needs a restart)
  change    daylight repo set all --member b --member a
  promise   measuring: upstream.max_calls = 31 (before 2) since 2026-11-01T13:00:00.000Z, promised 340 s an hour, 12 requests since
  question  daylight ask '{\"measures\":[\"count\"],\"where\":[\"path\",\"=\",\"it'\\''s\"]}'
  event     daylight explain --event 0123456789abcdef
  explains  slow@server
  muted     until 2026-12-01T00:00:00.000Z by ada: later
";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn a_small_cost_has_a_digit_after_the_point_and_none_is_left_out() {
        assert_eq!(
            [0.0, 0.04, 0.1, 9.9, 10.0].map(cost),
            ["", "", ", clients lose 0.1 s an hour", ", clients lose 9.9 s an hour", ", clients lose 10 s an hour"]
        );
    }
}
