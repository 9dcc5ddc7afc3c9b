//! The releases of artifacts that the rules of a repository no longer keep, and their removal. Snapshots have their own
//! retention.

use crate::actor::Actor;
use crate::cleanup::last_use::version_name;
use crate::cleanup::rules::{CleanupRules, Dated};
use crate::cleanup::{Cleanup, CleanupPlan, first_published};
use crate::error::Result;
use crate::maven::layout::MavenPath;
use crate::maven::retention::SNAPSHOT;
use crate::maven::rules::coordinates;
use crate::tree::{Tree, folder};
use crate::visible;
use format::maven::path::Artifact;
use std::collections::BTreeMap;
use store::{Entry, Lane, Withdrawals};
use telemetry::{Event, Millis};

/// Number of folders that one read of the store returns.
const PAGE: usize = 1_000;

/// A release: its folder and the files in it.
#[derive(Debug)]
struct Release {
    folder: String,
    name: String,
    files: u64,
    size_bytes: u64,
    withdrawals: Withdrawals,
}

/// Adds the versions that no rule keeps to the plan. If the cleanup has an actor, it removes them.
pub(crate) async fn cleanup(
    tree: Tree<'_>,
    cleanup: Cleanup<'_>,
    plan: &mut CleanupPlan,
    event: &mut Event,
) -> Result<()> {
    let Cleanup { rules, uses, by, at } = cleanup;
    for (above, versions) in artifacts(tree, event).await? {
        let mut releases = Vec::with_capacity(versions.len());
        for version in versions {
            releases.extend(release(tree, format!("{above}/{version}"), cleanup, event).await?);
        }
        for Dated { what, .. } in rules.surplus(releases) {
            if let Some(by) = by {
                withdraw(tree, &what.folder, rules, by, at, event).await?;
                uses.forget(vec![what.name.clone()], event).await?;
            }
            plan.add(rules.name(), &what.name, what.files, what.size_bytes);
            plan.units.insert(what.folder);
            plan.withdrawals.append(what.withdrawals);
        }
    }
    Ok(())
}

/// The existing releases, by the folders of their artifacts.
async fn artifacts(tree: Tree<'_>, event: &mut Event) -> Result<BTreeMap<String, Vec<String>>> {
    let (mut artifacts, mut after) = (BTreeMap::<String, Vec<String>>::new(), String::new());
    loop {
        let folders = tree.store.units(tree.repository.id, &after, PAGE, event).await?;
        for folder in folders.iter().filter(|folder| !folder.ends_with(SNAPSHOT)) {
            if let Some((above, version)) = folder.rsplit_once('/') {
                artifacts.entry(above.to_owned()).or_default().push(version.to_owned());
            }
        }
        match folders.last() {
            Some(last) if folders.len() == PAGE => after.clone_from(last),
            _ => return Ok(artifacts),
        }
    }
}

/// The release in a folder, with its dates; `None`: the folder is empty by now.
async fn release(
    tree: Tree<'_>,
    folder: String,
    cleanup: Cleanup<'_>,
    event: &mut Event,
) -> Result<Option<Dated<Release>>> {
    let Cleanup { rules, uses, at, .. } = cleanup;
    let rows = tree.store.live_unit(tree.repository.id, &folder, Lane::Index, event).await?.entries;
    let files: Vec<&Entry> = visible(&rows, tree.repository.whole(at)).map(|seen| seen.entry()).collect();
    // A folder of plain files alone is no version's: nobody knows what its name says.
    let named = files.iter().find_map(|entry| MavenPath::read(&entry.key).artifact());
    let Some(Artifact { group, artifact, version, .. }) = named else { return Ok(None) };
    let named = coordinates(group, artifact, version);
    let name = version_name(&named.package, version);
    let (Some(published), Some(came)) = (first_published(&files), files.iter().map(|entry| entry.changed).max()) else {
        return Ok(None);
    };
    let used = match rules.ask_uses() {
        true => uses.beginning(&name, event).await?.last(came, |used| used == name),
        false => at,
    };
    let size_bytes = files.iter().map(|entry| entry.hashes.size_bytes).sum();
    let (rule, mut withdrawals) = (rules.withdrawal(), Withdrawals::default());
    files.iter().for_each(|entry| withdrawals.add(tree.repository.id, &entry.withdrawn(rule.clone(), at)));
    let what = Release { files: files.len() as u64, size_bytes, name, folder, withdrawals };
    Ok(Some(Dated { what, published, used }))
}

async fn withdraw(
    tree: Tree<'_>,
    folder: &str,
    rules: CleanupRules,
    by: Actor<'_>,
    at: Millis,
    event: &mut Event,
) -> Result<u64> {
    let rule = rules.withdrawal();
    let withdrawn = |rows: &[Entry]| {
        let seen = visible(rows, tree.repository.whole(at)).map(|seen| seen.entry());
        Ok(seen.map(|entry| entry.withdrawn(rule.clone(), at)).collect())
    };
    folder::change(tree, folder, folder::Read::Live, withdrawn, by, at, event).await
}
