//! Which member of a group answers for a file.

use crate::error::Error;
use crate::found::Found;
use crate::group::Group;
use crate::group::candidates::Candidates;
use crate::group::member::MemberAnswer;
use crate::group::namespace_guard;
use crate::group::outcome::Outcome;
use crate::group::race::{RaceOutcome, race};
use crate::repository::Repository;
use crate::upstream::{PATIENCE, WIDTH};
use format::tree;
use std::sync::Arc;
use store::Folder;
use telemetry::{Counter, Event, Millis};

/// The file at `path`, of the first member that has it. Hosted members are first: they are asked in process, and what they hold
/// is nobody else's to answer. Then who is known to have its folder, then all others that are not known to lack it; and at last those
/// that say themselves that they have nothing there.
pub(crate) async fn fetch(group: Group<'_>, path: &str, now: Millis, event: &mut Event) -> Result<Found, Error> {
    let mut outcome = Outcome::default();
    for leaf in group.hosted() {
        outcome.told(leaf, RaceOutcome::Answer(Box::pin(group.ask(leaf, path, now)).await), None, event);
        if outcome.is_sure() {
            return outcome.found(true, path, now);
        }
    }
    let remote = group.open(group.remote().collect(), path, now, event).await?;
    if remote.is_empty() {
        return outcome.found(true, path, now);
    }
    group.count(Counter::GroupFiles);
    let unlikely = remote.iter().map(|leaf| group.upstream(leaf).excludes(path)).collect();
    let leads = Candidates::new(&remote, (&*group.known(tree::folder(path), event).await?, unlikely), path, now);
    let came = group.ask_remote(&remote, &leads, path, now).await;
    for (((leaf, came), missing), unlikely) in remote.into_iter().zip(came).zip(leads.missing).zip(leads.unlikely) {
        outcome.told(leaf, came, missing.or(unlikely), event);
    }
    outcome.found(leads.steady, path, now)
}

impl Group<'_> {
    /// Those of these remote members that may be asked for the file; the event is told of the others.
    async fn open<'a>(
        self,
        mut leaves: Vec<&'a Arc<Repository>>,
        path: &str,
        now: Millis,
        event: &mut Event,
    ) -> Result<Vec<&'a Arc<Repository>>, Error> {
        if !leaves.is_empty() {
            let ours = self.ours(path, now, event).await?;
            leaves
                .iter()
                .filter(|leaf| ours.kept_from(leaf))
                .for_each(|leaf| event.absorb(namespace_guard::kept(leaf)));
            leaves.retain(|leaf| !ours.kept_from(leaf));
        }
        Ok(leaves)
    }

    /// What is known of a folder; as of another moment, nothing.
    async fn known(self, folder: &str, event: &mut Event) -> Result<Arc<Folder>, Error> {
        if self.repository.as_of.is_some() {
            return Ok(Arc::default());
        }
        match self.store.folder_in_memory(folder) {
            Some(known) => {
                self.count(Counter::FoldersKnown);
                Ok(known)
            }
            None => Ok(self.store.folder(folder, event).await?),
        }
    }

    /// Asks as few of these as it takes.
    async fn ask_remote(
        self,
        leaves: &[&Arc<Repository>],
        leads: &Candidates,
        path: &str,
        now: Millis,
    ) -> Vec<RaceOutcome<MemberAnswer>> {
        let has = |said: &MemberAnswer| said.content.is_ok();
        let ask = |at: usize| {
            self.count(Counter::MembersAsked);
            self.ask(leaves[at], path, now)
        };
        let mut came: Vec<RaceOutcome<MemberAnswer>> = leaves.iter().map(|_| RaceOutcome::NotAsked).collect();
        if let Some(pin) = leads.pin {
            let said = Box::pin(ask(pin)).await;
            // Nothing is explained by others where it is not known what this one would say.
            let sure = has(&said) || matches!(said.content, Err(Error::Unasked));
            came[pin] = RaceOutcome::Answer(said);
            if sure {
                return came;
            }
        }
        let others = (0..leaves.len()).filter(|at| leads.pin != Some(*at) && leads.missing[*at].is_none());
        let (likely, unlikely): (Vec<usize>, Vec<usize>) = others.partition(|at| leads.unlikely[*at].is_none());
        for others in [likely, unlikely] {
            // Whoever comes next may be told what those say who are late; and if they fail, they are left alone in time.
            let late = |place: usize| self.upstream(leaves[others[place]]).see_through(path);
            let all = (others.iter().map(|at| ask(*at)), others.len());
            let raced = race(all, (WIDTH, PATIENCE), has, late).await;
            others.into_iter().zip(raced).for_each(|(at, one)| came[at] = one);
            if came.iter().any(|came| matches!(came, RaceOutcome::Answer(said) if has(said))) {
                break;
            }
        }
        came
    }
}
