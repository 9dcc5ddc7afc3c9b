//! The known content of each member: the pushes of a hosted one, the `/versions` of a remote one.

use super::super::bundler::Kept;
use super::super::checked::Checked as _;
use super::super::pool::{NAMES, name_of};
use super::{REMOTE, Trial};
use std::collections::{BTreeMap, BTreeSet};

/// The content of a member.
#[derive(Debug, Clone, Default)]
pub(super) struct Leaf {
    /// Whether its index was ever seen.
    pub(super) synced: bool,
    log: Option<Kept>,
    names: BTreeMap<usize, Gem>,
    /// When its log was last read.
    read: u64,
    /// All pushes.
    pushed: BTreeSet<(usize, String)>,
}

/// A gem of a member.
#[derive(Debug, Clone, Default, PartialEq)]
struct Gem {
    /// When it was first listed; `None`: from the beginning.
    began: Option<u64>,
    /// Its versions, each with the moment of its appearance.
    versions: Vec<(String, Since)>,
}

/// The earliest and the latest moment at which a version can have appeared; `None`: unknown.
pub(super) type Since = Option<(u64, u64)>;

/// The content of the members at a moment.
pub(super) struct Moment {
    pub(super) at: u64,
    pub(super) leaves: [Leaf; 4],
}

impl PartialEq for Leaf {
    fn eq(&self, other: &Self) -> bool {
        let bytes = |leaf: &Self| leaf.log.as_ref().map(|log| log.bytes.len());
        (self.synced, bytes(self), &self.names) == (other.synced, bytes(other), &other.names)
    }
}

impl Leaf {
    pub(super) fn hosted() -> Self {
        Self { synced: true, ..Self::default() }
    }

    pub(super) fn remote() -> Self {
        Self::default()
    }

    /// Whether it lists or ever listed the name.
    pub(super) fn lists(&self, name: usize) -> bool {
        self.names.contains_key(&name)
    }

    /// When it began to; `None`: from the beginning.
    pub(super) fn began(&self, name: usize) -> Option<u64> {
        self.names.get(&name)?.began
    }

    pub(super) fn versions(&self, name: usize) -> &[(String, Since)] {
        self.names.get(&name).map_or(&[], |gem| &gem.versions)
    }

    pub(super) fn has(&self, name: usize, token: &str) -> bool {
        self.versions(name).iter().any(|(version, _)| version == token)
    }

    pub(super) fn ever_had(&self, name: usize, token: &str) -> bool {
        self.pushed.contains(&(name, token.to_owned()))
    }

    pub(super) fn push(&mut self, name: usize, token: &str, now: u64) {
        self.pushed.insert((name, token.to_owned()));
        let gem = self.names.entry(name).or_insert(Gem { began: Some(now), versions: Vec::new() });
        gem.versions.push((token.to_owned(), Some((now, now))));
    }

    pub(super) fn yank(&mut self, name: usize, token: &str) {
        self.names.entry(name).or_default().versions.retain(|(version, _)| version != token);
    }

    /// Reads the log of a remote member, which only ever grows.
    fn read(&mut self, log: Kept, now: u64) {
        let (before, text) = (self.log.as_ref().map_or(0, |log| log.bytes.len()), log.text());
        let is_first = self.log.is_none();
        assert!(self.log.as_ref().is_none_or(|before| log.bytes.starts_with(&before.bytes)), "a log is another one");
        let lines = if is_first { text.split_once("---\n").unwrap().1 } else { &text[before..] };
        let (at, since) = ((!is_first).then_some(now), (!is_first).then_some((self.read, now)));
        for line in lines.lines() {
            let [name, changes, _] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("a line of {line:?}") };
            let gem = self.names.entry(name_of(name)).or_insert(Gem { began: at, versions: Vec::new() });
            let mut gone: BTreeMap<&str, Since> = BTreeMap::new();
            for change in changes.split(',') {
                if let Some(token) = change.strip_prefix('-') {
                    gone.extend(gem.versions.iter().find(|(one, _)| one == token).map(|(_, since)| (token, *since)));
                    gem.versions.retain(|(one, _)| one != token);
                } else {
                    // A version that disappears and returns within the same line is no younger for it.
                    let since = gone.get(change).copied().unwrap_or(since);
                    gem.versions.push((change.to_owned(), since));
                }
            }
        }
        (self.log, self.synced, self.read) = (Some(log), true, now);
    }
}

impl Trial<'_> {
    /// Reads the present content of the remote members.
    pub(super) fn read_leaves(&mut self) {
        for at in REMOTE {
            let kept = self.leaves[at].log.clone();
            let conditions = Kept::conditions(kept.as_ref());
            let conditions: Vec<(&str, &str)> = conditions.iter().map(|(name, value)| (*name, &**value)).collect();
            let answer = self.get(at, "versions", &conditions);
            if answer.status < 400 {
                let now = self.now;
                self.leaves[at].read(Kept::after(kept.as_ref(), &answer), now);
            } else {
                let (status, why) = (answer.status, answer.text());
                assert!(!self.leaves[at].synced, "{status} for a cached file: {why}\n{}", self.stage.world.log());
            }
        }
        for group in super::GROUPS {
            for name in 0..NAMES.len() {
                if let Some(place) = self.owner(group, name).filter(|place| !place.is_hosted()) {
                    self.health[place.leaf - REMOTE.start].owned[name] = true;
                }
            }
        }
    }
}
