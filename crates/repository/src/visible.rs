//! The only way from rows to anything that a client may see.
//!
//! Indexes, metadata, downloads and lists are all made from [`Visible`] entries, and only [`visible`] makes them. So a
//! policy that is added here applies to every route at once (invariant 4 of ARCHITECTURE.md).

use crate::format::Format;
use crate::policy::hidden::Hidden;
use crate::policy::package_version::{PackageVersion, Since};
use crate::policy::rules::View;
use store::{Entry, State};
use telemetry::{Millis, give_way};

/// A row, with all columns or with a part of them.
pub trait Row {
    /// Its state, the date of its publication, and the date of its last change.
    fn lifecycle(&self) -> (State, Millis, Millis);

    /// Its package and version in a repository of this format; `None`: no policy applies to it.
    fn coordinates(&self, format: Format) -> Option<PackageVersion<'_>>;
}

impl Row for Entry {
    fn lifecycle(&self) -> (State, Millis, Millis) {
        (self.state, self.published, self.changed)
    }

    fn coordinates(&self, format: Format) -> Option<PackageVersion<'_>> {
        Some(PackageVersion::new(format, format.rules().entry(self)?, Since::Moment(self.first_published())))
    }
}

impl View<'_> {
    /// Why the policy hides a published row.
    fn hides(&self, row: &impl Row) -> Option<Hidden> {
        self.rules.hides(&row.coordinates(self.rules.format()?)?, *self)
    }

    /// Whether the row is younger than the cooldown, regardless of exceptions.
    pub(crate) fn finds_young(self, row: &impl Row) -> bool {
        let what = self.rules.format().and_then(|format| row.coordinates(format));
        what.is_some_and(|what| self.rules.finds_young(&what, self))
    }

    /// The exceptions that make a row visible before its cooldown ends, in words.
    fn describe_exceptions(&self, row: &impl Row) -> Option<String> {
        self.rules.describe_exceptions(&row.coordinates(self.rules.format()?)?, *self)
    }

    fn offers(&self, row: &impl Row) -> bool {
        let (state, published, changed) = row.lifecycle();
        let as_of = self.as_of.unwrap_or(Millis(i64::MAX));
        published <= as_of && !(state == State::Withdrawn && changed <= as_of)
    }
}

/// A visible entry.
#[derive(Debug)]
pub struct Visible<'a, R = Entry>(&'a R);

impl<R> Clone for Visible<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Visible<'_, R> {}

impl<'a, R> Visible<'a, R> {
    /// The entry.
    pub fn entry(self) -> &'a R {
        self.0
    }
}

/// The visible ones of `rows`, in order.
pub fn visible<'a, R: Row>(rows: &'a [R], view: View<'_>) -> impl Iterator<Item = Visible<'a, R>> {
    let seen = move |row: &&R| {
        // The caller renders all of them, and many take long, so the thread yields here.
        give_way();
        view.offers(*row) && view.hides(*row).is_none()
    };
    rows.iter().filter(seen).map(Visible)
}

/// Decides whether a row is visible. `Ok` has the exceptions that make it visible, in words; `Err` has the reason why
/// the policy hides it, or `None` if it is not published.
pub fn shown<R: Row>(row: &R, view: View<'_>) -> Result<Option<String>, Option<Hidden>> {
    match view.offers(row) {
        true => view.hides(row).map_or_else(|| Ok(view.describe_exceptions(row)), |why| Err(Some(why))),
        false => Err(None),
    }
}

/// The published ones of `rows` that the policy hides, each with the reason.
pub fn hidden<'a, R: Row>(rows: &'a [R], view: View<'_>) -> impl Iterator<Item = (&'a R, Hidden)> {
    rows.iter().filter(move |row| view.offers(*row)).filter_map(move |row| Some((row, view.hides(row)?)))
}

/// Whether none of `rows` is visible although some were published by the moment of the view. They were removed or are
/// hidden, and clients that know them must learn that.
pub(crate) fn gone<R: Row>(rows: &[R], view: View<'_>) -> bool {
    let by = view.as_of.unwrap_or(Millis(i64::MAX));
    visible(rows, view).next().is_none() && rows.iter().any(|row| row.lifecycle().1 <= by)
}

