//! `/versions` as a view shows it, where that is not what its members say: a log that only grows for those who read it.
//!
//! One operation changes it: [`ViewLog::touch`] adds the line that leads from what the log says of a name to what is to be said of it. It
//! does not know where names and versions come from: whoever brings a log up to date asks [`ViewLog::names`] which names may have
//! something else to say, reads the members, and touches these. A name that was said once is said for ever, if only as one without
//! versions, as clients would read a missing one from their own old file.

mod file;
#[cfg(test)]
mod tests;

use crate::error::Error;
use crate::index::document::Index;
use crate::index::rope::PIECE;
use crate::index::rope::log::Log;
use crate::policy::rules::Rules;
use bytes::Bytes;
use format::gem;
use format::gem::upstream::{LINE_BYTES, Refusal, Said, Versions};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use store::{Origin, RepositoryId, Seq};
use telemetry::Millis;

/// It is begun anew when what was added to it is as long as its beginning, divided by this.
const ANEW: usize = 4;

/// The log.
#[derive(Debug, Default)]
pub(crate) struct ViewLog {
    log: Log,
    /// The same with a table of its names.
    said: Versions,
    /// Lines that are not in it yet.
    news: String,
    /// The length that it was begun with, and how many of those lines no client can read.
    begun: usize,
    unreadable: u64,
    /// The last change of each member that is in it.
    through: BTreeMap<RepositoryId, Seq>,
    /// What it was made of.
    of: Option<MadeOf>,
    /// Where it was made since the start: the rules themselves, to tell how others differ.
    rules: Option<ViewRules>,
    /// When ages were last looked at, and the names of which something else may be said from a moment on.
    at: Millis,
    due: BTreeSet<(Millis, Box<str>)>,
    /// For names whose MD5 is that of no line of a member: of what the said one was made.
    basis: HashMap<Box<str>, String>,
    /// For each upstream up to which number it was read what its files told. A start begins with nothing.
    heard: HashMap<Origin, u64>,
    unwritten: u64,
    /// Whether the lines that are not in it yet change what it says of a name.
    revises: bool,
}

/// The members of a view, and the rules through which they are seen.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct MadeOf {
    pub(crate) members: String,
    pub(crate) rules: String,
    /// What tells the dates that count from others. They may be lost at a start.
    pub(crate) dates: u64,
}

/// The rules through which each member is seen, and the names that they claim.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ViewRules {
    pub(crate) members: BTreeMap<RepositoryId, Rules>,
    /// Each with the member that claims it.
    pub(crate) claims: BTreeSet<(RepositoryId, String)>,
}

impl ViewRules {
    /// What tells these rules from others, also those of an earlier start of the server.
    pub(crate) fn fingerprint(&self) -> String {
        let rules: Vec<String> = self.members.values().map(Rules::fingerprint).collect();
        let claims = self.claims.iter().map(|(member, name)| format!("{} {name}", member.0));
        let claims: Vec<String> = claims.collect();
        [rules.join(","), claims.join(",")].join(";")
    }

    /// The names of which others may say something else, where they are few. `None`: it may be any. Members that only one has do not count.
    fn names_of_difference(&self, other: &ViewRules) -> Option<BTreeSet<String>> {
        let mut pairs = self.members.iter().filter_map(|(member, rules)| Some((rules, other.members.get(member)?)));
        let claims = self.claims.symmetric_difference(&other.claims).map(|(_, name)| name.clone()).collect();
        pairs.try_fold(claims, |names: BTreeSet<String>, (one, other)| Some(&names | &one.names_of_difference(other)?))
    }
}

/// What is to be said of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToSay {
    /// The versions that may be seen.
    pub(crate) tokens: Vec<String>,
    pub(crate) md5: Md5OfInfo,
    /// From when on something else may be seen without any change.
    pub(crate) until: Option<Millis>,
}

/// The MD5 of `/info` that is to be said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Md5OfInfo {
    Known(String),
    /// It is that of a part of a file. `basis` is another one whenever the file may be another one. Clients compare the MD5 only with that
    /// of the file that they have, to decide whether to ask; so until it is `known`, what lines come to is said, or the basis instead.
    Unknown {
        basis: String,
        known: Option<String>,
        likely: Option<String>,
    },
}

