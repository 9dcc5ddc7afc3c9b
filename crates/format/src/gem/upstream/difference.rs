//! The lines that a log must gain so that it says the same as another file. A log only ever grows, whatever its upstream does to
//! its own file: inserts a line, corrects one, or writes all of it again.

use super::said::{Said, Sum, line};
use super::versions::{Versions, name_of};
use std::borrow::Cow;

/// A name of which something else is said now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The name.
    pub name: String,
    /// The tokens that were not offered before.
    pub new: Vec<String>,
    /// The tokens that are no longer offered.
    pub gone: Vec<String>,
    /// Whether tokens were offered, and none is now.
    pub vanished: bool,
}

/// What a log gains.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    /// The lines, each with its newline.
    pub lines: Vec<u8>,
    /// The names that they touch, each once.
    pub changes: Vec<Change>,
    /// How many names the log has.
    pub names: usize,
    /// How many of them would vanish.
    pub vanished: usize,
}

impl Difference {
    /// Whether so many names would vanish, more than 1 % or 1,000, that the upstream may be broken. A single one never is.
    pub fn is_mass_removal(&self) -> bool {
        const NAMES: usize = 1_000;
        self.vanished > 1 && (self.vanished >= NAMES || self.vanished * 100 > self.names)
    }

    /// Records what is said of a name now, and the line for it.
    fn add(&mut self, name: &str, before: &Sum<'_>, after: &Sum<'_>) {
        let own = |tokens: Vec<&str>| tokens.into_iter().map(str::to_owned).collect();
        let vanished = !before.tokens.is_empty() && after.tokens.is_empty();
        self.vanished += usize::from(vanished);
        let (new, gone) = (own(after.beyond(before)), own(before.beyond(after)));
        self.changes.push(Change { name: name.to_owned(), new, gone, vanished });
    }
}

/// What `log` gains from lines that its upstream's file gained, as they are. `None` if they cannot be relayed so, because one is
/// held back or unreadable: then [`difference`] with the whole file is needed. So it is where the file [held](Versions::held) a
/// line back before.
pub fn append(log: &Versions, appended: &Versions) -> Option<Difference> {
    if !appended.is_clean() {
        return None;
    }
    let mut difference = Difference { names: log.names(), ..Difference::default() };
    for lines in appended.each() {
        let Some(name) = name_of(&lines) else { continue };
        let before = log.lines_of(name);
        let after: Vec<Cow<'_, [u8]>> = before.iter().chain(&lines).cloned().collect();
        difference.add(name, &Sum::of(&before).unwrap_or_default(), &Sum::of(&after)?);
    }
    difference.lines = appended.text().pieces().concat();
    Some(difference)
}

/// What `log` gains to say the same as `file`. `wrong` tells whether an MD5 of a name is known not to be that of its `/info`: the
/// one in the log then stays. A name that is missing from `file` stays in the log as one without versions, because clients would
/// read it from their own old file.
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
        if !before.md5.is_empty() && wrong(name, after.md5) {
            after.md5 = before.md5;
        }
        difference.take(name, &before, &after);
    }
    let nothing = Said::nothing_md5();
    for lines in log.each() {
        let Some(name) = name_of(&lines).filter(|name| !file.has_line_of(name)) else { continue };
        if let Some(before) = Sum::of(&lines) {
            difference.take(name, &before, &Sum { md5: &nothing, ..Sum::default() });
        }
    }
    difference
}

impl Difference {
    fn take(&mut self, name: &str, before: &Sum<'_>, after: &Sum<'_>) {
        if let Some(line) = line(name, before, after) {
            self.lines.extend_from_slice(line.as_bytes());
            self.lines.push(b'\n');
            self.add(name, before, after);
        }
    }
}
