//! Counts the versions of upstreams that a new claim of their name hides in groups. No upstream is called.

use crate::error::Result;
use crate::group::is_hosted;
use crate::policy::package_version::{PackageVersion, Since};
use crate::repository::Repository;
use crate::services::Services;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use telemetry::Event;

/// The versions of an upstream that are not in a group any more, because a new claim of a member has their name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimedOver {
    /// The name.
    pub name: String,
    /// The group.
    pub group: String,
    /// The remote member.
    pub repository: String,
    /// The number of versions that its upstream lists.
    pub versions: usize,
}

/// The versions of upstreams that claims of these names by the repository hide in its groups, as far as the indexes
/// are known. Shared names hide nothing.
pub async fn claimed_over(
    services: &Services,
    repository: &Repository,
    names: &[String],
    event: &mut Event,
) -> Result<Vec<ClaimedOver>> {
    let table = services.table(event).await?;
    let mut found = Vec::new();
    for group in table.groups_with(repository.id) {
        for leaf in group.leaves.iter().filter(|leaf| !is_hosted(leaf) && leaf.id != repository.id) {
            for name in names {
                let is_shared = leaf.rules.shares(&PackageVersion::gem(name, "", Since::Always).upstream());
                let listed = leaf.shared.gems().followed.gem(leaf.origin, name).filter(|_| !is_shared);
                let versions = listed.map_or(0, |listed| listed.versions.len());
                if versions > 0 {
                    let of = |one: &Repository| one.record.name.clone();
                    let (name, group, repository) = (name.clone(), of(group), of(leaf));
                    found.push(ClaimedOver { name, group, repository, versions });
                }
            }
        }
    }
    Ok(found)
}
