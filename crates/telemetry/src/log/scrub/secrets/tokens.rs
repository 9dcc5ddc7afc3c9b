//! Finds tokens, which need no name before them: our own, also within Base64, JWTs, and tokens of other services with a known prefix.

use super::{Secrets, end_of};

/// The prefix of our own tokens.
const TOKEN: &str = "daylight_";
/// This many characters after [`TOKEN`] are a token or most of one. Fewer may be a name that somebody chose.
const TOKEN_REST_MIN: usize = 20;
/// [`TOKEN`] in Base64, after a number of bytes that leaves 0, 1 and 2 if it is divided by 3: credentials of `Basic` begin with any user.
/// Characters that depend on the bytes before or after it are left out.
const ENCODED_TOKENS: [&str; 3] = ["ZGF5bGlnaHRf", "RheWxpZ2h0X", "kYXlsaWdodF"];
/// The same as [`TOKEN_REST_MIN`], in Base64.
const ENCODED_REST_MIN: usize = TOKEN_REST_MIN * 4 / 3;
/// The beginning of nearly every JWT: `{"` in Base64.
const JWT: &str = "eyJ";
/// The prefixes of JWTs with a space or an end of line after `{`. Names may begin with them, so these JWTs need three parts.
const PRETTY_JWTS: [&str; 6] = ["eyAi", "eyAg", "ewog", "ewoi", "ewoJ", "ew0K"];
/// The fewest characters of a JWT.
const JWT_MIN: usize = 20;
/// The prefixes of tokens of other services, and the characters that their tokens have besides letters and digits. A gem may be called
/// `rubygems_something-else`.
const OTHERS: [(&str, &str); 8] = [
    ("ghp_", "_-"),
    ("gho_", "_-"),
    ("ghu_", "_-"),
    ("ghs_", "_-"),
    ("github_pat_", "_-"),
    ("glpat-", "_-"),
    ("rubygems_", ""),
    (AWS, ""),
];
/// The prefix of identifiers of keys in AWS. Only capital letters and digits follow.
const AWS: &str = "AKIA";
/// The fewest characters after a prefix of [`OTHERS`].
const OTHER_REST_MIN: usize = 16;

/// The fewest characters of any token with its prefix.
const ANY_MIN: usize = 20;

/// Finds all tokens. If the text was cut, also finds one at its end that is incomplete.
pub(super) fn find(secrets: &mut Secrets<'_>) {
    // Nearly all names of programs have only short words, and each request has one.
    if secrets.whole && !has_long_word(secrets.text) {
        return;
    }
    find_after(secrets, TOKEN, "_-", |rest| rest.len() >= TOKEN_REST_MIN);
    for encoded in ENCODED_TOKENS {
        find_after(secrets, encoded, "_-+/=", |rest| rest.len() >= ENCODED_REST_MIN);
    }
    find_jwts(secrets, JWT, 2);
    for pretty in PRETTY_JWTS {
        find_jwts(secrets, pretty, 3);
    }
    for (prefix, others) in OTHERS {
        find_after(secrets, prefix, others, |rest| {
            let is_random = |c: char| c.is_ascii_digit() || c.is_ascii_uppercase();
            rest.len() >= OTHER_REST_MIN
                && match prefix {
                    AWS => rest.len() == OTHER_REST_MIN && rest.chars().all(is_random),
                    _ => rest.contains(is_random),
                }
        });
    }
}

/// Whether so many characters in a row may belong to a token.
fn has_long_word(text: &str) -> bool {
    let mut row = 0;
    text.bytes().any(|byte| {
        row = if byte.is_ascii_alphanumeric() || b"_-.+/=".contains(&byte) { row + 1 } else { 0 };
        row >= ANY_MIN
    })
}

/// Finds tokens of letters, digits and `others` after a prefix.
fn find_after(secrets: &mut Secrets<'_>, prefix: &str, others: &str, is_token: impl Fn(&str) -> bool) {
    let text = secrets.text;
    for (number, (at, _)) in text.match_indices(prefix).enumerate() {
        if secrets.ends_at(at, number) {
            return;
        }
        let from = at + prefix.len();
        let end = from + end_of(&text[from..], others);
        if is_token(&text[from..end]) || secrets.is_cut_at(end) {
            secrets.found.push(from..end);
        }
    }
}

/// Finds JWTs of at least `parts_min` parts: parts in Base64 with dots between them, of which the first is a JSON object. A class may be
/// called `KeyJar`, so after a letter or a digit the second part must be an object too.
fn find_jwts(secrets: &mut Secrets<'_>, beginning: &str, parts_min: usize) {
    let text = secrets.text;
    for (number, (at, _)) in text.match_indices(beginning).enumerate() {
        if secrets.ends_at(at, number) {
            return;
        }
        let jwt = &text[at..at + end_of(&text[at..], "_-.")];
        let begins = !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
        let second = jwt.split_once('.').map(|(_, second)| second);
        let second_is_object = second.is_some_and(|second| second.starts_with("ey") || second.starts_with("ew"));
        // Names have small letters, and Base64 has capital ones too.
        let has_parts = parts_min == 2
            || jwt.split('.').count() >= parts_min && jwt[4..].contains(|c: char| c.is_ascii_uppercase());
        let is_jwt = jwt.len() >= JWT_MIN && has_parts && (begins || second_is_object);
        if is_jwt || secrets.is_cut_at(at + jwt.len()) {
            secrets.found.push(at..at + jwt.len());
        }
    }
}
