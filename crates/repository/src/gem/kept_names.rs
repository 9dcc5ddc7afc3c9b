//! The commands that give the name of a gem back to the upstreams of a group.

use crate::group::is_hosted;
use crate::group::kept_names::has_upstream;
use crate::policy::package_version::{PackageVersion, Since};
use crate::repository::Repository;
use std::sync::Arc;

/// The name, and the commands that make the gem an upstream's again; `None`: it is, or never will be.
pub(crate) fn gives_back(group: &Repository, name: &str) -> Option<(String, Vec<String>)> {
    let what = PackageVersion::gem(name, "", Since::Always).upstream();
    let is_kept = |leaf: &&Arc<Repository>| {
        has_upstream(leaf) && !leaf.rules.shares(&what) && leaf.rules.private(&what).is_none()
    };
    let lists = |leaf: &&Arc<Repository>| {
        leaf.shared.gems().followed.read(leaf.origin, |known| known.listing.log().has(name)) == Some(true)
    };
    let remotes = || group.leaves.iter().filter(is_kept);
    let upstream = remotes().find(lists).or_else(|| remotes().next())?;
    let claims = |leaf: &&Arc<Repository>| leaf.record.claims(name);
    let ours = group.leaves.iter().filter(|leaf| is_hosted(leaf)).filter(claims);
    let mut commands: Vec<String> =
        ours.map(|leaf| format!("daylight repo set {} --unclaim {name}", leaf.record.name)).collect();
    if !remotes().any(|leaf| claims(&leaf)) {
        commands.push(format!("daylight repo set {} --claim {name}", upstream.record.name));
    }
    (!commands.is_empty()).then(|| (name.to_owned(), commands))
}
