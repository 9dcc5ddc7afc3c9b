//! The policy of a repository, and the policies of the groups through which it is seen. Pure: times are arguments.

mod difference;
#[cfg(test)]
mod tests;

use crate::format::Format;
use crate::policy::hidden::{Hidden, Why};
use crate::policy::package_version::{PackageVersion, Since};
use crate::policy::pattern::Pattern;
use crate::policy::prefix::Prefix;
use crate::record::{ExceptionRecord, PolicyRecord, RepositoryRecord};
use std::sync::Arc;
use telemetry::Millis;

/// Policies in layers. If one layer hides something, it is hidden. Clones share the layers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    layers: Vec<Arc<Policy>>,
}

/// The moment and the rules of a view of a repository.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// The view shows the repository at the end of this moment; `None`: now.
    pub as_of: Option<Millis>,
    /// Exceptions of the policy that were made after this moment do not apply; `None`: all apply.
    pub exceptions_by: Option<Millis>,
    /// The current time.
    pub now: Millis,
    /// The rules for visibility.
    pub rules: &'a Rules,
}

/// The policy of one repository.
#[derive(Debug, PartialEq, Eq)]
struct Policy {
    repository: String,
    format: Format,
    allow: Vec<Pattern>,
    deny: Vec<Pattern>,
    /// The cooldown, in milliseconds.
    cooldown: Option<i64>,
    exceptions: Vec<(Pattern, ExceptionRecord)>,
    private: Vec<Prefix>,
    shared: Vec<Pattern>,
}

/// Rules that hide nothing.
pub(crate) static OPEN: Rules = Rules { layers: Vec::new() };

impl Rules {
    /// The rules of a repository with these settings.
    pub(crate) fn of(record: &RepositoryRecord, format: Format) -> Self {
        let Some(policy) = record.policy.as_ref() else { return Self::default() };
        Self { layers: vec![Arc::new(Policy::of(&record.name, format, policy))] }
    }

    /// The rules of a member that is seen through a group with the rules `outer`.
    pub(crate) fn within(&self, outer: &Rules) -> Rules {
        Rules { layers: self.layers.iter().chain(&outer.layers).cloned().collect() }
    }

    /// The format of the repository; `None`: the rules hide nothing.
    pub(crate) fn format(&self) -> Option<Format> {
        Some(self.layers.first()?.format)
    }

    /// Whether the rules hide nothing.
    pub fn is_open(&self) -> bool {
        self.layers.is_empty()
    }

    /// Whether a layer has a cooldown, so that the age of a version matters.
    pub(crate) fn count_ages(&self) -> bool {
        self.layers.iter().any(|policy| policy.cooldown.is_some())
    }

    /// The longest cooldown, in milliseconds.
    pub(crate) fn cooldown(&self) -> Option<i64> {
        self.layers.iter().filter_map(|policy| policy.cooldown).max()
    }

    /// Why this is hidden; `None`: it is visible. A reason that does not end with a cooldown comes first, whichever layer has it: a
    /// client that was told of a cooldown would wait in vain. A file is refused in the same order (`upstream/refused.rs`).
    pub fn hides(&self, what: &PackageVersion<'_>, view: View<'_>) -> Option<Hidden> {
        self.forbids(what).or_else(|| self.layers.iter().find_map(|policy| policy.hides_young(what, view)))
    }

    /// Whether this is younger than a cooldown, regardless of exceptions.
    pub(crate) fn finds_young(&self, what: &PackageVersion<'_>, view: View<'_>) -> bool {
        self.layers.iter().any(|policy| policy.young(what, view).is_some())
    }

    /// Why this is hidden regardless of its age.
    pub(crate) fn forbids(&self, what: &PackageVersion<'_>) -> Option<Hidden> {
        self.layers.iter().find_map(|policy| policy.forbids(what))
    }

    /// Why this is denied.
    pub(crate) fn denies(&self, what: &PackageVersion<'_>) -> Option<Hidden> {
        self.layers.iter().find_map(|policy| policy.denies(what))
    }

    /// The next moment at which this may become visible or hidden without any change.
    pub(crate) fn next_change(&self, what: &PackageVersion<'_>, view: View<'_>) -> Option<Millis> {
        self.layers.iter().filter_map(|policy| policy.next_change(what, view)).min()
    }

    /// Whether there is an exception.
    pub(crate) fn has_exceptions(&self) -> bool {
        self.layers.iter().any(|policy| !policy.exceptions.is_empty())
    }

    /// The next moment at which an exception ends.
    pub(crate) fn ends(&self, now: Millis) -> Option<Millis> {
        let exceptions = self.layers.iter().flat_map(|policy| &policy.exceptions);
        exceptions.filter_map(|(_, exception)| exception.until).filter(|until| *until > now).min()
    }

    /// The exceptions that make this visible before its cooldown ends, each with the repository that has the policy.
    pub fn exceptions(
        &self,
        what: &PackageVersion<'_>,
        view: View<'_>,
    ) -> impl Iterator<Item = (&str, &ExceptionRecord)> {
        self.layers.iter().filter_map(move |policy| Some((&*policy.repository, policy.young(what, view)?.1?)))
    }

