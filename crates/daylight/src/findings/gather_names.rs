//! What findings are told about names of gems that wait for a decision.

use super::gathered::KnownNames;
use crate::app::App;
use crate::error::Result;
use insight::{ProgramFacts, WaitingNamesFact};
use repository::RepositoryTable;
use std::time::Duration;
use telemetry::{Event, Tick, lock};

/// An example is looked for so often: it reads the indexes of all members.
const EVERY: Duration = Duration::from_secs(60);

/// Adds the groups with names that wait. The numbers are known at any time; an example is looked for once a minute, or where a number changed.
pub(super) async fn add(app: &App, table: &RepositoryTable, facts: &mut ProgramFacts, event: &mut Event) -> Result<()> {
    let groups = table.by_name.values().map(|one| (one.record.name.clone(), one.waiting_names()));
    let groups: Vec<(String, usize)> = groups.filter(|(_, names)| *names > 0).collect();
    let known = {
        let known = lock(&app.gathered.names);
        let is_new = known.at.is_some_and(|at| u128::from(Tick::now().since(at)) < EVERY.as_nanos());
        (is_new && known.groups == groups).then(|| known.names.clone())
    };
    if let Some(known) = known {
        facts.waiting_names = known;
        return Ok(());
    }
    for (group, names) in groups.clone() {
        let found = repository::collisions(app.services(), &group, "", 1, true, event).await?;
        let Some(first) = found.rows.into_iter().next() else { continue };
        let (name, owner, waiting) = (first.name, first.owner, first.waiting);
        facts.waiting_names.push(WaitingNamesFact { group, names, name, owner, waiting });
    }
    *lock(&app.gathered.names) = KnownNames { at: Some(Tick::now()), groups, names: facts.waiting_names.clone() };
    Ok(())
}
