//! Names of gems that groups keep from upstreams.

use crate::group::is_hosted;
use crate::group::kept_names::{NameKeeping, NamePlace, has_upstream};
use crate::policy::package_version::{PackageVersion, Since};
use crate::repository::Repository;
use std::sync::Arc;
use store::Entry;

/// Names of gems that groups keep from upstreams.
pub(crate) struct KeptGems;

impl NameKeeping for KeptGems {
    fn name_of(&self, entry: &Entry) -> Option<String> {
        Some(entry.unit.clone())
    }

    fn name_of_unit(&self, unit: &str) -> String {
        unit.to_owned()
    }

    fn gives_back(&self, group: &Repository, name: &str) -> Option<(String, Vec<String>)> {
        let what = PackageVersion::gem(name, "", Since::Always).upstream();
        let is_kept = |leaf: &&Arc<Repository>| {
            has_upstream(leaf) && !leaf.rules.shares(&what) && leaf.rules.private(&what).is_none()
        };
        let lists = |leaf: &&Arc<Repository>| {
            leaf.shared.followed.read(leaf.origin, |known| known.listing.log().has(name)) == Some(true)
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

    fn place_of<'a>(&self, name: &'a str) -> NamePlace<'a> {
        NamePlace::Unit(name)
    }
}
