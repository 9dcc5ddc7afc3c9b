//! Cleans texts of clients: bounded, in one line, and without secrets. People and clients send secrets where none belong.
//!
//! Secrets are removed before the text is cut, because the part of a secret that a cut would leave is secret too.

use std::borrow::Cow;

/// Only this many bytes of a text are looked at.
const LOOK_MAX: usize = 4 << 10;
/// The prefix of our own tokens.
const TOKEN: &str = "daylight_";
/// This many characters after [`TOKEN`] are a token or most of one. Fewer may be a name that somebody chose.
const TOKEN_REST_MIN: usize = 20;

/// At most `max` bytes of `text`, cleaned for an event.
pub(crate) fn scrub(text: &str, max: usize) -> String {
    let mut scrubbed = String::new();
    scrub_into(text, max, &mut scrubbed);
    scrubbed
}

/// Appends the same to `scrubbed`.
pub(crate) fn scrub_into(text: &str, max: usize, scrubbed: &mut String) {
    if text.len() <= max && plain(text.as_bytes()) {
        scrubbed.push_str(text);
    } else {
        scrubbed.push_str(&cleaned(text, max));
    }
}

fn cleaned(text: &str, max: usize) -> String {
    let looked = start(text, LOOK_MAX);
    let whole = looked.len() == text.len();
    let clean: Cow<'_, str> = if looked.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        looked.into()
    } else {
        looked.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
    };
    let clean = if clean.contains("://") { hide_credentials(&clean, whole).into() } else { clean };
    let clean = if clean.contains(TOKEN) { hide_tokens(&clean, whole).into() } else { clean };
    start(&clean, max).to_owned()
}

/// Whether a text needs no cleaning: it is printable, and has neither `:/`, as in a URL, nor `t_`, as at the end of [`TOKEN`]. Nearly all
/// texts are plain, and each request has two of them. Written without branches, so that the compiler uses instructions for 16
/// bytes at once.
fn plain(text: &[u8]) -> bool {
    let odd = |byte: u8| !matches!(byte, b' '..=b'~');
    let pairs = text.iter().zip(text.get(1..).unwrap_or_default());
    let first = text.first().is_some_and(|first| odd(*first));
    !pairs.fold(first, |found, (first, second)| {
        let (url, token) = ((*first == b':') & (*second == b'/'), (*first == b't') & (*second == b'_'));
        found | odd(*second) | url | token
    })
}

/// At most `max` bytes, cut between characters.
fn start(text: &str, max: usize) -> &str {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Hides the credentials before the `@` of a URL: Bundler before 4.0 sends names of settings that contain them. A password may have any
/// character but a space, so everything up to the last `@` is hidden, including slashes and commas. If the text was cut, the last URL
/// is hidden whole, because its `@` may be in the part that was cut off.
fn hide_credentials(text: &str, whole: bool) -> String {
    let mut hidden = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, url) = rest.split_at(at + 3);
        let (url, after) = url.split_at(url.find(' ').unwrap_or(url.len()));
        hidden.push_str(before);
        match url.rfind('@') {
            _ if after.is_empty() && !whole => hidden.push_str("***"),
            Some(at) => hidden.extend(["***", &url[at..]]),
            None => hidden.push_str(url),
        }
        rest = after;
    }
    hidden + rest
}

/// Hides our own tokens. If the text was cut, also hides one at its end that is incomplete.
fn hide_tokens(text: &str, whole: bool) -> String {
    let mut hidden = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(TOKEN) {
        let (before, token) = rest.split_at(at + TOKEN.len());
        let end = token.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-').unwrap_or(token.len());
        let (token, after) = token.split_at(end);
        let hide = end >= TOKEN_REST_MIN || (after.is_empty() && !whole);
        hidden.extend([before, if hide { "***" } else { token }]);
        rest = after;
    }
    hidden + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MAX: usize = 512;

    #[test]
    fn credentials_are_hidden_and_control_characters_replaced() {
        for (text, shown) in [
            (
                "bundler/2 options/mirror.https://me:secret@host/x,jobs\n http://t@h",
                "bundler/2 options/mirror.https://***@host/x,jobs\u{fffd} http://***@h",
            ),
            ("https://me:se/cr,et@host/", "https://***@host/"),
            ("https://me:p@ss://word@host https://host/x", "https://***@host https://host/x"),
            ("/tokens/daylight_0123456789-0123456789x/y", "/tokens/daylight_***/y"),
            ("/gems/daylight_client-1.0.gem", "/gems/daylight_client-1.0.gem"),
            ("https://github.com/ruby", "https://github.com/ruby"),
        ] {
            assert_eq!(scrub(text, MAX), shown);
        }
    }

    #[test]
    fn text_is_cut_at_a_character() {
        assert_eq!(scrub(&"é".repeat(600), MAX), "é".repeat(256));
        assert_eq!(scrub(&"é".repeat(60_000), 511), "é".repeat(255));
    }

    proptest! {
        #[test]
        fn no_secret_survives_wherever_the_text_is_cut(
            parts in prop::collection::vec((0usize..3, "[a-z /,.@:-]{0,40}", 0usize..1300, "[A-Z0-9/,:@_-]{8,60}"), 1..8),
        ) {
            // Only secrets have capital letters and digits.
            let text: String = parts.iter().map(|(kind, around, fill, secret)| {
                let token: String = secret.chars().filter(char::is_ascii_alphanumeric).collect();
                let fill = "p".repeat(*fill);
                match kind {
                    0 => format!("{around}{fill} https://me:S{secret}S@host {around}"),
                    1 => format!("{around}{fill}http://S{secret}S@host/{around} "),
                    _ => format!("{around}{fill}/daylight_{token}{}/{around}", "0123456789ABCDEFGHIJ"),
                }
            }).collect();
            let shown = scrub(&text, MAX);
            prop_assert!(shown.len() <= MAX);
            prop_assert!(!shown.contains(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit()), "{shown}");
        }
    }
}