/// Whether there are published ones among `rows` and the policy hides all of them.
pub(crate) fn all_hidden<R: Row>(rows: &[R], view: View<'_>) -> bool {
    visible(rows, view).next().is_none() && hidden(rows, view).next().is_some()
}

/// The next moment at which other ones of `rows` become visible, without any change of them.
pub fn next_change<R: Row>(rows: &[R], view: View<'_>) -> Option<Millis> {
    let format = view.rules.format()?;
    let rows = rows.iter().filter(|row| view.offers(*row));
    rows.filter_map(|row| view.rules.next_change(&row.coordinates(format)?, view)).min()
}

/// The removed ones of `rows`, for operators who may restore them. Nothing else is made from them.
pub(crate) fn removed(rows: &[Entry]) -> impl Iterator<Item = &Entry> {
    rows.iter().filter(|row| row.state == State::Withdrawn)
}

/// What was done to a withdrawn entry: it was "yanked".
pub(crate) fn verb_of(withdrawal: Option<&store::Withdrawal>, format: Format) -> &'static str {
    match withdrawal {
        Some(store::Withdrawal::Retracted) => "yanked",
        // Earlier versions of this program recorded no reason, and withdrew only yanked versions.
        None if format.rules().has_yanks() => "yanked",
        Some(store::Withdrawal::Deleted) | None => "deleted",
        Some(store::Withdrawal::Pruned) => "removed by the retention of snapshots",
        Some(store::Withdrawal::Cleanup { .. }) => "removed by a cleanup",
        Some(store::Withdrawal::Purged { .. }) => "purged",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::rules::Rules;
    use crate::record::{PolicyRecord, RepositoryRecord};
    use store::{Hashes, RepositoryKind};

    fn entry(key: &str, state: State, published: i64, changed: i64) -> Entry {
        let live = Entry::live("rack".into(), key.into(), Hashes::of(b""), Millis(published));
        Entry { state, changed: Millis(changed), ..live }
    }

    fn keys(rows: &[Entry], as_of: Option<i64>) -> Vec<&str> {
        let view = View { as_of: as_of.map(Millis), exceptions_by: None, now: Millis(100), rules: &Rules::default() };
        visible(rows, view).map(|seen| seen.entry().key.as_str()).collect()
    }

    #[test]
    fn withdrawn_entries_are_not_seen_but_were_before() {
        let rows = [entry("a", State::Live, 10, 10), entry("b", State::Withdrawn, 20, 30)];
        assert_eq!(keys(&rows, None), ["a"]);
        assert_eq!(keys(&rows, Some(9)), [""; 0]);
        assert_eq!(keys(&rows, Some(29)), ["a", "b"]);
        assert_eq!(keys(&rows, Some(30)), ["a"]);
    }

    #[test]
    fn what_a_policy_hides_is_not_among_what_is_seen_and_says_why_and_until_when() {
        let mut record = RepositoryRecord::new("gems", "gem", RepositoryKind::Hosted, Millis(0));
        record.policy = Some(Box::new(PolicyRecord { cooldown_s: Some(1), ..PolicyRecord::default() }));
        let rules = Rules::of(&record, Format::named("gem").unwrap());
        let rows =
            [entry("a", State::Live, 10, 10), entry("b", State::Withdrawn, 20, 30), entry("c", State::Live, 50, 50)];
        let at = |now| View { as_of: None, exceptions_by: None, now: Millis(now), rules: &rules };
        let seen = |now| visible(&rows, at(now)).map(|seen| seen.entry().key.as_str()).collect::<Vec<_>>();
        assert_eq!((seen(1009), seen(1010), seen(1050)), (vec![], vec!["a"], vec!["a", "c"]));
        let unseen: Vec<_> = hidden(&rows, at(1010)).map(|(row, why)| (row.key.as_str(), why.repository)).collect();
        assert_eq!(unseen, [("c", "gems".to_owned())], "what was withdrawn is not offered anyway");
        assert_eq!((next_change(&rows, at(0)), next_change(&rows, at(1010))), (Some(Millis(1010)), Some(Millis(1050))));
        assert_eq!(next_change(&rows, at(1050)), None);
    }
}
