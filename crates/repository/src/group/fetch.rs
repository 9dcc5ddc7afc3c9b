//! Finds the member of a group that answers for a file.

use crate::content::Content;
use crate::error::{Error, Result};
use crate::group::Group;
use crate::group::candidates::{Candidates, FolderFact};
use crate::group::member::MemberAnswer;
use crate::group::not_found::NotFound;
use crate::group::outcome::Outcome;
use crate::group::race::{RaceOutcome, race};
use crate::repository::Repository;
use crate::tree::file::File;
use crate::upstream::PATIENCE;
use crate::upstream::known_files::LookedUp;
use std::sync::Arc;
use store::{CachedPath, FolderLook, FolderPresence, Stamp, Unit};
use telemetry::{Counter, Event, MemberRecord, MemberSaid, Millis, Op, Reason};

/// Returns the file from the first member that has it. Hosted members are asked first, because that is done in process
/// and no other member answers for their files. Next comes the member that is known to have the folder, then all others
/// that are not known to lack the file, and last those whose own lists of prefixes exclude the folder.
pub(crate) async fn fetch(group: Group<'_>, file: &File<'_>, now: Millis, event: &mut Event) -> Result<Content> {
    let mut outcome = Outcome::default();
    for leaf in group.hosted() {
        let answer = event.during(Op::MembersAsk, Box::pin(group.ask(leaf, file, now))).await;
        outcome.add_answer(leaf, RaceOutcome::Answer(answer), None, event);
        if outcome.is_found() {
            return outcome.into_result(true, file.path, now);
        }
    }
    let remote = group.open(group.remote().collect(), file, now, outcome.nothing(), event).await?;
    if remote.is_empty() {
        return outcome.into_result(true, file.path, now);
    }
    group.count(Counter::GroupFiles);
    let unlikely = remote.iter().map(|leaf| file.excluded_by(&group.upstream(leaf))).collect();
    let before = event.runs_so_far();
    let (known, looked_up) = group.known(&remote, file, event).await?;
    let facts = group.facts(&remote, &known, file);
    let candidates = Candidates::new(&remote, &facts, unlikely, file, now);
    if !candidates.narrow() {
        event.was_vain_since(&before);
    }
    let came = event.during(Op::MembersAsk, group.ask_remote(&remote, &candidates, looked_up, file, now)).await;
    event.more_mut().sized(came.iter().filter(|came| !matches!(came, RaceOutcome::NotAsked)).count());
    for (((leaf, came), missing), unlikely) in
        remote.into_iter().zip(came).zip(candidates.missing).zip(candidates.unlikely)
    {
        outcome.add_answer(leaf, came, missing.or(unlikely), event);
    }
    outcome.into_result(candidates.is_release, file.path, now)
}

