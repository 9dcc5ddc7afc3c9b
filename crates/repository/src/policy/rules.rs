//! What may be seen of a repository: its own policy, and that of each group on the way to it. Pure: times are arguments.

#[cfg(test)]
mod tests;

use crate::format::Format;
use crate::policy::hidden::{Hidden, Why};
use crate::policy::named::{Named, Since};
use crate::policy::pattern::Pattern;
use crate::policy::prefix::Prefix;
use crate::record::{ExceptionRecord, PolicyRecord, RepositoryRecord};
use std::sync::Arc;
use telemetry::Millis;

/// What may be seen. What any layer hides is hidden. Clones share them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    layers: Vec<Arc<Policy>>,
}

/// The moment at which a repository is looked at, and by which rules.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// The repository as it was at the end of this moment; `None`: as it is.
    pub as_of: Option<Millis>,
    /// Exceptions of the policy that were made later do not count; `None`: all do.
    pub exceptions_by: Option<Millis>,
    /// The time of day.
    pub now: Millis,
    /// What may be seen.
    pub rules: &'a Rules,
}

/// The policy of one repository.
#[derive(Debug, PartialEq, Eq)]
struct Policy {
    repository: String,
    format: Format,
    allow: Vec<Pattern>,
    deny: Vec<Pattern>,
    /// In milliseconds.
    cooldown: Option<i64>,
    exceptions: Vec<(Pattern, ExceptionRecord)>,
    private: Vec<Prefix>,
    shared: Vec<Pattern>,
}

/// Those that hide nothing.
pub(crate) static OPEN: Rules = Rules { layers: Vec::new() };

impl Rules {
    /// Those of a repository that is set so.
    pub(crate) fn of(record: &RepositoryRecord, format: Format) -> Self {
        let Some(policy) = record.policy.as_ref() else { return Self::default() };
        Self { layers: vec![Arc::new(Policy::of(&record.name, format, policy))] }
    }

    /// Those of a member, seen through a group that has `outer`: what either hides is hidden.
    pub(crate) fn within(&self, outer: &Rules) -> Rules {
        Rules { layers: self.layers.iter().chain(&outer.layers).cloned().collect() }
    }

    /// The format of what they are about; `None` where they hide nothing.
    pub(crate) fn format(&self) -> Option<Format> {
        Some(self.layers.first()?.format)
    }

    /// Whether they hide nothing at all.
    pub fn is_open(&self) -> bool {
        self.layers.is_empty()
    }

    /// Whether what they show depends on how old it is.
    pub(crate) fn count_ages(&self) -> bool {
        self.layers.iter().any(|policy| policy.cooldown.is_some())
    }

    /// Why this is not seen.
    pub fn hides(&self, what: &Named<'_>, view: View<'_>) -> Option<Hidden> {
        self.layers.iter().find_map(|policy| policy.hides(what, view))
    }

    /// Whether this is younger than any of them wants it, let through or not.
    pub(crate) fn finds_young(&self, what: &Named<'_>, view: View<'_>) -> bool {
        self.layers.iter().any(|policy| policy.young(what, view).is_some())
    }

    /// Why this may not be seen, whatever its age.
    pub(crate) fn forbids(&self, what: &Named<'_>) -> Option<Hidden> {
        self.layers.iter().find_map(|policy| policy.forbids(what))
    }

    /// Why this is denied, whatever else is known of it.
    pub(crate) fn denies(&self, what: &Named<'_>) -> Option<Hidden> {
        self.layers.iter().find_map(|policy| policy.denies(what))
    }

    /// The next moment at which this may be seen otherwise, without any change.
    pub(crate) fn turns(&self, what: &Named<'_>, view: View<'_>) -> Option<Millis> {
        self.layers.iter().filter_map(|policy| policy.turns(what, view)).min()
    }

    /// The next moment at which an exception ends.
    pub(crate) fn ends(&self, now: Millis) -> Option<Millis> {
        let exceptions = self.layers.iter().flat_map(|policy| &policy.exceptions);
        exceptions.filter_map(|(_, exception)| exception.until).filter(|until| *until > now).min()
    }

    /// What lets this be seen though it is young, each with the repository whose policy that is.
    pub fn exceptions(&self, what: &Named<'_>, view: View<'_>) -> impl Iterator<Item = (&str, &ExceptionRecord)> {
        self.layers.iter().filter_map(move |policy| Some((&*policy.repository, policy.young(what, view)?.1?)))
    }

    /// The same in words, for operators.
    pub(crate) fn lets(&self, what: &Named<'_>, view: View<'_>) -> Option<String> {
        let said = self.exceptions(what, view).map(|(repository, ExceptionRecord { why, who, made, until, .. })| {
            let ends = until.map(|until| format!(", until {until}")).unwrap_or_default();
            format!(
                "`{what}` is let through by the policy of `{repository}`: {who} said so at {made}{ends}, because: {why}"
            )
        });
        Some(said.collect::<Vec<_>>().join("; ")).filter(|said| !said.is_empty())
    }

    /// Why no upstream is asked for this name, where it begins like what is private.
    pub(crate) fn private(&self, what: &Named<'_>) -> Option<Hidden> {
        self.layers.iter().find_map(|policy| policy.private(what))
    }

