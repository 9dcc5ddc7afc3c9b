//! Refuses to publish a gem under a name that an upstream lists if a group has both repositories. Otherwise the name
//! would become the hosted repository's, and all clients of the group would get its gem instead of the upstream's. This
//! check sends no name to any upstream.

use crate::error::Result;
use crate::error::shadows::Shadows;
use crate::gem::upstream::follow::Follow;
use crate::group::concurrent::Concurrent;
use crate::group::is_hosted;
use crate::policy::package_version::{PackageVersion, Since};
use crate::repository::Repository;
use crate::services::{Served, Services};
use crate::upstream::{PATIENCE, TRIAL_PATIENCE};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{Lane, RepositoryId, Stamp};
use telemetry::{Event, Op};
use tokio::time::timeout;

/// Refuses the first version of a gem in a hosted repository that does not claim the name, if a group has the name
/// from an upstream. An upstream whose index was never seen is waited for a short time. If the upstream fails, the
/// push is accepted, and the result is a notice that the name was not compared with it.
pub(crate) async fn refuse_shadowing(
    services: &Services,
    repository: &Repository,
    name: &str,
    settings: &Stamp,
    is_admin: bool,
    event: &mut Event,
) -> Result<Option<String>> {
    let table = services.table(event).await?;
    let groups = if repository.record.claims(name) { Vec::new() } else { table.groups_with(repository.id) };
    let what = PackageVersion::gem(name, "", Since::Always).upstream();
    // For a shared name, each version is that of the first member that has it. A private name has no upstream.
    let is_shadowed =
        |leaf: &&Arc<Repository>| !is_hosted(leaf) && !leaf.rules.shares(&what) && leaf.rules.private(&what).is_none();
    let upstreams = groups.iter().flat_map(|group| group.leaves.iter()).filter(is_shadowed);
    have_listings(services, upstreams, settings, event).await;
    let mut notice = None;
    for group in groups {
        let lists = |leaf: &&Arc<Repository>| {
            leaf.shared.gems().followed.read(leaf.origin, |known| known.listing.log().has(name)) == Some(true)
        };
        let listing = group.leaves.iter().filter(is_shadowed).find(lists);
        let never_seen = || group.leaves.iter().filter(is_shadowed).find(|leaf| is_never_seen(leaf));
        let Some(upstream) = listing.or_else(never_seen) else { continue };
        let hosted = || group.leaves.iter().filter(|leaf| is_hosted(leaf));
        let mut is_ours = hosted().any(|leaf| leaf.record.claims(name));
        for leaf in hosted() {
            is_ours = is_ours || !services.store.unit(leaf.id, name, Lane::Change, event).await?.entries.is_empty();
        }
        let named = is_admin || (!group.record.private && !upstream.record.private);
        let seen = named.then(|| (group.record.name.clone(), upstream.record.name.clone()));
        if is_ours {
            continue;
        }
        if listing.is_none() {
            notice.get_or_insert_with(|| not_compared(name, seen));
            continue;
        }
        event.detail = format!("`{}` has the name in the group `{}`", upstream.record.name, group.record.name);
        let (name, repository) = (name.to_owned(), repository.record.name.clone());
        return Err(Shadows { name, repository, seen }.into());
    }
    Ok(notice)
}

/// Fetches the indexes of these upstreams that were never seen, several concurrently.
async fn have_listings<'a>(
    services: &Services,
    upstreams: impl Iterator<Item = &'a Arc<Repository>>,
    settings: &Stamp,
    event: &mut Event,
) {
    let unknown: BTreeMap<RepositoryId, Follow> = upstreams
        .filter(|leaf| is_never_seen(leaf))
        .map(|leaf| (leaf.id, Follow::of(Served { services, repository: leaf, settings })))
        .collect();
    if unknown.is_empty() {
        return;
    }
    let look = |follower: Follow| async move {
        let mut event = follower.remote.part();
        // A client that pushes many gems waits only once.
        let patience = if follower.index().failures() == 0 { PATIENCE } else { TRIAL_PATIENCE };
        // A failure has an event of its own.
        drop(timeout(patience, follower.ready(&mut event)).await);
    };
    let mut looks = Concurrent::new(unknown.into_values().map(look), services.remotes.width);
    let _looking = event.running(Op::FlightWait);
    while looks.next().await.is_some() {}
}

/// Whether it has an upstream whose index was never seen.
fn is_never_seen(leaf: &Repository) -> bool {
    let is_set = leaf.record.remote.as_ref().is_some_and(|remote| remote.is_set());
    is_set && leaf.shared.gems().followed.read(leaf.origin, |_| ()).is_none()
}

/// The notice for a push whose name was not compared with an upstream. `seen`: the group and its remote member, if the
/// caller may see them.
fn not_compared(name: &str, seen: Option<(String, String)>) -> String {
    let (of, uses, decides) = match seen {
        Some((group, member)) => {
            let decides = format!("an administrator decides with `daylight repo show {group}`");
            (format!("`{member}`, which was never reached"), format!("`{group}`"), decides)
        }
        None => ("an upstream that was never reached".into(), "a group".into(), "an administrator decides".into()),
    };
    format!(
        "The name was not compared with the gems of {of}: if there is a gem `{name}`, everybody who uses {uses} gets yours \
         in its place until {decides}"
    )
}
