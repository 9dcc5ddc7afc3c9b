//! `/versions` of a group, a log that only grows: see [`ViewLog`]. The content of the group is unknown if the index of a
//! member was never seen.

use crate::content::{Freshness, How, soonest};
use crate::error::{Error, Result};
use crate::gem::group::GroupGems;
use crate::gem::group::members::KnownMembers;
use crate::gem::group::owners::Recent;
use crate::gem::group::regrouped::{Regrouping, Stood};
use crate::gem::hosted::Hosted;
use crate::gem::indexes::view_log::{GemStates, MadeOf, Names, ToSay, ViewLog, ViewRules};
use crate::gem::upstream::look::LOOK_EVERY;
use crate::gem::upstream::view_versions::made_of;
use crate::gem::versions::touched;
use crate::group::is_hosted;
use crate::index::document::Index;
use crate::repository::Repository;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::{RepositoryId, Seq, Stamp};
use telemetry::{Event, Millis, Op};

/// From this number of names on, all names are checked.
const MANY: usize = 20_000;
/// From this number of names on, all names of the hosted members are read, which costs less than reading each
/// separately.
const SINGLY: usize = 500;

/// The names that may need a new line, and the changes of the members that they include.
struct News {
    names: Names,
    through: Vec<(RepositoryId, Seq)>,
}

/// The log, and what a reader found in it.
pub(crate) struct ReadLog<T> {
    pub(crate) index: Index,
    /// The stamp that it is valid for.
    pub(crate) stamp: Stamp,
    pub(crate) found: T,
}