    /// Whether upstreams are asked for this package though a hosted repository has some of the name.
    pub(crate) fn shares(&self, what: &Named<'_>) -> bool {
        self.layers.iter().any(|policy| policy.shares(what))
    }

    /// Why an upstream's list at this path is not seen: it tells of versions, and nobody here knows which may be.
    pub(crate) fn withholds(&self, path: &str) -> Option<Hidden> {
        self.because(path, Why::List)
    }

    /// Why what is at this path of an upstream is not seen: nobody can tell what it is.
    pub(crate) fn cannot_classify(&self, path: &str) -> Option<Hidden> {
        self.because(path, Why::Unclassified)
    }

    /// The first policy says so of a path; `None`: there is none.
    fn because(&self, path: &str, why: Why) -> Option<Hidden> {
        let policy = self.layers.first()?;
        Some(Hidden { format: policy.format, what: path.to_owned(), why, repository: policy.repository.clone() })
    }
}

impl Policy {
    fn of(repository: &str, format: Format, record: &PolicyRecord) -> Self {
        let patterns = |texts: &[String]| texts.iter().map(|text| Pattern::known(text)).collect();
        let millis = |seconds: u64| i64::try_from(seconds).unwrap_or(i64::MAX / 1000).saturating_mul(1000);
        let exceptions = record.exceptions.iter();
        Self {
            repository: repository.to_owned(),
            format,
            allow: patterns(&record.allow),
            deny: patterns(&record.deny),
            cooldown: record.cooldown_s.map(millis),
            exceptions: exceptions.map(|one| (Pattern::known(&one.package), one.clone())).collect(),
            private: record.private_prefixes.iter().map(|text| Prefix::known(text, format)).collect(),
            shared: patterns(&record.shared),
        }
    }

    fn hides(&self, what: &Named<'_>, view: View<'_>) -> Option<Hidden> {
        self.forbids(what).or_else(|| match self.young(what, view)? {
            (_, Some(_)) => None,
            (until, None) => {
                let (since, cooldown_ms) = (what.since, self.cooldown?);
                Some(self.because(what, Why::Young { since, cooldown_ms, until }))
            }
        })
    }

    fn denies(&self, what: &Named<'_>) -> Option<Hidden> {
        let pattern = self.deny.iter().find(|pattern| pattern.is_about(what))?;
        Some(self.because(what, Why::Denied(pattern.text().to_owned())))
    }

    fn forbids(&self, what: &Named<'_>) -> Option<Hidden> {
        if let Some(denied) = self.denies(what) {
            return Some(denied);
        }
        if !self.allow.is_empty() && !self.allow.iter().any(|pattern| pattern.may_be_about(what)) {
            return Some(self.because(what, Why::NotAllowed));
        }
        self.private(what).filter(|_| what.upstream)
    }

    fn private(&self, what: &Named<'_>) -> Option<Hidden> {
        let prefix = self.private.iter().find(|prefix| prefix.begins(what))?;
        (!self.shares(what)).then(|| self.because(what, Why::Private(prefix.text().to_owned())))
    }

    fn shares(&self, what: &Named<'_>) -> bool {
        self.shared.iter().any(|pattern| pattern.may_be_about(what))
    }

    /// Until when it is younger than it must be, where that is known, and what lets it be seen all the same. An exception holds as
    /// of moments since it was made, so that a later one changes no earlier answer. When it has ended, what it let through is hidden
    /// as of all moments.
    fn young(&self, what: &Named<'_>, view: View<'_>) -> Option<(Option<Millis>, Option<&ExceptionRecord>)> {
        let until = match what.since {
            Since::Always => return None,
            Since::Unknown => self.cooldown.map(|_| None)?,
            Since::Moment(since) | Since::FirstSeen(since) => Some(Millis(since.0.saturating_add(self.cooldown?))),
        };
        // As of a change there is no moment that was asked for.
        let at = view.as_of.map_or(view.now, |as_of| as_of.min(view.now));
        if until.is_some_and(|until| until <= at) {
            return None;
        }
        let made = |one: &ExceptionRecord| view.exceptions_by.is_none_or(|by| one.since.unwrap_or(one.made) <= by);
        let holds = |one: &ExceptionRecord| one.until.is_none_or(|until| until > view.now) && made(one);
        let exception = self.exceptions.iter().find(|(pattern, one)| holds(one) && pattern.is_about(what));
        Some((until, exception.map(|(_, one)| one)))
    }

    fn turns(&self, what: &Named<'_>, view: View<'_>) -> Option<Millis> {
        let (until, exception) = self.young(what, view)?;
        // Of an earlier moment, what was young then stays so.
        let until = until.filter(|_| view.as_of.is_none_or(|as_of| view.now < as_of));
        match exception {
            None => until,
            // Where several hold, it is looked at again when the first ends.
            Some(exception) => exception.until.filter(|ends| until.is_none_or(|until| *ends < until)),
        }
    }

    fn because(&self, what: &Named<'_>, why: Why) -> Hidden {
        Hidden { format: self.format, what: what.to_string(), why, repository: self.repository.clone() }
    }
}