impl ToSay {
    /// That nothing may be seen.
    pub(crate) fn nothing(until: Option<Millis>) -> Self {
        Self { tokens: Vec::new(), md5: Md5OfInfo::Known(Said::nothing_md5()), until }
    }
}

/// The names that may have something else to say.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Names {
    All,
    These(BTreeSet<String>),
}

impl ViewLog {
    /// Whether it says anything yet.
    pub(crate) fn is_begun(&self) -> bool {
        self.of.is_some()
    }

    /// Whether ages were looked at later than now: the clock was set back.
    pub(crate) fn is_ahead(&self, now: Millis) -> bool {
        self.is_begun() && self.at > now
    }

    /// Up to which number it was read what the files of an upstream told.
    pub(crate) fn heard(&self, upstream: Origin) -> u64 {
        self.heard.get(&upstream).copied().unwrap_or_default()
    }

    /// Notes up to which number that was read, and for the names touched.
    pub(crate) fn hear(&mut self, upstream: Origin, until: u64) {
        self.heard.insert(upstream, until);
    }

    /// What its members were.
    pub(crate) fn members(&self) -> Option<&str> {
        self.of.as_ref().map(|of| &*of.members)
    }

    /// The names of which something else may be said than by this log, besides those that its members say have changed since. `regrouped`:
    /// those of which it may be because the members are others; `None`: any.
    pub(crate) fn names(
        &self,
        of: &MadeOf,
        rules: &ViewRules,
        now: Millis,
        regrouped: Option<BTreeSet<String>>,
    ) -> Names {
        let before = self.of.as_ref().filter(|_| !self.is_ahead(now));
        let lost = |before: &&MadeOf| self.rules.is_none() && before.dates != of.dates;
        let Some(before) = before.filter(|before| !lost(before)) else { return Names::All };
        let regrouped = if before.members == of.members { Some(BTreeSet::new()) } else { regrouped };
        let Some(mut names) = regrouped else { return Names::All };
        names.extend(self.due.iter().take_while(|(from, _)| *from <= now).map(|(_, name)| name.to_string()));
        if before.rules != of.rules {
            let differing = self.rules.as_ref().and_then(|before| before.names_of_difference(rules));
            let Some(differing) = differing else { return Names::All };
            names.extend(differing);
        }
        Names::These(names)
    }

    /// Begins with the lines of a member, which are shared with it.
    pub(crate) fn begin_as(&mut self, log: Log, said: Versions) {
        let begun = log.len();
        let unreadable = said.unreadable();
        *self = Self { log, said, begun, unreadable, unwritten: begun as u64, ..Self::default() };
    }

    /// Begins with nothing but a header of that moment.
    pub(crate) fn begin(&mut self, at: Millis) -> Result<(), Error> {
        *self = Self::default();
        self.begin_with(gem::versions::header(at.seconds()).as_bytes())
    }

    /// Says of a name what is to be said of it now.
    pub(crate) fn touch(&mut self, name: &str, now: ToSay) {
        let ToSay { tokens, md5, until } = now;
        if let Some(until) = until {
            self.due.insert((until, name.into()));
        }
        let md5 = match md5 {
            Md5OfInfo::Known(md5) => {
                self.basis.remove(name);
                // Most names have one line, and nothing to be added.
                if !tokens.is_empty() && self.said.says_only(name, &format!("{name} {} {md5}", tokens.join(","))) {
                    return;
                }
                md5
            }
            Md5OfInfo::Unknown { basis, known, likely } => {
                let same = self.basis.get(name) == Some(&basis);
                let said = if same { self.said.said(name) } else { None };
                let md5 = known.or_else(|| said.map(|said| said.md5));
                let md5 = md5.or_else(|| likely.clone()).unwrap_or_else(|| basis.clone());
                if likely.as_ref() == Some(&md5) {
                    self.basis.remove(name);
                } else {
                    self.basis.insert(name.into(), basis);
                }
                md5
            }
        };
        // A longer one is not read, and would end the whole file. The name stays as it was.
        let before = self.said.said(name);
        let line = (Said { tokens, md5 }).line_after(name, before.as_ref());
        if let Some(line) = line.filter(|line| line.len() <= LINE_BYTES) {
            self.revises |= before.is_some();
            self.news.push_str(&line);
            self.news.push('\n');
        }
    }