impl GroupGems<'_> {
    /// Checks the indexes of all remote members. This fails if one of them is unknown, except for the default upstream
    /// where hosted members have gems: a new server is of use before it reaches that. A client that gets no gem at all
    /// would not say why.
    pub(crate) async fn look_at_all(self, event: &mut Event) -> Result<()> {
        let unknown = self.look(Recent::Usual, event).await;
        self.tell_unknown(&unknown, event);
        let may_be_missing = |place: usize| self.why_missing(&self.leaves()[place]).is_some();
        let is_partial = unknown.iter().all(|(place, _)| may_be_missing(*place))
            && (unknown.is_empty() || self.has_hosted_gems(event).await?);
        if let Some((_, error)) = unknown.into_iter().next().filter(|_| !is_partial) {
            return Err(error);
        }
        self.tell_all(event);
        Ok(())
    }

    /// Whether a hosted member has or had a gem.
    async fn has_hosted_gems(self, event: &mut Event) -> Result<bool> {
        for leaf in self.leaves().iter().filter(|leaf| is_hosted(leaf)) {
            if !self.local.store.units_ever(leaf.id, "", 1, event).await?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Why the oldest of the upstreams' indexes could not be confirmed recently, and when the first of them is checked
    /// again.
    pub(crate) fn freshness(self) -> (Option<Freshness>, Option<Millis>) {
        let (mut stale, mut again): (Option<Freshness>, Option<Millis>) = (None, None);
        for leaf in self.leaves().iter().filter(|leaf| !is_hosted(leaf)) {
            let known = leaf.shared.gems().followed.read(leaf.origin, |known| (known.tried, known.stale(self.now())));
            let Some((tried, old)) = known else {
                if let Some(failure) = self.why_missing(leaf) {
                    stale = stale.or(Some(Freshness { how: How::Stale(failure.reason), age_s: 0 }));
                    again = soonest(again, Some(self.now()));
                }
                continue;
            };
            again = soonest(again, Some(tried.plus(LOOK_EVERY)));
            stale = old.filter(|old| stale.is_none_or(|stale| stale.age_s < old.age_s)).or(stale);
        }
        (stale, again.filter(|_| self.local.repository.as_of.is_none()))
    }

    /// Brings the log up to date, and returns what `read` finds in it.
    pub(crate) async fn log<T>(
        self,
        event: &mut Event,
        read: impl FnOnce(&ViewLog, &Index) -> T,
    ) -> Result<ReadLog<T>> {
        let (now, Hosted { context, store, indexes, settings, .. }) = (self.now(), self.local);
        let mut turn = event.waited(Op::TurnWait, indexes.view.clone().lock_owned()).await;
        if !turn.source().is_some_and(|log| log.is_ahead(now) || self.is_told(log))
            && let Some(index) = turn.current(store, now)
            && let (Some(stamp), Some(log)) = (turn.stamp(), turn.source())
        {
            return Ok(ReadLog { stamp, found: read(log, &index), index });
        }
        let stamp = self.local.stamp().join(settings).ok_or(Error::GivenUp)?; // before the work
        turn = context.read_index(turn, event).await?;
        if turn.source().is_none() {
            turn.replace(ViewLog::default());
        }
        let (rules, told) = (self.rules(), self.heard_of());
        let of = self.made_of(&rules);
        let begins = if turn.made()?.is_begun() { now } else { self.begins(now, event).await? };
        let News { names, through } = self.news(turn.made()?, &of, &rules, event).await?;
        let members = match &names {
            Names::These(names) if names.len() <= SINGLY => {
                KnownMembers::of_names(self, names.iter().map(String::as_str), event).await?
            }
            _ => KnownMembers::of_all(self, event).await?,
        };
        let change = move |log: &mut ViewLog| {
            log.attempt(|log| {
                match &names {
                    Names::These(names) => names.iter().for_each(|name| log.touch_if_known(name, members.says(name))),
                    Names::All => touch_all(log, &members, begins)?,
                }
                log.settle(of, rules, through, now)
            })
        };
        let mut index: Index;
        (turn, index) = context.change_index(turn, event, change).await?;
        told.into_iter().for_each(|(origin, until)| turn.made_mut().map_or((), |log| log.hear(origin, until)));
        let ends = [index.fresh_until, self.local.repository.ends(now)].into_iter().flatten();
        let stamp = ends.fold(stamp, |stamp, ends| stamp.until(ends));
        let found = read(turn.made()?, &index);
        index = context.settle_index(turn, stamp, index);
        Ok(ReadLog { index, stamp, found })
    }

    /// The date of a log that begins now, at which all listed versions existed. Without upstreams it is that of the last change of the
    /// members, so that a data folder that was lost has the same log again.
    async fn begins(self, now: Millis, event: &mut Event) -> Result<Millis> {
        if !self.leaves().iter().all(|leaf| is_hosted(leaf)) {
            return Ok(now);
        }
        let members = self.leaves().iter().map(|leaf| leaf.id).collect();
        Ok(self.local.store.last_line_at(members, event).await?.unwrap_or(self.local.repository.record.created))
    }

    /// The names that may need a new line.
    async fn news(self, log: &ViewLog, of: &MadeOf, rules: &ViewRules, event: &mut Event) -> Result<News> {
        let mut through = Vec::new();
        let mut changed = Some(BTreeSet::new());
        let stood: Vec<Stood> = self.leaves().iter().map(|leaf| Stood::of(leaf)).collect();
        let regrouping = log.members().and_then(|before| Regrouping::of(before, &stood));
        for leaf in self.leaves() {
            let after = log.through_of(leaf.id);
            let is_added = regrouping.as_ref().is_some_and(|regrouping| regrouping.adds(leaf));
            if is_hosted(leaf) {
                through.push((leaf.id, self.local.store.last()));
                match (&mut changed, after) {
                    _ if is_added => {}
                    (Some(names), Some(after)) => names.extend(self.published_since(leaf, after, event).await?),
                    _ => changed = None,
                }
                continue;
            }
            let known = |after: Option<Seq>| {
                let read = |known: &crate::gem::upstream::index::Known| {
                    (known.last, after.and_then(|after| known.changed_since(after)))
                };
                leaf.shared.gems().followed.read(leaf.origin, read)
            };
            let Some((last, names)) = known(after) else { continue };
            through.push((leaf.id, last));
            let learned = leaf.shared.gems().learned.news(log.heard(leaf.origin)).names;
            match (&mut changed, names, learned) {
                _ if is_added => {}
                (Some(changed), Some(names), Some(learned)) => changed.extend(names.into_iter().chain(learned)),
                _ => changed = None,
            }
        }
        let shared = self.local.indexes.learned.news(log.heard(self.local.repository.origin)).names;
        match (&mut changed, shared) {
            (Some(changed), Some(shared)) => changed.extend(shared),
            _ => changed = None,
        }
        // Read after the numbers of the members' last changes: a later change of an added member is touched twice, and
        // none is missed.
        let regrouped = match regrouping {
            Some(regrouping) if changed.is_some() => self.regrouped(&regrouping, MANY, event).await?,
            _ => None,
        };
        let names = match (changed, log.names(of, rules, self.now(), regrouped)) {
            (Some(changed), Names::These(mut names)) => {
                names.extend(changed);
                Some(names)
            }
            _ => None,
        };
        let few = names.filter(|names| names.len() <= MANY);
        Ok(News { names: few.map_or(Names::All, Names::These), through })
    }

    async fn published_since(
        self,
        leaf: &Arc<Repository>,
        mut after: Seq,
        event: &mut Event,
    ) -> Result<BTreeSet<String>> {
        let mut names = BTreeSet::new();
        let hosted = Hosted::of(self.services, leaf, self.local.settings);
        loop {
            let more = touched(hosted, after, event).await?;
            names.extend(more.gems.into_keys());
            after = more.through;
            if more.last || names.len() > MANY {
                return Ok(names);
            }
        }
    }

    /// Whether new facts of an upstream were learned since the log was made.
    fn is_told(self, log: &ViewLog) -> bool {
        self.heard_of().iter().any(|(origin, until)| log.heard(*origin) != *until)
    }

    fn heard_of(self) -> Vec<(store::Origin, u64)> {
        let remotes = self.leaves().iter().filter(|leaf| !is_hosted(leaf)).chain([self.local.repository]);
        let told = |leaf: &Arc<Repository>| (leaf.origin, leaf.shared.gems().learned.last());
        remotes.map(told).collect()
    }

    fn rules(self) -> ViewRules {
        let leaves = self.leaves().iter();
        let claims = leaves.flat_map(|leaf| leaf.record.claims.iter().map(|name| (leaf.id, name.clone())));
        let rules = self.leaves().iter().map(|leaf| (leaf.id, leaf.rules.clone()));
        ViewRules { members: rules.collect(), claims: claims.collect() }
    }

    fn made_of(self, rules: &ViewRules) -> MadeOf {
        let members: Vec<String> = self.leaves().iter().map(|leaf| Stood::of(leaf).to_string()).collect();
        let mark =
            |leaf: &Arc<Repository>| leaf.shared.gems().followed.read(leaf.origin, |known| known.listing.dates_mark());
        let dates = self.leaves().iter().filter_map(mark).fold(0, u64::wrapping_add);
        made_of(&members.join(","), dates, rules)
    }

    /// The published state of each name in this view, and when it changes.
    pub(crate) async fn states(self, event: &mut Event) -> Result<GemStates> {
        let members = KnownMembers::of_all(self, event).await?;
        let says = match self.local.repository.as_of {
            None => {
                let mut says = BTreeMap::new();
                members.each(|name, to_say| drop(says.insert(name.to_owned(), to_say)));
                says
            }
            Some(_) => self.past_says(&members, event).await?,
        };
        let until = says.values().filter_map(|says| says.until).min();
        Ok((says, until))
    }
}

/// Touches all names. A new log begins with the lines of the largest upstream if all of them are visible.
fn touch_all(log: &mut ViewLog, members: &KnownMembers, begins: Millis) -> Result<()> {
    if !log.is_begun() {
        if let Some((lines, said)) = members.largest() {
            let whole = lines.len();
            log.begin_as(lines, said);
            members.each_beside_largest(|name, says| log.touch(name, says));
            if !log.revises() && !log.is_much(whole) {
                return Ok(());
            }
        }
        log.begin(begins)?;
    }
    log.forget_due();
    members.each(|name, says| log.touch(name, says));
    for name in log.names_beyond(|name| members.says(name).is_some()) {
        log.touch(&name, ToSay::nothing(None));
    }
    Ok(())
}
