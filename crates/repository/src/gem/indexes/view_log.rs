//! `/versions` of a view: a log that only grows for its clients, although the members, the rules and the order of a
//! group change.
//!
//! One operation changes it: [`ViewLog::touch`] compares what the log says of a name with what it has to say now, and
//! adds the line that leads from the first to the second. It does not know where names and versions come from. The
//! caller asks [`ViewLog::names`] for the names that may need a new line, reads the members, and touches these names. A
//! name never disappears from the log; a name without versions stays as such, because clients would otherwise keep
//! their own old state.

mod file;
#[cfg(test)]
mod tests;

use crate::error::{Error, Result};
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

/// The log restarts when the added lines are longer than the original part divided by this number.
const ANEW: usize = 4;

/// The log.
#[derive(Debug, Default)]
pub(crate) struct ViewLog {
    log: Log,
    /// The same lines with an index by name.
    said: Versions,
    /// New lines that are not in the log yet.
    news: String,
    /// The length of the original part. Lines of it that no client can parse are counted with it.
    begun: usize,
    unreadable: u64,
    /// The last change of each member that the log includes.
    through: BTreeMap<RepositoryId, Seq>,
    /// The members and rules that the log was made from.
    of: Option<MadeOf>,
    /// The rules themselves, if the log was made since the start. They show in which names new rules differ.
    rules: Option<ViewRules>,
    /// When ages were last checked, and the names whose visible versions change at a later moment.
    at: Millis,
    due: BTreeSet<(Millis, Box<str>)>,
    /// For names whose MD5 is not that of a member's line: the input that the published MD5 was made from.
    basis: HashMap<Box<str>, String>,
    /// For each upstream: the number up to which its learned facts were read. Empty after a start.
    heard: HashMap<Origin, u64>,
    unwritten: u64,
    /// Whether the new lines change the state of a name that the log already has.
    revises: bool,
}

/// The members of a view, and the rules through which they are seen.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct MadeOf {
    pub(crate) members: String,
    pub(crate) rules: String,
    /// Identifies the set of known dates. Dates can be lost at a start.
    pub(crate) dates: u64,
}

/// The rules through which each member is seen, and the names that members claim.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ViewRules {
    pub(crate) members: BTreeMap<RepositoryId, Rules>,
    /// Each claimed name with the member that claims it.
    pub(crate) claims: BTreeSet<(RepositoryId, String)>,
}

impl ViewRules {
    /// Identifies these rules, also across restarts.
    pub(crate) fn fingerprint(&self) -> String {
        let rules: Vec<String> = self.members.values().map(Rules::fingerprint).collect();
        let claims = self.claims.iter().map(|(member, name)| format!("{} {name}", member.0));
        let claims: Vec<String> = claims.collect();
        [rules.join(","), claims.join(",")].join(";")
    }

    /// The names in which the two sets of rules can differ, if they are few. `None`: any name. Members that only one of
    /// them has do not count.
    fn names_of_difference(&self, other: &ViewRules) -> Option<BTreeSet<String>> {
        let mut pairs = self.members.iter().filter_map(|(member, rules)| Some((rules, other.members.get(member)?)));
        let claims = self.claims.symmetric_difference(&other.claims).map(|(_, name)| name.clone()).collect();
        pairs.try_fold(claims, |names: BTreeSet<String>, (one, other)| Some(&names | &one.names_of_difference(other)?))
    }
}

/// The state of a name that the log has to publish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToSay {
    /// The visible versions.
    pub(crate) tokens: Vec<String>,
    pub(crate) md5: Md5OfInfo,
    /// When the visible versions change without any change of the repository.
    pub(crate) until: Option<Millis>,
}

/// The published state of each name in a view, and when it changes.
pub(crate) type GemStates = (BTreeMap<String, ToSay>, Option<Millis>);

/// The MD5 of `/info` that the log has to publish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Md5OfInfo {
    Known(String),
    /// The MD5 of a filtered file that was not rendered yet. `basis` differs whenever the file may differ. Clients
    /// compare the MD5 only with that of their own file, to decide whether to request it. So until the MD5 is `known`,
    /// the log publishes the MD5 that its lines give, or the basis.
    Unknown {
        basis: String,
        known: Option<String>,
        likely: Option<String>,
    },
}

impl ToSay {
    /// The state of a name without visible versions.
    pub(crate) fn nothing(until: Option<Millis>) -> Self {
        Self { tokens: Vec::new(), md5: Md5OfInfo::Known(Said::nothing_md5()), until }
    }

    /// The line of a name.
    pub(crate) fn line(&self, name: &str) -> String {
        let md5 = match &self.md5 {
            Md5OfInfo::Known(md5) => md5,
            Md5OfInfo::Unknown { basis, known, likely } => known.as_ref().or(likely.as_ref()).unwrap_or(basis),
        };
        match self.tokens.is_empty() {
            true => gem::versions::tombstone(name, md5),
            false => format!("{name} {} {md5}", self.tokens.join(",")),
        }
    }
}

/// The names that may need a new line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Names {
    All,
    These(BTreeSet<String>),
}

impl ViewLog {
    /// Whether it has any lines.
    pub(crate) fn is_begun(&self) -> bool {
        self.of.is_some()
    }

    /// Whether ages were checked at a moment in the future: the clock was set back.
    pub(crate) fn is_ahead(&self, now: Millis) -> bool {
        self.is_begun() && self.at > now
    }

    /// The number up to which the learned facts of an upstream were read.
    pub(crate) fn heard(&self, upstream: Origin) -> u64 {
        self.heard.get(&upstream).copied().unwrap_or_default()
    }

