//! A file of `/versions`, an upstream's or our own log, with a table of its names. It is parsed in one pass while it
//! arrives, and is only appended to.

use super::entry::Entry;
use super::refusal::Refusal;
use super::said::{Said, Sum};
use super::table::Table;
use super::text::Text;
use super::{HEADER_BYTES, HELD_MAX, LINE_BYTES, NAMES_MAX};
use bytes::Bytes;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

/// The file.
#[derive(Debug, Clone, Default)]
pub struct Versions {
    text: Text,
    table: Table,
    /// Whether the header is complete.
    in_lines: bool,
    /// The end of the parsed lines, and the end of the search for the next newline.
    read: usize,
    sought: usize,
    unreadable: u64,
    zeros: u64,
    /// The ranges of lines that cannot be relayed unchanged. Adjacent ones are merged.
    left_out: Vec<(u32, u32)>,
    /// Whether the file without these lines lists the same.
    separable: bool,
    held: BTreeSet<String>,
}

impl Versions {
    /// A file that starts with its header.
    pub fn new() -> Self {
        Self { separable: true, ..Self::default() }
    }

    /// Lines without a header, which were appended to a file.
    pub fn appended() -> Self {
        Self { in_lines: true, ..Self::new() }
    }

    /// Appends to the file. A piece may end within a line.
    pub fn push(&mut self, piece: Bytes) -> Result<(), Refusal> {
        if self.text.len() + piece.len() >= u32::MAX as usize {
            return Err(Refusal::TooLarge(u32::MAX.into()));
        }
        self.text.push(piece);
        while let Some(end) = self.text.newline(self.sought) {
            self.line(self.read, end);
            (self.read, self.sought) = (end + 1, end + 1);
        }
        self.sought = self.text.len();
        match self.sought - self.read {
            _ if !self.in_lines && self.sought > HEADER_BYTES => Err(Refusal::NoHeader),
            pending if pending > LINE_BYTES => Err(Refusal::LineTooLong(LINE_BYTES)),
            _ => Ok(()),
        }
    }

    fn line(&mut self, at: usize, end: usize) {
        let line = self.text.bytes(at, end);
        if !self.in_lines {
            self.in_lines = *line == *b"---";
            return;
        }
        let entry = if line.len() > LINE_BYTES { None } else { Entry::read(&line) };
        let complete = entry.is_some_and(|entry| entry.md5.is_some());
        if !complete || line.ends_with(b"\r") {
            leave_out(&mut self.left_out, at, end + 1);
            self.separable &= !complete;
        }
        let Some(entry) = entry else {
            self.unreadable += u64::from(!line.trim_ascii().is_empty());
            return;
        };
        if !self.table.add(entry.name, at as u32, line.len(), |other| is_of(&self.text, other, entry.name)) {
            self.unreadable += 1;
            leave_out(&mut self.left_out, at, end + 1);
            return;
        }
        self.zeros += u64::from(entry.versions == "0");
        if entry.md5.is_none() {
            self.held.insert(entry.name.to_owned());
        } else if !self.held.is_empty() && self.held.remove(entry.name) {
            // The earlier line counts from now on.
            self.separable = false;
        }
    }

    /// The state of a name after all lines; `None` if it was never listed.
    pub fn said(&self, name: &str) -> Option<Said> {
        Sum::of(&self.lines_of(name)).map(|sum| sum.said())
    }

    /// The state when the text ended at `end`.
    pub fn said_by(&self, name: &str, end: usize) -> Option<Said> {
        self.said_at(name, end).map(|(said, _)| said)
    }

    /// The state when the text ended at `end`, and for each token the offset of the line that lists it.
    pub fn said_at(&self, name: &str, end: usize) -> Option<(Said, Vec<usize>)> {
        self.sum_at(&self.offsets_of(name, end))
    }

    /// The offsets of the lines of a name before `end`, the newest first.
    pub fn offsets_of(&self, name: &str, end: usize) -> Vec<usize> {
        let mut offsets = self.table.find(name, |at| is_of(&self.text, at, name));
        offsets.retain(|at| *at < end);
        offsets
    }

    /// Calls `read` with the state of each name when the text ended at `end`: the name, its tokens, the offset of the
    /// line of each, and the MD5.
    pub fn read_each(&self, end: usize, mut read: impl FnMut(&str, &[&str], &[usize], &str)) {
        for mut offsets in self.table.each() {
            offsets.retain(|at| *at < end);
            let lines = self.lines_at(&offsets);
            if let (Some(name), Some(sum)) = (name_of(&lines), Sum::of(&lines)) {
                let at: Vec<usize> = sum.from.iter().map(|line| offset_of(&offsets, *line)).collect();
                read(name, &sum.tokens, &at, sum.md5);
            }
        }
    }

