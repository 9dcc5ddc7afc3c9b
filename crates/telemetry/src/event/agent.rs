//! Takes a `User-Agent` apart: the program, its version, the CI system, and the run that the request belongs to.
//!
//! Only code that writes events calls this, never the thread of a request.

use std::borrow::Cow;

/// The longest part of an agent that is recorded, in bytes. A longer one is cut.
const PART_MAX: usize = 64;
/// The number of digits in the id of a run.
const RUN_DIGITS: usize = 16;
/// Programs by the names that they send, without regard to case.
const KNOWN: &[(&str, &str)] = &[
    ("bundler", "bundler"),
    ("RubyGems", "rubygems"),
    ("Apache-Maven", "maven"),
    ("Gradle", "gradle"),
    ("sbt", "sbt"),
    ("Coursier", "coursier"),
    ("curl", "curl"),
    ("Wget", "wget"),
];
/// Prefixes of agents that are not the name of the program.
const PREFIXES: &[(&str, &str)] = &[
    // RubyGems appends its name to that of Ruby's HTTP library.
    ("Ruby, ", ""),
    ("Apache Ivy/", "ivy"),
];

/// The parts of a `User-Agent`. A part that it does not have is empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Agent<'a> {
    /// The program: one of `bundler`, `rubygems`, `maven`, `gradle`, `sbt`, `coursier`, `ivy`, `curl`, `wget` and `browser`, or the
    /// first word of any other agent.
    pub product: &'a str,
    /// The version of the program. Empty for browsers.
    pub version: &'a str,
    /// The CI system, as Bundler names it: `github`, `gitlab`, or `ci` for a system that it does not know.
    pub ci: &'a str,
    /// The run of Bundler: 16 hexadecimal digits, which are equal in all requests of one `bundle install`.
    pub run: &'a str,
}

impl<'a> Agent<'a> {
    /// Reads an agent. Every text is one.
    pub fn read(text: &'a str) -> Self {
        let text = text.trim();
        if text.starts_with("Mozilla/") {
            return Self { product: "browser", ..Self::default() };
        }
        let (known, rest) = PREFIXES
            .iter()
            .find_map(|(prefix, product)| Some((*product, text.strip_prefix(prefix)?)))
            .unwrap_or(("", text));
        let (product, version) = match known {
            "" => first_product(rest),
            known => (known, token(rest)),
        };
        let (ci, run) = if product == "bundler" { of_bundler(rest) } else { ("", "") };
        Self { product, version, ci, run }
    }

    /// An agent without the id of its run. Each run has an id of its own, so only this form is equal in many events.
    pub fn without_run(text: &str) -> Cow<'_, str> {
        let run = Agent::read(text).run;
        match text.find(run) {
            Some(at) if !run.is_empty() => {
                let (before, after) = (&text[..at], &text[at + run.len()..]);
                Cow::Owned(format!("{}{after}", before.trim_end()))
            }
            _ => Cow::Borrowed(text),
        }
    }
}

/// The first `name/version` of an agent. The version is missing in some agents.
fn first_product(text: &str) -> (&str, &str) {
    let name = token(text);
    let version = text[name.len()..].strip_prefix('/').map(token).unwrap_or_default();
    let known = KNOWN.iter().find(|(sent, _)| sent.eq_ignore_ascii_case(name));
    (known.map_or_else(|| cut(name), |(_, known)| known), version)
}

/// The CI system and the run of Bundler. Bundler writes `ci/NAMES` after its options, then the run, then a text that a user has set.
fn of_bundler(text: &str) -> (&str, &str) {
    let words = || text.split(' ');
    let names = words().find_map(|word| word.strip_prefix("ci/")).unwrap_or_default();
    // `ci` says only that the variable `CI` is set, which most systems do.
    let named = names.split(',').find(|name| !matches!(*name, "" | "ci"));
    let ci = named.unwrap_or_else(|| names.split(',').next().unwrap_or_default());
    let is_run =
        |word: &&str| word.len() == RUN_DIGITS && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (cut(token(ci)), words().find(is_run).unwrap_or_default())
}

/// The token (RFC 9110 5.6.2) at the beginning of a text.
fn token(text: &str) -> &str {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let end = text.find(|c| !is_token(c)).unwrap_or(text.len());
    cut(&text[..end])
}

/// At most [`PART_MAX`] bytes of a token, which is ASCII.
fn cut(token: &str) -> &str {
    token.get(..PART_MAX).unwrap_or(token)
}

#[cfg(test)]
mod tests;