    /// Sets the number up to which these facts were read and their names touched.
    pub(crate) fn hear(&mut self, upstream: Origin, until: u64) {
        self.heard.insert(upstream, until);
    }

    /// The members that the log was made from.
    pub(crate) fn members(&self) -> Option<&str> {
        self.of.as_ref().map(|of| &*of.members)
    }

    /// The names that may need a new line, apart from the names that members report as changed. `regrouped`: the names
    /// that a change of members affects; `None`: any.
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

    /// Starts with the lines of a member. The pieces are shared.
    pub(crate) fn begin_as(&mut self, log: Log, said: Versions) {
        let begun = log.len();
        let unreadable = said.unreadable();
        *self = Self { log, said, begun, unreadable, unwritten: begun as u64, ..Self::default() };
    }

    /// Starts with a header of that moment.
    pub(crate) fn begin(&mut self, at: Millis) -> Result<()> {
        *self = Self::default();
        self.begin_with(gem::versions::header(at.seconds()).as_bytes())
    }

    /// Changes the log. If that fails it is discarded, because names that were touched and not settled would get two lines.
    pub(crate) fn attempt(&mut self, change: impl FnOnce(&mut Self) -> Result<Index>) -> Result<Index> {
        let done = change(self);
        if done.is_err() {
            *self = Self::default();
        }
        done
    }

    /// Adds the line of a name; `None`: the name was never listed, and is published only if clients know it from the log.
    pub(crate) fn touch_if_known(&mut self, name: &str, now: Option<ToSay>) {
        match now {
            // Also for a name without visible versions: the log may be new, and clients may know the name from the one
            // before.
            Some(now) => self.touch(name, now),
            None if self.has(name) => self.touch(name, ToSay::nothing(None)),
            None => {}
        }
    }

    /// Adds the line of a name if its published state differs from `now`.
    pub(crate) fn touch(&mut self, name: &str, now: ToSay) {
        let ToSay { tokens, md5, until } = now;
        if let Some(until) = until {
            self.due.insert((until, name.into()));
        }
        let md5 = match md5 {
            Md5OfInfo::Known(md5) => {
                self.basis.remove(name);
                // Most names have one line and need no new one.
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
        // Clients stop reading the whole file at a longer line. The name keeps its old state.
        let before = self.said.said(name);
        let line = (Said { tokens, md5 }).line_after(name, before.as_ref());
        if let Some(line) = line.filter(|line| line.len() <= LINE_BYTES) {
            self.revises |= before.is_some();
            self.news.push_str(&line);
            self.news.push('\n');
        }
    }

    /// The last change of a member that the log includes.
    pub(crate) fn through_of(&self, member: RepositoryId) -> Option<Seq> {
        self.through.get(&member).copied()
    }

    /// The lines with an index by name.
    pub(crate) fn said(&self) -> &Versions {
        &self.said
    }

    /// Whether the log has the name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.said.has(name)
    }

    /// Whether there are new lines.
    pub(crate) fn has_news(&self) -> bool {
        !self.news.is_empty()
    }

    /// Whether the new lines change the state of a name that the log already has.
    pub(crate) fn revises(&self) -> bool {
        self.revises
    }

    /// Whether the new lines are long in comparison with this number of bytes.
    pub(crate) fn is_much(&self, beside: usize) -> bool {
        self.news.len() > (beside / ANEW).max(PIECE)
    }

    /// The names in the log that `is_known` does not accept.
    pub(crate) fn names_beyond(&self, is_known: impl Fn(&str) -> bool) -> Vec<String> {
        let mut names = Vec::new();
        self.said.read_each(usize::MAX, |name, tokens, _, _| {
            if !tokens.is_empty() && !is_known(name) {
                names.push(name.to_owned());
            }
        });
        names
    }

    /// Discards the moments at which visible versions change, so that all names are touched next.
    pub(crate) fn forget_due(&mut self) {
        self.due.clear();
    }

    /// Adds the new lines. From now on the log represents `of`, including these changes of its members.
    pub(crate) fn settle(
        &mut self,
        of: MadeOf,
        rules: ViewRules,
        through: impl IntoIterator<Item = (RepositoryId, Seq)>,
        now: Millis,
    ) -> Result<Index> {
        let news = std::mem::take(&mut self.news);
        self.revises = false;
        if self.said.lines() == 0 {
            self.extend(news.into_bytes())?;
            (self.begun, self.unreadable) = (self.log.len(), self.said.unreadable());
        } else if !news.is_empty() {
            self.unwritten += news.len() as u64;
            self.log.add(news.as_bytes())?;
            self.said.push(news.into()).map_err(refused)?;
            // The lines of a name may be so many that clients cannot read a further one.
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

    /// Restarts the log with one line for each name.
    fn begin_anew(&mut self, now: Millis) -> Result<()> {
        let whole = gem::versions::render(now.seconds(), self.said.sums().filter(|line| line.len() <= LINE_BYTES));
        (self.log, self.said) = (Log::default(), Versions::new());
        self.extend(whole)?;
        (self.begun, self.unreadable) = (self.log.len(), self.said.unreadable());
        Ok(())
    }

    fn begin_with(&mut self, header: &[u8]) -> Result<()> {
        self.log.add(header)?;
        self.unwritten += header.len() as u64;
        self.said = Versions::new();
        self.said.push(Bytes::copy_from_slice(header)).map_err(refused)
    }

    /// Adds many bytes at once, and shares them with the index.
    fn extend(&mut self, bytes: Vec<u8>) -> Result<()> {
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
