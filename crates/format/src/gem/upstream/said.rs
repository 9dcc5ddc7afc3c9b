//! The state of one name after its lines of `/versions`: the listed versions, and the last MD5.

use super::entry::Entry;
use crate::gem::info;
use crate::gem::versions::{replacing_line, tombstone};
use std::borrow::Cow;
use std::collections::HashMap;

/// The state of a name. A token is a version with its platform or content address, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The listed tokens, in the order of their lines.
    pub tokens: Vec<String>,
    /// The MD5 of its `/info`, as the last line has it.
    pub md5: String,
}

impl Said {
    /// The line with the tokens that are not hidden, and this MD5. If all are hidden it is a tombstone: clients would
    /// keep a missing name from their old file.
    pub fn line(&self, name: &str, hidden: impl Fn(&str) -> bool, md5: &str) -> String {
        let visible: Vec<&str> = self.tokens.iter().map(String::as_str).filter(|token| !hidden(token)).collect();
        if visible.is_empty() { tombstone(name, md5) } else { format!("{name} {} {md5}", visible.join(",")) }
    }

    /// The line that changes the state `before` into this one; `None` if they are equal.
    pub fn line_after(&self, name: &str, before: Option<&Said>) -> Option<String> {
        line(name, &before.map(Sum::from).unwrap_or_default(), &Sum::from(self))
    }

    /// Whether it lists only `0`, as some filtered indexes do for every gem. Only `/info` then has the versions.
    pub fn is_zero(&self) -> bool {
        self.tokens == ["0"]
    }

    /// The MD5 of an `/info` without versions.
    pub fn nothing_md5() -> String {
        info::md5_hex(&info::render([""; 0]))
    }
}

/// The same state, borrowed from the lines.
#[derive(Debug, Default)]
pub(super) struct Sum<'a> {
    pub(super) tokens: Vec<&'a str>,
    /// The index of the line of each token. A token that is removed and added in the same line keeps its earlier line:
    /// such a line only changes the MD5.
    pub(super) from: Vec<usize>,
    pub(super) md5: &'a str,
}

impl<'a> From<&'a Said> for Sum<'a> {
    fn from(said: &'a Said) -> Self {
        Self { tokens: said.tokens.iter().map(String::as_str).collect(), from: Vec::new(), md5: &said.md5 }
    }
}

impl<'a> Sum<'a> {
    /// The state after these lines of one name, the oldest first. The last lines are held back if they have no MD5:
    /// clients could not use them, and their MD5 follows. `None` if no line is left.
    pub(super) fn of(lines: &'a [Cow<'a, [u8]>]) -> Option<Self> {
        let entries: Vec<Entry<'a>> = lines.iter().filter_map(|line| Entry::read(line)).collect();
        let end = entries.iter().rposition(|entry| entry.md5.is_some())?;
        if let [entry] = &entries[..=end]
            && let Some(tokens) = few(entry.versions)
        {
            return Some(Self { from: vec![0; tokens.len()], tokens, md5: entry.md5.unwrap_or_default() });
        }
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut gone_from: HashMap<&str, (usize, usize)> = HashMap::new();
        let mut tokens: Vec<Option<(&str, usize)>> = Vec::new();
        let said = entries[..=end].iter().enumerate();
        for (line, (gone, token)) in said.flat_map(|(line, entry)| entry.tokens().map(move |one| (line, one))) {
            match (gone, places.get(token)) {
                (false, None) => {
                    let back = gone_from.get(token).filter(|(at, _)| *at == line);
                    places.insert(token, tokens.len());
                    tokens.push(Some((token, back.map_or(line, |(_, from)| *from))));
                }
                (true, Some(place)) => {
                    if let Some((_, from)) = tokens[*place].take() {
                        gone_from.insert(token, (line, from));
                    }
                    places.remove(token);
                }
                _ => {}
            }
        }
        let (tokens, from) = tokens.into_iter().flatten().unzip();
        Some(Self { tokens, from, md5: entries[end].md5.unwrap_or_default() })
    }

    /// An owned copy.
    pub(super) fn said(&self) -> Said {
        Said { tokens: self.tokens.iter().map(|token| (*token).to_owned()).collect(), md5: self.md5.to_owned() }
    }

    /// Its tokens that `other` lacks.
    pub(super) fn beyond(&self, other: &Self) -> Vec<&'a str> {
        let mut others = other.tokens.clone();
        others.sort_unstable();
        self.tokens.iter().copied().filter(|token| others.binary_search(token).is_err()).collect()
    }
}

/// The versions of a line that is the only one of its name, if they are few and all added: most names of an index have
/// such a line.
fn few(versions: &str) -> Option<Vec<&str>> {
    const FEW: usize = 16;
    let mut tokens: Vec<&str> = Vec::new();
    for token in versions.split(',') {
        if token.starts_with('-') || tokens.len() == FEW || tokens.contains(&token) {
            return None;
        }
        tokens.push(token);
    }
    Some(tokens)
}

/// The line that changes one state into the other; `None` if they are equal.
pub(super) fn line(name: &str, before: &Sum<'_>, after: &Sum<'_>) -> Option<String> {
    let (gone, new) = (before.beyond(after), after.beyond(before));
    if !gone.is_empty() || !new.is_empty() {
        let versions: Vec<String> =
            gone.iter().map(|gone| format!("-{gone}")).chain(new.iter().map(|new| (*new).into())).collect();
        return Some(format!("{name} {} {}", versions.join(","), after.md5));
    }
    // The last version is removed and added again, because clients would list a version twice that is added twice.
    let again = || {
        after
            .tokens
            .last()
            .map_or_else(|| tombstone(name, after.md5), |last| replacing_line(name, last, "ruby", after.md5))
    };
    (before.md5 != after.md5).then(again)
}
