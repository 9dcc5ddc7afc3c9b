//! An event as a line for people. The columns are aligned, and grow with their texts, because nobody knows the next ones.

use crate::cli::failure::plain;
use serde_json::Value;
use telemetry::Layer;

/// The widths of the columns so far.
#[derive(Debug)]
pub(super) struct Widths {
    method: usize,
    layer: usize,
    repository: usize,
}

/// The widest that a column becomes. A longer text moves the rest of its line.
const WIDEST: usize = 24;

impl Default for Widths {
    fn default() -> Self {
        Self { method: 4, layer: 6, repository: 8 }
    }
}

impl Widths {
    /// The line of an event.
    pub(super) fn line(&mut self, event: &Value) -> String {
        let text = |name: &str| plain(event[name].as_str().unwrap_or_default()).replace('\n', " ");
        let number = |name: &str| event[name].as_u64().unwrap_or_default();
        let (method, layer, repository) = (text("method"), text("layer"), text("repository"));
        grow(&mut self.method, &method);
        grow(&mut self.layer, &layer);
        grow(&mut self.repository, &repository);
        let at = text("at");
        // The day is that of the reader.
        let time = at.split_once('T').map_or(at.as_str(), |(_, time)| time).trim_end_matches('Z');
        let status = Some(number("status")).filter(|status| *status > 0);
        let status = status.map_or_else(|| "-".to_owned(), |status| status.to_string());
        // A job sends nothing to a client; a fetch has bytes of an upstream.
        let moved = number(if text("kind") == "job" { "upstream_bytes" } else { "bytes_out" });
        let (took, moved) = (millis(event["duration_ms"].as_f64().unwrap_or_default()), bytes(moved));
        let (outcome, reason, weight) = (text("outcome"), text("reason"), number("weight"));
        let mut line = format!(
            "{time}  {id}  {status:>3}  {method:<methods$}  {took:>9}  {moved:>9}  {layer:<layers$}  {repository:<repositories$}  {path}",
            methods = self.method,
            layers = self.layer,
            repositories = self.repository,
            id = text("id"),
            path = text("path"),
        );
        let outcome = if outcome == "answered" { String::new() } else { outcome };
        let weight = if weight > 1 { format!("x{weight}") } else { String::new() };
        // The layer tells that a page was sent.
        let page = event["app"]["page"].as_str().filter(|_| layer != Layer::AppPages.as_str());
        let page = page.map(|page| format!("page={}", plain(page))).unwrap_or_default();
        let node = if text("node").is_empty() { String::new() } else { format!("node={}", text("node")) };
        for more in [outcome, reason, page, node, weight].into_iter().filter(|more| !more.is_empty()) {
            line.push_str("  ");
            line.push_str(&more);
        }
        line.truncate(line.trim_end().len());
        line
    }
}

fn grow(width: &mut usize, text: &str) {
    *width = text.chars().count().clamp(*width, WIDEST.max(*width));
}

/// A time in milliseconds, in a unit of which there are few.
fn millis(millis: f64) -> String {
    match millis {
        ..1.0 => format!("{:.0} us", millis * 1000.0),
        1.0..1000.0 => format!("{millis:.1} ms"),
        _ => format!("{:.2} s", millis / 1000.0),
    }
}

fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let (mut amount, mut unit) = (bytes as f64 / 1024.0, 0);
    while amount >= 1024.0 && unit + 1 < UNITS.len() {
        (amount, unit) = (amount / 1024.0, unit + 1);
    }
    format!("{amount:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn columns_stay_aligned_and_only_grow() {
        let mut widths = Widths::default();
        let hit = json!({
            "id": "6888033c0f6f3c00", "at": "2026-11-01T12:00:00.123Z", "method": "GET", "status": 200, "layer": "page", "outcome": "answered",
            "repository": "gems", "path": "/repository/gems/info/rack", "duration_ms": 0.041, "bytes_out": 900, "weight": 1,
        });
        let failed = json!({
            "id": "6888033c0f6f3c01", "at": "2026-11-01T12:00:01.000Z", "method": "GET", "status": 504, "layer": "group", "outcome": "failed",
            "reason": "upstream_timeout", "repository": "company-maven", "path": "/repository/company-maven/a\u{1b}[2J",
            "duration_ms": 10_012.0, "bytes_out": 212, "weight": 7,
        });
        let page = |layer: &str, page: &str| json!({ "id": "6888033c0f6f3c03", "layer": layer, "outcome": "answered", "path": "/", "app": { "cache": "hit", "page": page } });
        let job = json!({
            "id": "6888033c0f6f3c02", "at": "2026-11-01T12:00:02.000Z", "kind": "job", "method": "fetch", "status": 0, "outcome": "answered",
            "duration_ms": 12.0, "bytes_out": 0, "upstream_bytes": 171_767, "weight": 1,
        });
        let lines = [&hit, &failed, &job, &hit].map(|event| widths.line(event));
        assert_eq!(
            lines,
            [
                "12:00:00.123  6888033c0f6f3c00  200  GET       41 us      900 B  page    gems      /repository/gems/info/rack",
                "12:00:01.000  6888033c0f6f3c01  504  GET     10.01 s      212 B  group   company-maven  /repository/company-maven/a\u{fffd}[2J  failed  \
                 upstream_timeout  x7",
                "12:00:02.000  6888033c0f6f3c02    -  fetch    12.0 ms  167.7 KiB",
                "12:00:00.123  6888033c0f6f3c00  200  GET        41 us      900 B  page    gems           /repository/gems/info/rack",
            ]
        );
        assert!(widths.line(&page("app", "old")).ends_with("  /  page=old"));
        assert!(widths.line(&page("app_pages", "hit")).ends_with("  /"));
        assert_eq!([0, 1023, 1024, 5 << 20, 3 << 40].map(bytes), ["0 B", "1023 B", "1.0 KiB", "5.0 MiB", "3.0 TiB"]);
        assert_eq!([0.0, 0.5, 1.0, 999.9, 1000.0].map(millis), ["0 us", "500 us", "1.0 ms", "999.9 ms", "1.00 s"]);
    }
}
