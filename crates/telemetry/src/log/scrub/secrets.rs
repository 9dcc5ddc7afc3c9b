//! Finds secrets in a text and hides them: credentials in URLs, tokens, JWTs, values of `Authorization`, and values whose names say that
//! they are secret.

mod named;
mod tokens;

use std::borrow::Cow;
use std::ops::Range;

/// The schemes of `Authorization` that clients send, in lower case, and the characters that may separate them from a credential. A `+`
/// is a space in a query, and U+FFFD was a tab. Coordinates of Maven have colons, and a package may be called `basic` or `token`.
const SCHEMES: [(&str, [char; 4]); 3] = [
    ("basic", [' ', '+', '\u{fffd}', ' ']),
    ("bearer", [' ', '+', '\u{fffd}', ':']),
    ("token", [' ', '+', '\u{fffd}', ' ']),
];
/// The fewest characters of a credential after its scheme.
const CREDENTIAL_MIN: usize = 6;
/// The most secrets of a kind that are found one by one, because each search may read the whole text. After them the rest of the text is
/// hidden.
const FOUND_MAX: usize = 16;
/// Stands for a space that was encoded: it may be part of a password in a URL. It is as long as a space.
pub(super) const ENCODED_SPACE: &str = "\u{1}";
/// Stands for a secret.
const HIDDEN: &str = "***";

/// The text without its secrets. `whole`: nothing was cut off. Otherwise its end may be the beginning of a secret.
///
/// All secrets are found before one is hidden: a secret may contain what looks like the name of another.
pub(super) fn hide(text: Cow<'_, str>, whole: bool) -> String {
    let mut found = Vec::new();
    let text = if text.contains(ENCODED_SPACE) {
        let mut secrets = Secrets { text: &text, whole, found };
        secrets.find_credentials();
        found = secrets.found;
        text.replace(ENCODED_SPACE, " ").into()
    } else {
        text
    };
    let mut secrets = Secrets { text: &text, whole, found };
    if text.contains(':') {
        secrets.find_credentials();
    }
    if text.contains([':', '=']) {
        named::find(&mut secrets);
    }
    tokens::find(&mut secrets);
    secrets.find_authorization();
    match secrets.found.is_empty() {
        true => text.into_owned(),
        false => secrets.hidden(),
    }
}

/// The secrets of a text.
struct Secrets<'a> {
    text: &'a str,
    whole: bool,
    /// Their positions, which may overlap.
    found: Vec<Range<usize>>,
}

impl Secrets<'_> {
    fn hidden(mut self) -> String {
        self.found.sort_unstable_by_key(|secret| secret.start);
        let mut hidden = String::with_capacity(self.text.len());
        let mut shown = 0;
        for secret in self.found {
            if secret.start >= shown {
                hidden.push_str(&self.text[shown..secret.start]);
                hidden.push_str(HIDDEN);
            }
            shown = shown.max(secret.end);
        }
        hidden + &self.text[shown..]
    }

    /// Whether the search for one kind of secrets ends at `at`, where it is `number`.
    fn ends_at(&mut self, at: usize, number: usize) -> bool {
        let ends = number >= FOUND_MAX;
        if ends {
            self.found.push(at..self.text.len());
        }
        ends
    }

    /// Whether a text that was cut ends at `end`.
    fn is_cut_at(&self, end: usize) -> bool {
        end == self.text.len() && !self.whole
    }

    /// Finds the credentials before the `@` of a URL: Bundler before 4.0 sends names of settings that contain them. A password may have
    /// any character but a space, so everything up to the last `@` is hidden, including slashes and commas. The `//` may be missing,
    /// because a proxy may have merged slashes, or because the text is only the host of a URL. If the text was cut, the last
    /// credentials are hidden to the end, because their `@` may be in the part that was cut off.
    fn find_credentials(&mut self) {
        let mut from = 0;
        for word in self.text.split(' ') {
            let end = from + word.len();
            let url = word.find("://").map(|at| at + 3).or_else(|| word.find(":/").map(|at| at + 2));
            let secret = url.or_else(|| word.find(':').map(|at| at + 1));
            match (secret, word.rfind('@')) {
                (Some(secret), _) if self.is_cut_at(end) => self.found.push(from + secret..end),
                (Some(secret), Some(at)) if secret < at => self.found.push(from + secret..from + at),
                _ => {}
            }
            from = end + 1;
        }
    }

    /// Finds the credentials after a scheme. A word in lower case is part of a sentence, such as `Basic authentication`. Time is
    /// linear, because a separator either ends a credential or makes the word before it one.
    fn find_authorization(&mut self) {
        let (text, lower) = (self.text, self.text.to_ascii_lowercase());
        for (scheme, separators) in SCHEMES {
            let mut found = 0;
            for (at, _) in lower.match_indices(scheme) {
                let after = &text[at + scheme.len()..];
                let rest = after.trim_start_matches(separators);
                if rest.len() == after.len() {
                    continue;
                }
                let begin = text.len() - rest.len();
                let secret = &rest[..end_of(rest, "-._~+/=")];
                let end = begin + secret.len();
                let is_odd = |c: char| c.is_ascii_digit() || c.is_ascii_uppercase() || "_~+/=".contains(c);
                let is_secret = secret.len() >= CREDENTIAL_MIN && secret.chars().skip(1).any(is_odd);
                if is_secret || self.is_cut_at(end) {
                    if self.ends_at(begin, found) {
                        break;
                    }
                    self.found.push(begin..end);
                    found += 1;
                }
            }
        }
    }
}

/// The length of the letters, digits and `others` at the beginning of a text.
fn end_of(text: &str, others: &str) -> usize {
    text.find(|c: char| !c.is_ascii_alphanumeric() && !others.contains(c)).unwrap_or(text.len())
}
