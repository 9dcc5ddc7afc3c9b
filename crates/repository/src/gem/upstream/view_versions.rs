//! The filtered `/versions` of an upstream, a log that only grows: see [`ViewLog`].

#[cfg(test)]
mod tests;

use crate::error::{Error, Result};
use crate::gem::indexes::GemIndexes;
use crate::gem::indexes::view_log::{MadeOf, Md5OfInfo, Names, ToSay, ViewLog, ViewRules};
use crate::gem::upstream::RemoteGems;
use crate::gem::upstream::learned::Learned;
use crate::gem::upstream::listing::{Listing, Offer};
use crate::gem::upstream::view::TokenRow;
use crate::index::document::Index;
use crate::index::rope::log::Log;
use crate::policy::rules::{Rules, View};
use crate::repository::Repository;
use crate::visible::{next_change, visible};
use format::gem::info::md5_hex;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use telemetry::{Event, Millis, Op};

impl RemoteGems<'_> {
    /// The filtered `/versions`.
    pub(crate) async fn visible_versions(self, event: &mut Event) -> Result<Index> {
        let (repository, now) = (self.remote.repository.clone(), self.now());
        let mut turn = event.waited(Op::TurnWait, self.local.indexes.view.clone().lock_owned()).await;
        let (learned, origin) = (&self.local.indexes.learned, repository.origin);
        if !turn.source().is_some_and(|log| log.is_ahead(now) || learned.has_news(log.heard(origin)))
            && let Some(index) = turn.current(self.local.store, now)
        {
            return Ok(index);
        }
        let stamp = self.local.stamp().join(self.local.settings).ok_or(Error::GivenUp)?;
        turn = self.context.read_index(turn, event).await?;
        if turn.source().is_none() {
            turn.replace(ViewLog::default());
        }
        let update = move |log: &mut ViewLog| log.attempt(|log| bring_up_to_date(log, &repository, now));
        let index: Index;
        (turn, index) = self.context.change_index(turn, event, update).await?;
        let ends = [index.fresh_until, self.remote.repository.ends(now)].into_iter().flatten();
        let stamp = ends.fold(stamp, |stamp, ends| stamp.until(ends));
        Ok(self.context.settle_index(turn, stamp, index))
    }
}

impl GemIndexes {
    /// Records that clients read the unfiltered `/versions`. If a policy is set later, the log of the filtered one
    /// continues from it.
    pub(crate) fn whole_is_read(&self) {
        self.whole_was_read.store(true, Ordering::Relaxed);
        if let Ok(mut log) = self.view.try_lock()
            && log.source().is_some()
        {
            log.clear();
        }
    }
}

/// Brings the log up to date.
fn bring_up_to_date(log: &mut ViewLog, repository: &Arc<Repository>, now: Millis) -> Result<Index> {
    let (followed, origin, view) = (&repository.shared.gems().followed, repository.origin, repository.view(now));
    let indexes = repository.shared.gems();
    let learned = &indexes.learned;
    let dates = followed.read(origin, |known| known.listing.dates_mark()).unwrap_or_default();
    let rules = ViewRules { members: [(repository.id, view.rules.clone())].into(), ..ViewRules::default() };
    let of = made_of(&origin.number().to_string(), dates, &rules);
    let told = learned.news(log.heard(origin));
    let names = match (log.names(&of, &rules, now, None), told.names) {
        (Names::These(names), Some(told)) => Names::These(&names | &told),
        _ => Names::All,
    };
    let few = followed.read(origin, |known| {
        let Names::These(names) = names else { return None };
        let changed = known.changed_since(log.through_of(repository.id)?)?;
        touch(log, names.union(&changed), &known.listing, learned, view);
        Some(known.last)
    });
    let through = match few.ok_or(Error::GivenUp)? {
        Some(through) => through,
        // No reader and no look waits for this.
        None => {
            let known = followed.read(origin, |known| (known.listing.clone(), known.log().clone(), known.last));
            let (listing, lines, through) = known.ok_or(Error::GivenUp)?;
            let was_read = indexes.whole_was_read.load(Ordering::Relaxed);
            touch_all(log, &listing, lines, was_read, learned, view)?;
            through
        }
    };
    log.hear(origin, told.until);
    log.settle(of, rules, [(repository.id, through)], now)
}