    /// The MD5 of the `/info` of a name without the hidden tokens, if a line has it: all later lines only added hidden
    /// tokens. `None`: no line has it. A line that removes a token or adds it again may have changed the `/info` in any
    /// way. So may a line for several changes: `is_one_change` returns whether the line at an offset is for a single
    /// change.
    pub fn md5_without(
        &self,
        name: &str,
        end: usize,
        hidden: impl Fn(&str) -> bool,
        is_one_change: impl Fn(usize) -> bool,
    ) -> Option<String> {
        let offsets = self.offsets_of(name, end);
        let lines = self.lines_at(&offsets);
        let mut entries: Vec<Entry<'_>> = lines.iter().filter_map(|line| Entry::read(line)).collect();
        // An upstream may list a hundred thousand versions of a gem, so they are looked up in a table.
        let mut first: HashMap<&str, usize> = HashMap::new();
        for (at, entry) in entries.iter().enumerate() {
            for (_, token) in entry.tokens() {
                first.entry(token).or_insert(at);
            }
        }
        while let Some((last, before)) = entries.split_last() {
            let is_before = |token: &str| first.get(token).is_some_and(|at| *at < before.len());
            let only_adds = last.tokens().all(|(gone, token)| !gone && hidden(token) && !is_before(token));
            if last.md5.is_some() && !only_adds {
                break;
            }
            if !is_one_change(offset_of(&offsets, before.len())) {
                return None;
            }
            entries.pop();
        }
        let said = Sum::of(&lines[..entries.len()])?;
        // Our log may have the MD5 of a file before the index listed its new version.
        let of_all = entries.len() < lines.len() && Sum::of(&lines)?.md5 == said.md5;
        (!of_all && said.tokens.iter().all(|token| !hidden(token))).then(|| said.md5.to_owned())
    }

    /// The offset of the first line at or after `end` that removes a token.
    pub fn withdrawn(&self, name: &str, token: &str, end: usize) -> Option<usize> {
        let mut offsets = self.offsets_of(name, usize::MAX);
        offsets.retain(|at| *at >= end);
        offsets.into_iter().rev().find(|at| {
            let line = self.text.line(*at);
            let last = Entry::read(&line).and_then(|entry| entry.tokens().filter(|(_, other)| *other == token).last());
            last.is_some_and(|(gone, _)| gone)
        })
    }

    /// The tokens of a name that were listed, and no longer were when the text ended at `end`, the last removed first.
    pub fn removed(&self, name: &str, end: usize) -> Vec<String> {
        let lines = self.lines_at(&self.offsets_of(name, end));
        // When each listed token was removed: `None` if it still is listed.
        let mut ever: HashMap<&str, Option<usize>> = HashMap::new();
        let changes = lines.iter().filter_map(|line| Entry::read(line)).collect::<Vec<_>>();
        for (at, (gone, token)) in changes.iter().flat_map(|entry| entry.tokens()).enumerate() {
            match ever.get_mut(token) {
                Some(removed) => *removed = gone.then_some(at),
                // A gem without versions has `-0`, which was never listed.
                None if gone => {}
                None => drop(ever.insert(token, None)),
            }
        }
        let mut removed: Vec<(usize, &str)> =
            ever.into_iter().filter_map(|(token, removed)| Some((removed?, token))).collect();
        removed.sort_unstable_by(|one, other| other.cmp(one));
        removed.into_iter().map(|(_, token)| token.to_owned()).collect()
    }

    /// Whether this is the only line of a name.
    pub fn says_only(&self, name: &str, line: &str) -> bool {
        matches!(&self.lines_of(name)[..], [only] if **only == *line.as_bytes())
    }

    /// The state after the lines at these offsets, which are ordered from the newest to the oldest.
    fn sum_at(&self, offsets: &[usize]) -> Option<(Said, Vec<usize>)> {
        let lines = self.lines_at(offsets);
        let sum = Sum::of(&lines)?;
        Some((sum.said(), sum.from.iter().map(|line| offset_of(offsets, *line)).collect()))
    }

    /// The offset of the first line about a name that was listed before; the length of the text if there is none. In a
    /// rewritten file, the lines that were appended after the rewrite start about there.
    pub fn first_repeated(&self) -> usize {
        self.table.first_repeated().unwrap_or(self.text.len())
    }

    /// Whether it ever listed the name.
    pub fn has(&self, name: &str) -> bool {
        self.said(name).is_some()
    }

    /// Whether a line of the name was read, even if it is held back. It costs less than [`Versions::has`].
    pub fn lists(&self, name: &str) -> bool {
        self.table.has(name, |at| is_of(&self.text, at, name))
    }

    /// Whether any line of the name has this MD5. An `/info` with the MD5 of an older line is from before the last
    /// change; an `/info` whose MD5 was never listed is newer than the index, or the index is wrong.
    pub fn ever_said(&self, name: &str, md5: &str) -> bool {
        self.lines_of(name).iter().any(|line| Entry::read(line).is_some_and(|entry| entry.md5 == Some(md5)))
    }

