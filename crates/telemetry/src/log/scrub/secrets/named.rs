//! Hides values whose names say that they are secret: `token=...` in a query, `"password": "..."` in JSON, `Cookie: ...`.

use super::Secrets;
use std::ops::Range;

/// A name is secret if it, or one of its words, ends with one of these. Names are compared in lower case, and without the characters
/// between their words. Digits after a word do not count.
const ENDS: [&str; 15] = [
    "token",
    "key",
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "signature",
    "credential",
    "credentials",
    "cookie",
    "authorization",
    "jwt",
    "sessionid",
    "otp",
];
/// A name is also secret if it, or one of its words, is one of these.
const NAMES: [&str; 6] = ["sig", "auth", "pass", "pw", "session", "sid"];
/// In `name: value`, which may be part of a sentence, these ends are secret without a `-` in the name.
const HEADERS: [&str; 4] = ["authorization", "cookie", "password", "secret"];
/// The values of these have several parts, so all of the line is hidden.
const LINES: [&str; 2] = ["authorization", "cookie"];
/// In `name: value`, which may be part of a sentence, a value of at least so many characters is secret if it has a digit or a capital
/// letter after its first character.
const VALUE_MIN: usize = 6;
/// A word of at least so many characters is hardly part of a sentence.
const LONG_MIN: usize = 20;

/// A secret name in a text.
struct Name {
    /// The value is the rest of the line, unless name and value are quoted one by one.
    is_line: bool,
    /// The name is part of a text in these quotes, and begins it.
    quote: Option<char>,
    /// The name may be part of a sentence, so that the value must look like one.
    doubtful: bool,
}

/// Finds the secret values of a text.
pub(super) fn find(secrets: &mut Secrets<'_>) {
    let text = secrets.text;
    let mut found = 0;
    for (at, _) in text.match_indices([':', '=']) {
        let Some(name) = secret_name(text, at) else { continue };
        let value = value(text, at, &name);
        let shown = &text[value.clone()];
        let is_odd = |c: char| c.is_ascii_digit() || c.is_ascii_uppercase();
        let is_odd = shown.len() >= LONG_MIN || (shown.len() >= VALUE_MIN && shown.chars().skip(1).any(is_odd));
        if value.is_empty() || (name.doubtful && !is_odd && !secrets.is_cut_at(value.end)) {
            continue;
        }
        if secrets.ends_at(at + 1, found) {
            return;
        }
        secrets.found.push(value);
        found += 1;
    }
}

/// The name before the separator at `at`, if its value is secret.
fn secret_name(text: &str, at: usize) -> Option<Name> {
    let before = text[..at].trim_end_matches(' ');
    let quoted = before.ends_with(['"', '\'']);
    let before = before.trim_end_matches(['"', '\'', '\\', ']']);
    let sent = before.rsplit(|c: char| !c.is_ascii_alphanumeric() && !"-_.[]".contains(c)).next().unwrap_or_default();
    let words = words(sent);
    let (name, last) = (words.concat(), words.last()?);
    let ends = |name: &str, ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    let secret = |name: &str| NAMES.contains(&name) || ends(name, &ENDS);
    let is_named = secret(&name) || secret(last);
    if !is_named && !words.iter().any(|word| secret(word)) {
        return None;
    }
    // `G:A:V` of Maven has colons too, so one needs a sign that it separates a name from a value.
    let is_equals = text.as_bytes()[at] == b'=';
    let separates = is_equals || quoted || text[at + 1..].starts_with([' ', '\u{fffd}']);
    let doubtful = !is_equals && !quoted && !(is_named && (sent.contains('-') || ends(&name, &HEADERS)));
    let quote = before[..before.len() - sent.len()].chars().next_back().filter(|c| matches!(c, '"' | '\'') && !quoted);
    separates.then_some(Name { is_line: ends(&name, &LINES) && !quoted, quote, doubtful })
}

/// The words of a name in lower case, without digits after them. A capital letter after a small one begins a word.
fn words(name: &str) -> Vec<String> {
    let (mut words, mut after_small) = (vec![String::new()], false);
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() || (c.is_ascii_uppercase() && after_small) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_ascii_alphanumeric()) {
            word.push(c.to_ascii_lowercase());
        }
        after_small = c.is_ascii_lowercase();
    }
    words.iter_mut().for_each(|word| word.truncate(word.trim_end_matches(|c: char| c.is_ascii_digit()).len()));
    words.retain(|word| !word.is_empty());
    words
}

/// The position of the value after the separator at `at`.
fn value(text: &str, at: usize, name: &Name) -> Range<usize> {
    let rest = &text[at + 1..];
    let rest = match text.as_bytes()[at] {
        // Ruby prints `=>`.
        b'=' => rest.trim_start_matches([' ', '\\', '>']),
        _ => rest.trim_start_matches([' ', '\\', '\u{fffd}']),
    };
    let begin = text.len() - rest.len();
    let until = |end: Option<usize>| begin..end.map_or(text.len(), |end| begin + end);
    match (name.quote, rest.chars().next().filter(|c| matches!(c, '"' | '\''))) {
        (Some(quote), _) if name.is_line => until(end_of_text(rest, quote)),
        (None, _) if name.is_line => until(rest.find('\u{fffd}')),
        (_, Some(quote)) => {
            let begin = begin + quote.len_utf8();
            begin..end_of_quoted(&text[begin..], quote).map_or(text.len(), |end| begin + end)
        }
        (_, None) => until(rest.find([' ', '&', '\u{fffd}'])),
    }
}

/// The position of the quote that ends a text with parameters, whose values may be in quotes too.
fn end_of_text(text: &str, quote: char) -> Option<usize> {
    let (mut inside, mut last) = (false, ' ');
    text.char_indices().find_map(|(at, c)| {
        let is_quote = c == quote && last != '\\';
        let ends = is_quote && !inside && last != '=';
        inside ^= is_quote;
        last = c;
        ends.then_some(at)
    })
}

/// The position of the quote that ends a value. One after a backslash is part of the value.
fn end_of_quoted(value: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    value.char_indices().find_map(|(at, c)| {
        let ends = c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        ends.then_some(at)
    })
}