pub(crate) fn made_of(members: &str, dates: u64, rules: &ViewRules) -> MadeOf {
    MadeOf { members: members.to_owned(), rules: rules.fingerprint(), dates }
}

/// Touches these names.
pub(super) fn touch<'a>(
    log: &mut ViewLog,
    names: impl IntoIterator<Item = &'a String>,
    listing: &Listing,
    learned: &Learned,
    view: View<'_>,
) {
    for name in names {
        // A policy can name gems that were never listed.
        log.touch_if_known(name, listing.read_one(name, |offer| to_say(listing, learned, offer, view)));
    }
}

/// Touches all names. `lines`: those of the listing. `was_read`: clients may have read them.
pub(super) fn touch_all(
    log: &mut ViewLog,
    listing: &Listing,
    lines: Log,
    was_read: bool,
    learned: &Learned,
    view: View<'_>,
) -> Result<()> {
    let touch_listed = |log: &mut ViewLog| {
        log.forget_due();
        let mut is_young = false;
        listing.read_each(usize::MAX, |offer| {
            let now = to_say(listing, learned, offer, view);
            is_young |= now.until.is_some();
            log.touch(offer.name, now);
        });
        is_young
    };
    if log.is_begun() {
        touch_listed(log);
        for name in log.names_beyond(|name| listing.log().has(name)) {
            log.touch(&name, ToSay::nothing(None));
        }
        return Ok(());
    }
    let whole = lines.len();
    log.begin_as(lines, listing.log().clone());
    // Clients that read the unfiltered file continue from it, and it contained the names that are denied now. Young
    // versions are not published early.
    let is_young = touch_listed(log);
    if is_young || log.has_news() && !was_read || log.is_much(whole) {
        log.begin(view.now)?;
        touch_listed(log);
    }
    Ok(())
}

/// The state of a name that the log has to publish.
pub(crate) fn to_say(listing: &Listing, learned: &Learned, offer: &Offer<'_>, view: View<'_>) -> ToSay {
    let rows: Vec<TokenRow<'_>> = TokenRow::of(offer).collect();
    let tokens: Vec<&str> = visible(&rows, view).map(|seen| seen.entry().token).collect();
    let until = next_change(&rows, view);
    if tokens.is_empty() {
        return ToSay::nothing(until);
    }
    // Some upstreams list `0` in place of all versions. Then only `/info` shows the hidden versions.
    let is_zero = tokens == ["0"];
    let md5 = if tokens.len() == rows.len() && !is_zero {
        Md5OfInfo::Known(offer.md5.to_owned())
    } else {
        let seen: HashSet<&str> = tokens.iter().copied().collect();
        let without = || listing.md5_without(offer.name, |token| !seen.contains(token));
        let basis = basis(view.rules, offer.name, &tokens, offer.md5);
        // The MD5 of a rendered file takes precedence over that of the lines, because the upstream itself may have one
        // line for several changes.
        let (known, likely) = (learned.md5(&basis), if is_zero { None } else { without() });
        Md5OfInfo::Unknown { basis, known, likely }
    };
    ToSay { tokens: tokens.into_iter().map(str::to_owned).collect(), md5, until }
}

/// The input of a gem's filtered `/info`. It differs whenever the file may differ.
pub(super) fn basis(rules: &Rules, name: &str, tokens: &[&str], md5: &str) -> String {
    let rules = if tokens == ["0"] { rules.fingerprint() } else { String::new() };
    md5_hex(format!("{name} {} {md5} {rules}", tokens.join(",")).as_bytes())
}
