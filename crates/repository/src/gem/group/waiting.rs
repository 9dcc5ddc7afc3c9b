//! Finds names that wait for a decision: an upstream began to list a name of another member that comes after it, or had
//! the name of a hosted member when it was first seen.

use crate::error::Result;
use crate::gem::group::collisions::Collision;
use crate::gem::group::members::KnownMembers;
use crate::gem::group::waiting_names::{MemberMark, NAMES_MAX, Noted};
use crate::package::listed::Among;
use crate::repository::{Repository, RepositoryTable};
use crate::services::Services;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::Lane;
use telemetry::{Event, Job, Op, Outcome};

/// Maximum number of names in a log line.
const TOLD_MAX: usize = 20;

/// Looks for waiting names in each gem group, as far as the members' indexes are known, and reports new ones.
pub(crate) async fn note_waiting(services: &Services, table: &RepositoryTable) {
    for group in table.by_name.values().filter(|one| one.is_group_of_gems()) {
        let mut event = Event::job("names.wait", services.clock.now());
        event.subject.repository = group.record.name.as_str().into();
        match Box::pin(find_waiting(services, group, &mut event)).await {
            Ok(new) if new.is_empty() => continue,
            Ok(new) => {
                event.outcome = Some(Outcome::Done);
                event.detail = first_of(&new);
                let name = &group.record.name;
                services.context.recorder.log().warn(
                    "several members list the same gem names: an administrator must give each name to one of them",
                    &[("group", name), ("names", &event.detail), ("see", &format!("daylight repo show {name}"))],
                );
            }
            Err(error) => {
                (event.outcome, event.reason) = (Some(Outcome::Failed), Some(error.reason()));
                event.detail = error.to_string();
            }
        }
        drop(Job::of(&services.context.recorder, event));
    }
}

/// The names that began to wait since the last time, in words.
async fn find_waiting(services: &Services, group: &Arc<Repository>, event: &mut Event) -> Result<Vec<String>> {
    let before = group.shared.gems().waiting.noted();
    let marks: Vec<MemberMark> = group.leaves.iter().map(mark).collect();
    let is_same = before.as_ref().is_some_and(|before| before.members == marks);
    let (mut through, mut changed) = (BTreeMap::new(), is_same.then(BTreeSet::new));
    for leaf in group.leaves.iter().filter(|leaf| leaf.follows()) {
        let after = before.as_ref().and_then(|before| before.through.get(&leaf.id).copied());
        let read = leaf
            .shared
            .gems()
            .followed
            .read(leaf.origin, |known| (known.last, after.and_then(|after| known.changed_since(after))));
        let Some((last, names)) = read else { continue };
        through.insert(leaf.id, last);
        match (&mut changed, names) {
            (Some(changed), Some(names)) => changed.extend(names),
            _ => changed = None,
        }
    }
    let waited = before.map(|before| before.names.clone()).unwrap_or_default();
    if changed.as_ref().is_some_and(BTreeSet::is_empty) && waited.is_empty() {
        return Ok(Vec::new());
    }
    // A name may have stopped waiting, for example because a hosted member has it now.
    changed.iter_mut().for_each(|changed| changed.extend(waited.iter().cloned()));
    let now = services.clock.now();
    // A name begins to wait for a hosted owner only when an upstream is first seen, or the settings change.
    let known = match changed {
        Some(_) => KnownMembers::new(&group.leaves, now),
        None => KnownMembers::holding(&group.leaves, &services.store, now, event).await?,
    };
    let waited_before = waited.clone();
    let find = move |(): &mut ()| {
        let mut names = changed.unwrap_or_else(|| known.contested());
        names.retain(|name| known.is_waiting(name) || waited_before.contains(name));
        names
    };
    let names = services.context.workers.run(Lane::Index, Op::IndexRender, event, find).await?;
    let members = KnownMembers::of_these(
        &group.leaves,
        Among::All,
        &services.store,
        now,
        names.iter().map(String::as_str),
        event,
    )
    .await?;
    let waiting = names.into_iter().filter(|name| members.is_waiting(name));
    let names: BTreeSet<String> = waiting.take(NAMES_MAX).collect();
    let new = names.iter().filter(|name| !waited.contains(*name)).filter_map(|name| members.collision(name));
    let text =
        |one: Collision| format!("`{}` of `{}` is listed by `{}`, too", one.name, one.owner, one.waiting.join("`, `"));
    let new = new.map(text).collect();
    group.shared.gems().waiting.note(Noted { members: marks, through, names });
    Ok(new)
}

/// The first of them, and the number of the others.
fn first_of(names: &[String]) -> String {
    let first = names[..names.len().min(TOLD_MAX)].join("; ");
    match names.len() - names.len().min(TOLD_MAX) {
        0 => first,
        more => format!("{first}; and {more} more"),
    }
}

fn mark(leaf: &Arc<Repository>) -> MemberMark {
    MemberMark {
        id: leaf.id,
        origin: leaf.origin,
        stands_since: leaf.stands_since,
        is_known: leaf.follows() && leaf.shared.gems().followed.read(leaf.origin, |_| ()).is_some(),
        rules: leaf.rules.clone(),
        claims: leaf.record.claims.clone(),
    }
}