    /// Each name with its state, in the order of their last lines.
    pub fn all(&self) -> impl Iterator<Item = (String, Said)> {
        self.each().filter_map(|lines| Some((name_of(&lines)?.to_owned(), Sum::of(&lines)?.said())))
    }

    /// Its text.
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// Refuses a file with more names than are kept in memory.
    pub fn check_names(&self) -> Result<(), Refusal> {
        match (self.table.names(), self.held.len()) {
            (names, _) if names > NAMES_MAX => Err(Refusal::TooManyNames(NAMES_MAX)),
            (_, held) if held > HELD_MAX => Err(Refusal::TooManyHeld(HELD_MAX)),
            _ => Ok(()),
        }
    }

    /// The number of names with a line.
    pub fn names(&self) -> usize {
        self.table.names()
    }

    /// The number of parsed lines.
    pub fn lines(&self) -> usize {
        self.table.lines()
    }

    /// The number of lines that no client could read. Blank lines are left out and not counted.
    pub fn unreadable(&self) -> u64 {
        self.unreadable
    }

    /// The number of lines that list only `0`.
    pub fn zeros(&self) -> u64 {
        self.zeros
    }

    /// The names whose last line is held back because it has no MD5 yet.
    pub fn held(&self) -> &BTreeSet<String> {
        &self.held
    }

    /// Whether every line can be relayed unchanged, so that a log may start with this text.
    pub fn is_clean(&self) -> bool {
        self.relayable() == Some(self.text.len())
    }

    /// The length of the parsed lines if all of them can be relayed unchanged.
    pub fn relayable(&self) -> Option<usize> {
        self.left_out.is_empty().then_some(self.read)
    }

    /// The parts that can be relayed unchanged: the header, and the lines except unreadable ones and those without an
    /// MD5.
    pub fn relayed(&self) -> Vec<Bytes> {
        let ends = self.left_out.iter().map(|(begin, _)| *begin as usize).chain([self.read]);
        let begins = [0].into_iter().chain(self.left_out.iter().map(|(_, end)| *end as usize));
        begins.zip(ends).flat_map(|(begin, end)| self.text.range(begin, end)).collect()
    }

    /// Whether the relayed lines list the same as all lines. They do not if a later line of a name supplied a missing
    /// MD5.
    pub fn is_separable(&self) -> bool {
        self.separable && self.read == self.text.len()
    }

    /// Its size in memory without the text, in bytes.
    pub fn weight(&self) -> usize {
        self.table.weight() + self.held.iter().map(|name| name.len() + size_of::<String>()).sum::<usize>()
    }

    /// The state of each name as one line, in the order of their last lines. A rewritten file starts with these lines.
    pub fn sums(&self) -> impl Iterator<Item = String> {
        self.all().map(|(name, said)| said.line(&name, |_| false, &said.md5))
    }

    /// The lines of a name, the oldest first.
    pub(super) fn lines_of(&self, name: &str) -> Vec<Cow<'_, [u8]>> {
        self.lines_at(&self.table.find(name, |at| is_of(&self.text, at, name)))
    }

    /// The lines of each name, in the order of their last lines.
    pub(super) fn each(&self) -> impl Iterator<Item = Vec<Cow<'_, [u8]>>> {
        self.table.each().map(|offsets| self.lines_at(&offsets))
    }

    fn lines_at(&self, offsets: &[usize]) -> Vec<Cow<'_, [u8]>> {
        offsets.iter().rev().map(|at| self.text.line(*at)).collect()
    }
}

/// The offset of a line. The last offset is that of the oldest line.
fn offset_of(offsets: &[usize], line: usize) -> usize {
    offsets.get(offsets.len() - 1 - line).copied().unwrap_or_default()
}

/// The name of these lines, which all have the same one. They were parsed before.
pub(super) fn name_of<'a>(lines: &'a [Cow<'_, [u8]>]) -> Option<&'a str> {
    let line: &[u8] = lines.first()?;
    std::str::from_utf8(line.split(|byte| *byte == b' ').next()?).ok()
}

/// Records that the bytes between two offsets are left out. Offsets only increase.
fn leave_out(left_out: &mut Vec<(u32, u32)>, begin: usize, end: usize) {
    let (begin, end) = (begin as u32, end as u32);
    match left_out.last_mut() {
        Some((_, last)) if *last >= begin => *last = end,
        _ => left_out.push((begin, end)),
    }
}

/// Whether the line at an offset is of that name.
fn is_of(text: &Text, at: usize, name: &str) -> bool {
    text.bytes(at, at + name.len() + 1).strip_suffix(b" ") == Some(name.as_bytes())
}