    /// The last change of a member that is in it.
    pub(crate) fn through_of(&self, member: RepositoryId) -> Option<Seq> {
        self.through.get(&member).copied()
    }

    /// The versions that it says of a name.
    pub(crate) fn tokens(&self, name: &str) -> Vec<String> {
        self.said.said(name).map(|said| said.tokens).unwrap_or_default()
    }

    /// What it says, with a table of its names.
    pub(crate) fn said(&self) -> &Versions {
        &self.said
    }

    /// Whether it ever said the name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.said.has(name)
    }

    /// Whether lines are to be added.
    pub(crate) fn has_news(&self) -> bool {
        !self.news.is_empty()
    }

    /// Whether the lines that are to be added change what it says of a name that it has.
    pub(crate) fn revises(&self) -> bool {
        self.revises
    }

    /// Whether the lines that are to be added are many beside so many bytes.
    pub(crate) fn is_much(&self, beside: usize) -> bool {
        self.news.len() > (beside / ANEW).max(PIECE)
    }

    /// The names that it says and `are_known` does not know.
    pub(crate) fn names_beyond(&self, is_known: impl Fn(&str) -> bool) -> Vec<String> {
        let mut names = Vec::new();
        self.said.read_each(usize::MAX, |name, tokens, _, _| {
            if !tokens.is_empty() && !is_known(name) {
                names.push(name.to_owned());
            }
        });
        names
    }

    /// Forgets when something else may be said: all names are touched next.
    pub(crate) fn forget_due(&mut self) {
        self.due.clear();
    }

    /// Adds what was found by touching names. It says now what `of` comes to, up to these changes of its members.
    pub(crate) fn settle(
        &mut self,
        of: MadeOf,
        rules: ViewRules,
        through: impl IntoIterator<Item = (RepositoryId, Seq)>,
        now: Millis,
    ) -> Result<Index, Error> {
        let news = std::mem::take(&mut self.news);
        self.revises = false;
        if self.said.lines() == 0 {
            self.extend(news.into_bytes())?;
            (self.begun, self.unreadable) = (self.log.len(), self.said.unreadable());
        } else if !news.is_empty() {
            self.unwritten += news.len() as u64;
            self.log.add(news.as_bytes())?;
            self.said.push(news.into()).map_err(refused)?;
            // A name may have so much to say that no line more is read.
            let is_full = self.said.unreadable() > self.unreadable;
            if is_full || self.log.len() - self.begun > (self.begun / ANEW).max(PIECE) {
                self.begin_anew(now)?;
            }
        }
        while self.due.first().is_some_and(|(from, _)| *from <= now) {
            self.due.pop_first();
        }
        let through = through.into_iter().collect();
        (self.of, self.rules, self.through, self.at) = (Some(of), Some(rules), through, now);
        let until = self.due.first().map(|(from, _)| *from);
        Ok(Index { fresh_until: until, ..self.log.index()? })
    }

    /// Begins with what it says, in one line for each name.
    fn begin_anew(&mut self, now: Millis) -> Result<(), Error> {
        let whole = gem::versions::render(now.seconds(), self.said.sums().filter(|line| line.len() <= LINE_BYTES));
        (self.log, self.said) = (Log::default(), Versions::new());
        self.extend(whole)?;
        (self.begun, self.unreadable) = (self.log.len(), self.said.unreadable());
        Ok(())
    }

    fn begin_with(&mut self, header: &[u8]) -> Result<(), Error> {
        self.log.add(header)?;
        self.unwritten += header.len() as u64;
        self.said = Versions::new();
        self.said.push(Bytes::copy_from_slice(header)).map_err(refused)
    }

    /// Adds much at once, and shares it with the table.
    fn extend(&mut self, bytes: Vec<u8>) -> Result<(), Error> {
        self.log.add(&bytes)?;
        self.unwritten += bytes.len() as u64;
        drop(bytes);
        self.said = Versions::new();
        self.log.pieces().try_for_each(|piece| self.said.push(piece)).map_err(refused)
    }
}

fn refused(refusal: Refusal) -> Error {
    Error::Unsupported(refusal.to_string())
}
