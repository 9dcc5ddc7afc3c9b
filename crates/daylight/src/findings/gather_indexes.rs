//! What findings are told about indexes of upstreams and hooks.

use insight::{HooksFact, IndexFact, ProgramFacts};
use repository::RepositoryTable;
use store::RepositoryKind;
use telemetry::{Millis, Reason};

/// Adds the indexes that are behind or held back, and the hooks of all repositories that ever took one.
pub(super) fn add(table: &RepositoryTable, now: Millis, facts: &mut ProgramFacts) {
    for one in table.by_name.values().filter(|one| one.record.kind != RepositoryKind::Hosted) {
        let repository = one.record.name.clone();
        if let Some(hooks) = one.hints(now).filter(|hooks| hooks.last.is_some()) {
            let (last, lost, waiting) = (hooks.last, hooks.lost_since, hooks.waiting);
            facts.hooks.push(HooksFact { repository: repository.clone(), last, lost, waiting });
        }
        if one.record.kind != RepositoryKind::Remote {
            continue;
        }
        let (followed, behind_since) = (one.followed(), one.behind_since(now));
        let held = followed.and_then(|index| index.held_back).filter(|held| !held.accepted);
        let held_back = held.map(|held| (held.names, held.since));
        if behind_since.is_some() || held_back.is_some() {
            let map = one.koji_confirmed();
            let proven = followed.map(|index| index.proven).or_else(|| map.map(|map| map.at));
            let failure = followed.and_then(|index| index.failure).or_else(|| map.and_then(|map| map.failure));
            let failure = failure.map(Reason::as_str);
            facts.indexes.push(IndexFact { repository, proven, failure, behind_since, held_back });
        }
    }
}
