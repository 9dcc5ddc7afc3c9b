//! An upstream's `/info/NAME` without the parts that clients cannot read. All other bytes stay unchanged.
//!
//! One unreadable line of a gem fails every resolution with the gem, so it is left out and counted. An empty
//! `checksum:` fails in Bundler before 4.0.18 and means the same as none, so only the key is left out.

use super::INFO_BYTES;
use super::checksum::Checksum;
use super::entry::token;
use super::full_name::content_address;
use super::refusal::Refusal;
use crate::gem::{Requirement, Version, name};
use bytes::Bytes;

const EMPTY: &str = "checksum:";

/// The file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info {
    body: Bytes,
    /// The offset of its first line.
    lines_at: usize,
    unreadable: u64,
    whole: bool,
}

impl Info {
    /// Reads a body.
    pub fn read(body: Bytes) -> Result<Self, Refusal> {
        if body.len() > INFO_BYTES {
            return Err(Refusal::TooLarge(INFO_BYTES as u64));
        }
        if body.trim_ascii_start().starts_with(b"<") {
            return Err(Refusal::Html);
        }
        let lines_at = header(&body).ok_or(Refusal::NoHeader)?;
        let whole = body.ends_with(b"\n");
        let mut kept: Vec<u8> = Vec::new();
        let mut unreadable = 0;
        // Copied only from the first line that is not relayed unchanged.
        let mut copies = false;
        let mut at = lines_at;
        for text in body[lines_at..].split_inclusive(|byte| *byte == b'\n') {
            let line = text.strip_suffix(b"\n").unwrap_or(text);
            let readable = readable(line);
            if !copies && !matches!(readable, Readable::Yes) {
                (kept, copies) = (body[..at].to_vec(), true);
            }
            match readable {
                Readable::Yes if copies => kept.extend_from_slice(text),
                Readable::Yes => {}
                Readable::Without(without) => {
                    kept.extend_from_slice(without.as_bytes());
                    kept.extend_from_slice(&text[line.len()..]);
                }
                Readable::No => unreadable += u64::from(!line.trim_ascii().is_empty()),
            }
            at += text.len();
        }
        let body = if copies { kept.into() } else { body };
        Ok(Self { body, lines_at, unreadable, whole })
    }

    /// The relayed body.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// The number of lines that were left out because no client can read them.
    pub fn unreadable(&self) -> u64 {
        self.unreadable
    }

    /// Whether the upstream's body ended in a newline. If not, and its MD5 differs from the expected one, it was cut
    /// off.
    pub fn ends_in_newline(&self) -> bool {
        self.whole
    }

    /// The file without an unterminated last line: if no digest proves the file, the line may be a part of one that
    /// clients can read.
    pub fn without_cut_line(self) -> Self {
        match self.body.iter().rposition(|byte| *byte == b'\n') {
            Some(end) if end + 1 < self.body.len() => {
                Self { body: self.body.slice(..=end), unreadable: self.unreadable + 1, ..self }
            }
            _ => self,
        }
    }

    /// Its lines, one for each version.
    pub fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let text = std::str::from_utf8(&self.body[self.lines_at..]).unwrap_or_default();
        text.lines().filter_map(Line::read)
    }

    /// The relayed body when some lines are hidden, which may leave none. Without lines it is only `---`: a listed name
    /// needs an `/info`, because clients otherwise stop using the compact index of the whole repository.
    pub fn visible(&self, hidden: impl Fn(&Line<'_>) -> bool) -> Bytes {
        if !self.lines().any(|line| hidden(&line)) {
            return self.body.clone();
        }
        let mut body = self.body[..self.lines_at].to_vec();
        for line in self.lines().filter(|line| !hidden(line)) {
            body.extend_from_slice(line.text.as_bytes());
            body.push(b'\n');
        }
        body.into()
    }
}

