//! The versions of an artifact by the metadata of upstreams, for the list of its folder.

use crate::content::{Content, rows_of};
use crate::error::{Error, Result};
use crate::group::{Group, merged};
use crate::maven::hidden_paths::hidden_folder;
use crate::maven::koji;
use crate::maven::layout::MavenPath;
use crate::tree::folder_list::FolderVersions;
use crate::tree::remote as tree_remote;
use crate::upstream::Remote;
use crate::upstream::first_seen::history::FolderHistory;
use crate::upstream::first_seen::store::FirstSeenStore;
use crate::workers::{Workers, aside};
use format::maven::metadata::Metadata;
use std::collections::BTreeMap;
use store::Lane;
use telemetry::{Event, Millis, Op};

impl MavenPath<'_> {
    /// Metadata lists the versions that are subfolders of the folder of an artifact.
    pub(crate) fn lists_versions(&self) -> bool {
        true
    }

    /// The versions that the metadata of a remote repository lists in a folder. None: it has no such metadata.
    pub(crate) async fn remote_versions(&self, remote: &Remote, event: &mut Event) -> Result<FolderVersions> {
        let folder = self.path();
        let Some(path) = metadata_in(folder) else { return Ok(FolderVersions::default()) };
        let file = remote.repository.file(&path);
        if file.document().is_none() {
            return Ok(FolderVersions::default());
        }
        if let Some(why) = hidden_folder(folder, &remote.repository.rules) {
            return Err(why.into());
        }
        let content = tree_remote::fetch(remote, &file, event).await;
        let mut found = read(&remote.remotes.workers, content, event).await?;
        if !found.dated.is_empty() {
            found.add_dates(&dates(remote, folder, event).await?);
        }
        Ok(found)
    }

    /// The versions that the merged metadata of a group lists. It fails if a member fails, because the document of another
    /// member has not all versions.
    pub(crate) async fn group_versions(
        &self,
        group: Group<'_>,
        now: Millis,
        event: &mut Event,
    ) -> Result<FolderVersions> {
        let folder = self.path();
        let Some(path) = metadata_in(folder) else { return Ok(FolderVersions::default()) };
        let file = group.repository.file(&path);
        let Some(document) = file.document() else { return Ok(FolderVersions::default()) };
        // A folder that the policy of every upstream denies is asked of none.
        let whys: Option<Vec<_>> = group.remote().map(|leaf| hidden_folder(folder, &leaf.rules)).collect();
        if let Some(why) = whys.and_then(|whys| whys.into_iter().next()) {
            return Err(why.into());
        }
        let content = merged::fetch_whole(group, &file, document, now, event).await;
        let mut found = read(&group.context.workers, content, event).await?;
        if !found.dated.is_empty() {
            let guard = group.guard(&file, now, event).await?;
            for leaf in group.remote().filter(|leaf| !guard.blocks(leaf)) {
                found.add_dates(&dates(&group.upstream(leaf), folder, event).await?);
            }
        }
        Ok(found)
    }
}

/// The path of the metadata of an artifact; `None`: no artifact has this folder.
fn metadata_in(folder: &str) -> Option<String> {
    folder.contains('/').then(|| format!("{folder}/maven-metadata.xml"))
}

async fn read(workers: &Workers, content: Result<Content>, event: &mut Event) -> Result<FolderVersions> {
    let content = match content {
        Ok(content) => content,
        Err(error) if error.is_absence() => return Ok(FolderVersions::default()),
        Err(error) => return Err(error),
    };
    let freshness = content.freshness;
    let rows = rows_of(content.hashes.as_ref().map_or(0, |hashes| hashes.size_bytes));
    // It was parsed when it arrived, or was rendered here.
    let read = move || content.bytes().and_then(|bytes| Metadata::read(&bytes).ok()).ok_or(Error::GivenUp);
    let document = aside(workers, Lane::Index, Op::PackageRead, rows, event, read).await?;
    let dated = document.versions.into_iter().map(|version| (version, None)).collect();
    Ok(FolderVersions { dated, freshness })
}

/// The dates of the versions that an upstream has in a folder.
async fn dates(remote: &Remote, folder: &str, event: &mut Event) -> Result<BTreeMap<String, Millis>> {
    if remote.repository.is_koji() {
        // A hub that was never read, because a rule denies the folder, has no map.
        let rows = match koji::versions(remote, folder, event).await {
            Err(Error::Unasked) => Vec::new(),
            rows => rows?,
        };
        return Ok(rows.into_iter().map(|row| (row.version, row.age.since)).collect());
    }
    let mut seen = FirstSeenStore::of(remote);
    if let Some(past) = remote.repository.as_of {
        seen = seen.through(past.through);
    }
    let Some(FolderHistory { seen: first, versions, .. }) = seen.folder(folder, event).await? else {
        return Ok(BTreeMap::new());
    };
    // A version that was there at the first look, without a date of its own, may be older than the look by any time.
    let known = versions.into_iter().filter(|(_, age)| !age.open && (age.since < age.seen || age.seen > first));
    Ok(known.map(|(version, age)| (version, age.since)).collect())
}

impl FolderVersions {
    /// Adds dates to versions that have none. The first member that has a version answers for it.
    fn add_dates(&mut self, dates: &BTreeMap<String, Millis>) {
        for (version, at) in self.dated.iter_mut().filter(|(_, at)| at.is_none()) {
            *at = dates.get(version.as_str()).copied();
        }
    }
}
