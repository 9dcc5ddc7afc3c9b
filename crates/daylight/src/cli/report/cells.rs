//! The texts of a report: amounts in words, and texts of strangers cut and without characters that hide or reorder others.

use crate::cli::failure;
use crate::lookup::cells::Unit;
use serde_json::Value;

/// The longest text of a stranger, in characters.
const FOREIGN_MAX: usize = 200;

/// A text of a stranger.
pub(super) fn foreign(text: &str) -> String {
    let clean = failure::plain(text).replace('\n', " ");
    match clean.char_indices().nth(FOREIGN_MAX) {
        Some((end, _)) => format!("{}\u{2026}", &clean[..end]),
        None => clean,
    }
}

/// The URL of a server without a user and a password.
pub(super) fn server(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let (host, path) = rest.split_once('/').map_or((rest, ""), |(host, path)| (host, path));
    let host = host.rsplit('@').next().unwrap_or(host);
    foreign(
        [scheme, if scheme.is_empty() { "" } else { "://" }, host, if path.is_empty() { "" } else { "/" }, path]
            .concat()
            .as_str(),
    )
}

/// A long text of the server, such as the sentence of a finding. It has texts of strangers in it.
pub(super) fn sentence(text: &str) -> String {
    let clean = failure::plain(text).replace('\n', " ");
    clean.chars().take(10 * FOREIGN_MAX).collect()
}

/// A count, with a comma after each three digits.
pub(super) fn count(number: f64) -> String {
    let digits = format!("{:.0}", number.max(0.0));
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: `1 request`, `2 requests`.
pub(super) fn counted(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(number as f64))
}

/// Bytes.
pub(super) fn bytes(number: f64) -> String {
    Unit::Bytes.show(&number.into())
}

/// Milliseconds.
pub(super) fn time(millis: f64) -> String {
    Unit::Milliseconds.show(&millis.into())
}

/// The time that people wait, in words.
pub(super) fn seconds(seconds: f64) -> String {
    // The sum of no numbers is -0.
    let seconds = if seconds <= 0.0 { 0.0 } else { seconds };
    let (number, unit) = match seconds {
        ..120.0 => (seconds, "seconds"),
        ..7200.0 => (seconds / 60.0, "minutes"),
        ..172_800.0 => (seconds / 3600.0, "hours"),
        _ => (seconds / 86_400.0, "days"),
    };
    if number < 10.0 && number > 0.0 { format!("{number:.1} {unit}") } else { format!("{} {unit}", count(number)) }
}

/// A part, 0 to 1.
pub(super) fn share(share: f64) -> String {
    Unit::Share.show(&share.into())
}

/// The cell of an answer under this name.
pub(super) fn cell(name: &str, value: &Value) -> String {
    match Unit::of(name) {
        Unit::Plain => value.as_f64().map_or_else(|| foreign(&Unit::Plain.show(value)), count),
        unit => foreign(&unit.show(value)),
    }
}

/// A moment to the minute: `2026-11-01 12:00`.
pub(super) fn minute(moment: &str) -> String {
    match (moment.get(..10), moment.get(11..16)) {
        (Some(day), Some(time)) if moment.ends_with('Z') => format!("{day} {time}"),
        _ => foreign(moment),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_told_as_people_read_them() {
        assert_eq!([0.0, 999.0, 1000.0, 1_234_567.0].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            [(1, "request"), (2000, "request")].map(|(n, noun)| counted(n, noun)),
            ["1 request", "2,000 requests"]
        );
        assert_eq!(
            [-0.0, 7.25, 600.0, 72_000.0, 864_000.0].map(seconds),
            ["0 seconds", "7.2 seconds", "10 minutes", "20 hours", "10 days"]
        );
        assert_eq!((minute("2026-11-01T12:34:56.789Z"), minute("odd")), ("2026-11-01 12:34".into(), "odd".into()));
    }

    #[test]
    fn the_url_of_a_server_is_shown_without_a_password() {
        assert_eq!(server("https://ada:secret@packages.example/daylight"), "https://packages.example/daylight");
        assert_eq!(server("http://127.0.0.1:8080"), "http://127.0.0.1:8080");
    }

    #[test]
    fn a_text_of_a_stranger_is_short_and_hides_and_reorders_nothing() {
        assert_eq!(foreign("a\u{202e}b\u{1b}[2Jc\nd\u{200b}"), "a\u{fffd}b\u{fffd}[2Jc d\u{fffd}");
        let long = foreign(&"\u{e4}".repeat(10_000));
        assert_eq!(long.chars().count(), FOREIGN_MAX + 1);
    }
}
