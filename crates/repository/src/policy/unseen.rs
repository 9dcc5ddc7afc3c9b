//! The policies that hide a version that was just published, for the notice to who publishes it.

use crate::error::Result;
use crate::policy::hidden::Hidden;
use crate::policy::package_version::PackageVersion;
use crate::repository::Repository;
use crate::services::Services;
use std::collections::BTreeMap;
use telemetry::Event;

/// Why clients do not get a version that is published in a hosted repository, and until when: the policies that hide it, of the
/// repository and of its groups. `None`: clients get it. Repositories that are private are named to administrators alone.
pub(crate) async fn unseen(
    services: &Services,
    repository: &Repository,
    what: &PackageVersion<'_>,
    is_admin: bool,
    event: &mut Event,
) -> Result<Option<String>> {
    let now = services.clock.now();
    if let Some(hidden) = repository.rules.hides(what, repository.view(now)) {
        return Ok(Some(format!("Nobody sees it yet: {hidden}")));
    }
    let table = services.table(event).await?;
    let named = |name: &str| is_admin || table.by_name.get(name).is_some_and(|one| !one.record.private);
    let mut unseen: BTreeMap<String, (Hidden, Vec<&str>)> = BTreeMap::new();
    for group in table.by_name.values() {
        let Some(leaf) = group.leaves.iter().find(|leaf| leaf.id == repository.id) else { continue };
        let Some(hidden) = leaf.rules.hides(what, leaf.view(now)) else { continue };
        unseen.entry(hidden.to_string()).or_insert((hidden, Vec::new())).1.push(&group.record.name);
    }
    let told = unseen.into_iter().map(|(text, (hidden, mut groups))| {
        groups.retain(|group| named(group));
        groups.sort_unstable();
        let text = if named(&hidden.repository) { text } else { hidden.unnamed() };
        let groups: Vec<_> = groups.iter().map(|group| format!("`{group}`")).collect();
        let through = if groups.is_empty() { "a group".to_owned() } else { groups.join(" and ") };
        let yet = if hidden.until().is_some() { " yet" } else { "" };
        format!("Clients of {through} do not see it{yet}: {text}")
    });
    Ok(Some(told.collect::<Vec<_>>().join("; ")).filter(|told| !told.is_empty()))
}