impl Group<'_> {
    /// The remote members that may be asked for the file. The event records why the others are not.
    async fn open<'a>(
        self,
        mut leaves: Vec<&'a Arc<Repository>>,
        file: &File<'_>,
        now: Millis,
        nothing: &mut NotFound,
        event: &mut Event,
    ) -> Result<Vec<&'a Arc<Repository>>> {
        if !leaves.is_empty() {
            let before = event.runs_so_far();
            let guard = self.guard(file, now, event).await?;
            if !leaves.iter().any(|leaf| guard.blocks(leaf)) {
                event.was_vain_since(&before);
            }
            for leaf in leaves.iter().filter(|leaf| guard.blocks(leaf)) {
                event.absorb(guard.blocked_record(leaf));
                nothing.guarded = guard.for_clients(self);
            }
            leaves.retain(|leaf| !guard.blocks(leaf));
        }
        if file.has_query() {
            for leaf in leaves.iter().filter(|leaf| !leaf.keeps_queries()) {
                let detail = "it does not pass queries on to its upstream".to_owned();
                let record = MemberRecord::new(&leaf.record.name, MemberSaid::NotAsked, Some(Reason::InputInvalid));
                event.absorb(MemberRecord { detail, ..record });
            }
            leaves.retain(|leaf| leaf.keeps_queries());
        }
        Ok(leaves)
    }

    /// The known facts about the folder of a file. For an as-of moment there are none. If they are not in memory, the file is looked up
    /// in the same turn, at the members that may have it.
    async fn known(
        self,
        leaves: &[&Arc<Repository>],
        file: &File<'_>,
        event: &mut Event,
    ) -> Result<(Arc<FolderPresence>, Option<Arc<LookedUp>>)> {
        if self.repository.as_of.is_some() {
            return Ok((Arc::default(), None));
        }
        if let Some(known) = self.store.folder_presence_in_memory(file.folder) {
            self.count(Counter::FoldersKnown);
            return Ok((known, None));
        }
        let (revisions, id, looks) = (self.store.revisions(), self.repository.id, &self.remotes.known_files.folders);
        let now = || self.context.recorder.clock().now();
        let holds = |stamp: &Stamp| revisions.holds(stamp, now());
        if let Some(known) = looks.join(id, file.folder, holds, event).await {
            return Ok((known, None));
        }
        // The file itself is what a request for its checksum needs, and the next one for the file.
        let wanted = file.checksum().map_or(*file, |(of, _)| of);
        let remotes: Vec<_> = leaves.iter().map(|leaf| self.upstream(leaf)).collect();
        let before: Vec<_> = remotes.iter().map(|remote| remote.before_look(&wanted)).collect();
        let look = looks.begin(id, file.folder, revisions.stamp([Unit::Of(id, file.folder)], Millis(i64::MAX)));
        let origins = leaves.iter().map(|leaf| leaf.origin).collect();
        let FolderLook { presence, found } = self.store.look_in_folder(wanted.path, origins, now(), event).await?;
        let mut looked_up = Vec::with_capacity(found.len());
        for (of, found) in found {
            let Some(at) = remotes.iter().position(|remote| remote.repository.origin == of) else { continue };
            // Requests that wait for this look find the row in memory.
            if let Some(CachedPath::File(known, _)) = &found {
                remotes[at].know(&wanted, known, before[at].stamp);
            }
            looked_up.push((of, found, before[at]));
        }
        look.tell(presence.clone());
        Ok((presence, Some(LookedUp::new(wanted.path, looked_up))))
    }

    /// The known facts about the folder of a file in each of these members.
    fn facts<'f>(
        self,
        leaves: &[&Arc<Repository>],
        known: &'f FolderPresence,
        file: &File<'_>,
    ) -> Vec<Option<FolderFact<'f>>> {
        let of_leaf = |leaf: &&Arc<Repository>| match file.mapped_in(leaf) {
            Some(has) => Some(FolderFact::Mapped(has)),
            None => known.upstream(leaf.origin).map(FolderFact::Seen),
        };
        leaves.iter().map(of_leaf).collect()
    }

    /// Asks as few of these members as possible.
    async fn ask_remote(
        self,
        leaves: &[&Arc<Repository>],
        candidates: &Candidates,
        looked_up: Option<Arc<LookedUp>>,
        file: &File<'_>,
        now: Millis,
    ) -> Vec<RaceOutcome<MemberAnswer>> {
        let has = |said: &MemberAnswer| said.content.is_ok();
        let ask = |at: usize| {
            self.count(Counter::MembersAsked);
            self.ask_with(leaves[at], file, looked_up.clone(), now)
        };
        let mut came: Vec<RaceOutcome<MemberAnswer>> = leaves.iter().map(|_| RaceOutcome::NotAsked).collect();
        if let Some(pin) = candidates.pin {
            let said = Box::pin(ask(pin)).await;
            // An explanation ends here if the answer of this member is not known.
            let sure = has(&said) || matches!(said.content, Err(Error::Unasked));
            came[pin] = RaceOutcome::Answer(said);
            if sure {
                return came;
            }
        }
        let others = (0..leaves.len()).filter(|at| candidates.pin != Some(*at) && candidates.missing[*at].is_none());
        let (likely, unlikely): (Vec<usize>, Vec<usize>) = others.partition(|at| candidates.unlikely[*at].is_none());
        for others in [likely, unlikely] {
            // The answers of late members are cached for later requests. If late members fail, the circuits of their
            // hosts open.
            let late = |place: usize| self.upstream(leaves[others[place]]).see_through(file.path);
            let all = others.iter().map(|at| ask(*at));
            let raced = race(all, others.len(), self.remotes.width, PATIENCE, has, late).await;
            others.into_iter().zip(raced).for_each(|(at, one)| came[at] = one);
            if came.iter().any(|came| matches!(came, RaceOutcome::Answer(said) if has(said))) {
                break;
            }
        }
        came
    }
}
