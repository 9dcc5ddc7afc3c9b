//! Cleans texts of clients and upstreams: bounded, in one line, and without secrets. People and programs send secrets where none
//! belong.
//!
//! Secrets are removed before the text is cut, because the part of a secret that a cut would leave is secret too.

mod secrets;

use percent_encoding::percent_decode_str;
use secrets::{ENCODED_SPACE, hide};
use std::borrow::Cow;

/// Only this many bytes of a text are looked at.
const LOOK_MAX: usize = 4 << 10;
/// How often a text is decoded that contains percent-encoded characters. A URL in a query is encoded twice.
const DECODED_MAX: usize = 3;
/// Stands for a space that was encoded until control characters are replaced. It is for private use, so nobody sends it.
const SPACE: char = '\u{e000}';

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

/// Cleans a text in its place. Most texts of this program are plain, or have no secrets.
pub(crate) fn scrub_in_place(text: &mut String) {
    if !plain(text.as_bytes()) {
        *text = cleaned(text, usize::MAX);
    }
}

/// Whether a character is a control character, or a format character of Unicode that hides, reorders or breaks text.
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{2069}'
                | '\u{feff}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

fn cleaned(text: &str, max: usize) -> String {
    let looked = start(text, LOOK_MAX);
    let whole = looked.len() == text.len();
    let looked = if whole { looked } else { without_half_escape(looked) };
    let mut clean = hide(one_line(looked), whole);
    let mut decoded = clean.clone();
    for _ in 0..DECODED_MAX {
        if !decoded.contains('%') {
            break;
        }
        let spaced = decoded.replace("%20", SPACE.encode_utf8(&mut [0; 4]));
        let next = percent_decode_str(&spaced).decode_utf8_lossy();
        let next = one_line(if whole { &next } else { without_half_escape(&next) }).replace(SPACE, ENCODED_SPACE);
        let shown = next.replace(ENCODED_SPACE, " ");
        decoded = hide(next.into(), whole);
        if decoded != shown {
            // The decoded text is shown only if it contains a secret.
            clean.clone_from(&decoded);
        }
    }
    start(&clean, max).to_owned()
}

/// The text without a `%` or `%X` at its end, which a cut has left.
fn without_half_escape(text: &str) -> &str {
    match text.rfind('%') {
        Some(at) if text.len() - at < 3 => &text[..at],
        _ => text,
    }
}

/// The text without control characters, and without others that change how a terminal shows it.
fn one_line(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        text.into()
    } else {
        text.chars().map(|c| if is_unseen(c) { '\u{fffd}' } else { c }).collect()
    }
}

/// The bytes that are compared at once.
const AT_ONCE: usize = 16;

/// Whether a text needs no cleaning: it has only characters from `&` to `~`, which leaves out spaces and `%`, and has neither `:`, as in
/// a URL, nor `=`, as in a query, nor `t_`, as at the end of the prefix of our tokens, nor `yJ`, as at the beginning of a JWT. Nearly
/// all paths are plain, and each request has one. Tokens in Base64 and of other services are found only in texts that are not plain.
///
/// Written without branches over blocks of one size, so that the compiler uses instructions for 16 bytes at once. The last block
/// overlaps the one before it.
fn plain(text: &[u8]) -> bool {
    let mut found = [0; AT_ONCE];
    let mut rest = text;
    while let Some(block) = rest.first_chunk() {
        look(block, &mut found);
        rest = rest.get(AT_ONCE..).unwrap_or_default();
    }
    match text.last_chunk() {
        Some(block) => look(block, &mut found),
        None => {
            let mut block = [b'-'; AT_ONCE + 1];
            block.iter_mut().zip(text).for_each(|(byte, sent)| *byte = *sent);
            look(&block, &mut found);
        }
    }
    found == [0; AT_ONCE] && text.last().is_none_or(|last| odd(*last, b'-') == 0)
}

#[inline(always)]
fn look(bytes: &[u8; AT_ONCE + 1], found: &mut [u8; AT_ONCE]) {
    for at in 0..AT_ONCE {
        found[at] |= odd(bytes[at], bytes[at + 1]);
    }
}

/// Not 0 if a byte, with the one after it, may belong to something that is cleaned.
#[inline(always)]
fn odd(first: u8, second: u8) -> u8 {
    let strange = first.wrapping_sub(b'&') > b'~' - b'&';
    let of_our_tokens = u8::from(first == b't') & u8::from(second == b'_');
    let of_jwts = u8::from(first == b'y') & u8::from(second == b'J');
    u8::from(strange) | u8::from(first == b':') | u8::from(first == b'=') | of_our_tokens | of_jwts
}

/// At most `max` bytes, cut between characters.
fn start(text: &str, max: usize) -> &str {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests;