/// A line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// The whole line, without its newline.
    pub text: &'a str,
    /// The version with its platform or content address, as `/versions` lists it.
    pub token: &'a str,
    /// Its dependencies: `rack:>= 2.0.5&~> 2.0,zeta:>= 0`.
    pub dependencies: &'a str,
    /// Its other fields: `checksum:...,ruby:>= 2.7`.
    pub requirements: &'a str,
}

impl<'a> Line<'a> {
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let (token, rest) = text.split_once(' ').unwrap_or((text, ""));
        let (dependencies, requirements) = rest.split_once('|').unwrap_or((rest, ""));
        (!token.is_empty()).then_some(Self { text, token, dependencies, requirements })
    }

    /// The version without platform.
    pub fn number(&self) -> &'a str {
        self.token.split_once('-').map_or(self.token, |(number, _)| number)
    }

    /// The platform; `ruby` for all platforms. A content address is not a platform; the key `platform` then has it.
    pub fn platform(&self) -> &'a str {
        match content_address(self.token) {
            Some(_) => self.value("platform").map_or("ruby", |platform| platform.trim_start_matches(['=', ' '])),
            None => self.token.split_once('-').map_or("ruby", |(_, platform)| platform),
        }
    }

    /// The SHA-256 of its package.
    pub fn checksum(&self) -> Option<Checksum> {
        self.value("checksum").and_then(Checksum::parse)
    }

    /// When it was published, in seconds since the epoch.
    pub fn created_at(&self) -> Option<i64> {
        self.value("created_at")?.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_second)
    }

    /// The line in the form for lists of many versions ([`crate::gem::dependencies::brief`]).
    pub fn brief(&self) -> String {
        let space = if self.dependencies.is_empty() { "" } else { " " };
        format!("{}{space}{}", self.token, self.dependencies)
    }

    pub(super) fn value(&self, key: &str) -> Option<&'a str> {
        self.requirements.split(',').find_map(|item| item.strip_prefix(key)?.strip_prefix(':'))
    }
}

enum Readable {
    Yes,
    No,
    /// It becomes readable if an empty `checksum:` is removed.
    Without(String),
}

/// Whether clients can read a line (`Gem::Resolver::APISet::GemParser`, `Bundler::EndpointSpecification`).
fn readable(line: &[u8]) -> Readable {
    let text = std::str::from_utf8(line).ok().filter(|text| !text.contains(char::is_control));
    let Some(line) = text.and_then(Line::read) else { return Readable::No };
    let requirement = |text: &str| Requirement::parse(&text.replace('&', ",")).is_ok();
    // A name that no gem can have could break the syntax of lists that are made of these lines.
    let dependency = |item: &str| {
        let (name, text) = item.split_once(':').unwrap_or((item, ""));
        !name.is_empty() && name::plain(name) && (text.is_empty() || requirement(text))
    };
    let key = |item: &str| match item.split_once(':') {
        Some(("checksum", sum)) => Checksum::parse(sum).is_some(),
        Some(("ruby" | "rubygems", text)) => text.is_empty() || requirement(text),
        _ => !item.is_empty(),
    };
    // Ruby's `split` ignores empty items at the end.
    let every =
        |text: &str, fine: &dyn Fn(&str) -> bool| text.is_empty() || text.trim_end_matches(',').split(',').all(fine);
    let all = line.requirements.split(',').filter(|item| *item != EMPTY).collect::<Vec<_>>().join(",");
    let listed = every(line.dependencies, &dependency) && every(&all, &key);
    if !listed || !token(line.token) || Version::parse(line.number()).is_err() {
        return Readable::No;
    }
    if all.len() == line.requirements.len() {
        return Readable::Yes;
    }
    let before = &line.text[..line.text.len() - line.requirements.len()];
    Readable::Without(format!("{before}{all}"))
}

/// The offset of the lines after `---`.
fn header(body: &[u8]) -> Option<usize> {
    let mut at = 0;
    for line in body.split_inclusive(|byte| *byte == b'\n') {
        at += line.len();
        if line == b"---\n" || line == b"---" {
            return Some(at);
        }
    }
    None
}
