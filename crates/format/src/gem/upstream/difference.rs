//! Computes the lines that must be appended to our log so that it lists the same versions as an upstream's file. The
//! log only grows, even if the upstream inserts a line into its file, corrects a line, or rewrites the file.

use super::entry::Entry;
use super::refusal::Refusal;
use super::said::{Said, Sum, line};
use super::versions::{Versions, name_of};
use super::{LINE_BYTES, NAME_BYTES};
use std::borrow::Cow;

/// A name whose versions or MD5 changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The name.
    pub name: String,
    /// The tokens that were not listed before.
    pub new: Vec<String>,
    /// The tokens that are no longer listed.
    pub gone: Vec<String>,
    /// Whether tokens were listed, and none is now.
    pub vanished: bool,
}

/// The changes of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    /// The new lines, each with its newline.
    pub lines: Vec<u8>,
    /// The names in these lines, each once.
    pub changes: Vec<Change>,
    /// The number of names in the log.
    pub names: usize,
    /// The number of names that would vanish.
    pub vanished: usize,
    /// The number of names that vanish, or return to an earlier state of the log.
    pub earlier: usize,
}

impl Difference {
    /// Whether so many names would vanish, more than 1 % or 1,000, that the upstream may be broken. A single vanished
    /// name never counts.
    pub fn is_mass_removal(&self) -> bool {
        const NAMES: usize = 1_000;
        self.vanished > 1 && (self.vanished >= NAMES || self.vanished * 100 > self.names)
    }

    /// Whether the file has no new state of a name, but earlier states of some: it is an earlier file, or one that was
    /// cut off.
    pub fn is_earlier_file(&self) -> bool {
        self.earlier > 0 && self.earlier == self.changes.len()
    }

    /// Records the new state of a name, and the line for it.
    fn add(&mut self, name: &str, before: &Sum<'_>, after: &Sum<'_>) {
        let own = |tokens: Vec<&str>| tokens.into_iter().map(str::to_owned).collect();
        let vanished = !before.tokens.is_empty() && after.tokens.is_empty();
        self.vanished += usize::from(vanished);
        let (new, gone) = (own(after.beyond(before)), own(before.beyond(after)));
        self.changes.push(Change { name: name.to_owned(), new, gone, vanished });
    }
}

/// The first content of a log: the lines of a file that can be relayed unchanged, and lines for the other changes.
pub fn begin(file: &Versions) -> Result<Vec<u8>, Refusal> {
    let mut lines = file.relayed().concat();
    if !file.is_separable() {
        let mut log = Versions::new();
        log.push(lines.clone().into())?;
        lines.extend(difference(&log, file, |_, _| false).lines);
    }
    Ok(lines)
}

/// Appends the new lines of the upstream's file to `log` unchanged, without held-back and unreadable lines.
/// `None` if the result would then differ from the file, or a name would have too many bytes: [`difference`] with the
/// whole file is then needed. It is also needed if the file already [held](Versions::held) back a line.
pub fn append(log: &Versions, appended: &Versions) -> Option<Difference> {
    if !appended.is_separable() {
        return None;
    }
    let mut difference = Difference { names: log.names(), ..Difference::default() };
    for lines in appended.each() {
        let Some(name) = name_of(&lines) else { continue };
        if Sum::of(&lines).is_none() {
            // All these lines are held back.
            continue;
        }
        let before = log.lines_of(name);
        let after: Vec<Cow<'_, [u8]>> = before.iter().chain(&lines).cloned().collect();
        if bytes(&after) > NAME_BYTES {
            return None;
        }
        difference.add(name, &Sum::of(&before).unwrap_or_default(), &Sum::of(&after)?);
    }
    difference.lines = appended.relayed().concat();
    Some(difference)
}

/// The lines that `log` needs to list the same as `file`. `wrong` returns whether an MD5 of a name is known not to be
/// that of its `/info`: the log then keeps its MD5 while the versions are unchanged. A name that is missing in `file`
/// stays in the log without versions, because clients would otherwise keep it from their old file.
pub fn difference(log: &Versions, file: &Versions, wrong: impl Fn(&str, &str) -> bool) -> Difference {
    let mut difference = Difference { names: log.names(), ..Difference::default() };
    for lines in file.each() {
        let Some(name) = name_of(&lines) else { continue };
        let logged = log.lines_of(name);
        if let (false, [one], [other]) = (logged.is_empty(), &lines[..], &logged[..])
            && one == other
        {
            continue;
        }
        let Some(mut after) = Sum::of(&lines) else { continue };
        let before = Sum::of(&logged).unwrap_or_default();
        let same_tokens = || before.beyond(&after).is_empty() && after.beyond(&before).is_empty();
        if !before.md5.is_empty() && wrong(name, after.md5) && same_tokens() {
            after.md5 = before.md5;
        }
        let earlier = before.md5 != after.md5 && says(&logged, after.md5);
        difference.take(name, &logged, &before, &after, earlier);
    }
    let nothing = Said::nothing_md5();
    for lines in log.each() {
        let Some(name) = name_of(&lines).filter(|name| !file.lists(name)) else { continue };
        if let Some(before) = Sum::of(&lines) {
            difference.take(name, &lines, &before, &Sum { md5: &nothing, ..Sum::default() }, true);
        }
    }
    difference
}

impl Difference {
    /// Adds the change of a name. If its line would be longer than the limit, the name stays unchanged.
    pub(super) fn take(
        &mut self,
        name: &str,
        logged: &[Cow<'_, [u8]>],
        before: &Sum<'_>,
        after: &Sum<'_>,
        earlier: bool,
    ) {
        let Some(line) = line(name, before, after) else { return };
        if line.len() <= LINE_BYTES && bytes(logged) + line.len() <= NAME_BYTES {
            self.lines.extend_from_slice(line.as_bytes());
            self.lines.push(b'\n');
            self.earlier += usize::from(earlier);
            self.add(name, before, after);
        }
    }
}

/// Whether one of the lines has this MD5.
pub(super) fn says(lines: &[Cow<'_, [u8]>], md5: &str) -> bool {
    lines.iter().any(|line| Entry::read(line).is_some_and(|entry| entry.md5 == Some(md5)))
}

fn bytes(lines: &[Cow<'_, [u8]>]) -> usize {
    lines.iter().map(|line| line.len()).sum()
}