    /// The same in words, for operators.
    pub(crate) fn describe_exceptions(&self, what: &PackageVersion<'_>, view: View<'_>) -> Option<String> {
        let said = self.exceptions(what, view).map(|(repository, ExceptionRecord { why, who, made, until, .. })| {
            let ends = until.map(|until| format!(", until {until}")).unwrap_or_default();
            format!(
                "`{what}` is let through by the policy of `{repository}`: {who} said so at {made}{ends}, because: {why}"
            )
        });
        Some(said.collect::<Vec<_>>().join("; ")).filter(|said| !said.is_empty())
    }

    /// Why no upstream is called for this name, if it has a private prefix.
    pub(crate) fn private(&self, what: &PackageVersion<'_>) -> Option<Hidden> {
        self.layers.iter().find_map(|policy| policy.private(what))
    }

    /// Whether upstreams are called for this package although a hosted repository has one of the same name.
    pub(crate) fn shares(&self, what: &PackageVersion<'_>) -> bool {
        self.layers.iter().any(|policy| policy.shares(what))
    }

    /// Whether [`Rules::shares`] can be true.
    pub(crate) fn share_any(&self) -> bool {
        self.layers.iter().any(|policy| !policy.shared.is_empty())
    }

    /// Why an upstream's list of versions at this path is hidden.
    pub(crate) fn withholds(&self, path: &str) -> Option<Hidden> {
        self.because(path, Why::List)
    }

    /// Why the file at this path of an upstream is hidden: the path does not identify its package.
    pub(crate) fn cannot_classify(&self, path: &str) -> Option<Hidden> {
        self.because(path, Why::Unclassified)
    }

    /// A reason of the first policy; `None`: there is no policy.
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

    fn hides_young(&self, what: &PackageVersion<'_>, view: View<'_>) -> Option<Hidden> {
        match self.young(what, view)? {
            (_, Some(_)) => None,
            (until, None) => {
                let (since, cooldown_ms) = (what.since, self.cooldown?);
                Some(self.because(what, Why::Young { since, cooldown_ms, until }))
            }
        }
    }

    fn denies(&self, what: &PackageVersion<'_>) -> Option<Hidden> {
        let pattern = self.deny.iter().find(|pattern| pattern.denies(what))?;
        Some(self.because(what, Why::Denied(pattern.text().to_owned())))
    }

    fn forbids(&self, what: &PackageVersion<'_>) -> Option<Hidden> {
        if let Some(denied) = self.denies(what) {
            return Some(denied);
        }
        if !self.allow.is_empty() && !self.allow.iter().any(|pattern| pattern.may_be_about(what)) {
            return Some(self.because(what, Why::NotAllowed));
        }
        self.private(what).filter(|_| what.upstream)
    }

    fn private(&self, what: &PackageVersion<'_>) -> Option<Hidden> {
        let prefix = self.private.iter().find(|prefix| prefix.begins(what))?;
        (!self.shares(what)).then(|| self.because(what, Why::Private(prefix.text().to_owned())))
    }

    fn shares(&self, what: &PackageVersion<'_>) -> bool {
        self.shared.iter().any(|pattern| pattern.may_be_about(what))
    }

    /// The moment at which this is old enough, if it is known, and the exception that makes it visible before; `None`:
    /// it is old enough now. An exception applies to as-of moments after it was made, so a later exception changes no
    /// earlier answer. Once an exception has ended, it applies to no moment.
    fn young(&self, what: &PackageVersion<'_>, view: View<'_>) -> Option<(Option<Millis>, Option<&ExceptionRecord>)> {
        let until = match what.since {
            Since::Always => return None,
            Since::Unknown => self.cooldown.map(|_| None)?,
            Since::Moment(since) | Since::By(since) | Since::FirstSeen(since) => {
                Some(Millis(since.0.saturating_add(self.cooldown?)))
            }
        };
        // A view as of a change has no moment in its URL.
        let at = view.as_of.map_or(view.now, |as_of| as_of.min(view.now));
        if until.is_some_and(|until| until <= at) {
            return None;
        }
        let made = |one: &ExceptionRecord| view.exceptions_by.is_none_or(|by| one.since.unwrap_or(one.made) <= by);
        let holds = |one: &ExceptionRecord| one.until.is_none_or(|until| until > view.now) && made(one);
        let exception = self.exceptions.iter().find(|(pattern, one)| holds(one) && pattern.is_about(what));
        Some((until, exception.map(|(_, one)| one)))
    }

    fn next_change(&self, what: &PackageVersion<'_>, view: View<'_>) -> Option<Millis> {
        let (until, exception) = self.young(what, view)?;
        // In a view of an earlier moment, a version that was young then stays young.
        let until = until.filter(|_| view.as_of.is_none_or(|as_of| view.now < as_of));
        match exception {
            None => until,
            // If several exceptions apply, the decision is made again when the first ends.
            Some(exception) => exception.until.filter(|ends| until.is_none_or(|until| *ends < until)),
        }
    }

    fn because(&self, what: &PackageVersion<'_>, why: Why) -> Hidden {
        Hidden { format: self.format, what: what.to_string(), why, repository: self.repository.clone() }
    }
}
