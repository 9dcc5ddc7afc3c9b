//! A Maven upstream as of a moment: only versions that had been seen by then.
//!
//! Immutable files have the same bytes today. Metadata is generated from what had been seen. Any other file is answered
//! only if the cached bytes are those of that moment; otherwise the reply says that they are not stored.

use crate::as_of::Past;
use crate::content::Content;
use crate::error::{Error, Result};
use crate::maven::layout::MavenPath;
use crate::maven::upstream::filtered_metadata::hide_plugins;
use crate::policy::package_version::PackageVersion;
use crate::tree::file::File;
use crate::upstream::Remote;
use crate::upstream::fetch::present;
use crate::upstream::first_seen::history::{FolderHistory, Plugin};
use crate::upstream::first_seen::store::FirstSeenStore;
use crate::upstream::past::{Seen, early, over_budget, today};
use crate::upstream::release_age::AgeRecord;
use crate::upstream::trace::FetchTrace;
use crate::visible;
use crate::visible::next_change;
use format::maven::metadata;
use format::maven::path::{self as layout, Artifact, Kind};
use telemetry::Event;

impl MavenPath<'_> {
    /// Returns the file as of that moment, or a checksum of one.
    pub(crate) async fn past(
        &self,
        remote: &Remote,
        past: Past,
        file: &File<'_>,
        trace: &mut FetchTrace,
        event: &mut Event,
    ) -> Result<Content> {
        let then = FirstSeenStore::of(remote).through(past.through);
        let missing = || Error::NoSuchFile(file.path.to_owned());
        match self.kind().ok_or_else(missing)? {
            Kind::Artifact(Artifact { group, artifact, version, .. }) if !layout::is_snapshot(version) => {
                let folder = then.folder(&format!("{group}/{artifact}"), event).await?;
                let Some(met) = folder.and_then(|folder| folder.versions.get(version).copied()) else {
                    return Err(early(remote, then, file.path, event).await?);
                };
                let named = PackageVersion::maven(group, artifact, version, met.age());
                let today = today(remote, file, Some(named), met, trace)?;
                present(&today, file, trace, event).await
            }
            Kind::Metadata(at) if at.snapshot().is_none() => {
                let listed = then.folder(at.folder, event).await?.filter(|folder| folder.listed);
                let Some(listed) = listed else { return Err(early(remote, then, file.path, event).await?) };
                // Versions that appeared later are on no list.
                if then.is_full(event).await? {
                    return Err(over_budget(remote));
                }
                let document = document(remote, at.folder, listed).ok_or_else(missing)?;
                let Some((_, checksum)) = self.checksum() else { return Ok(document) };
                document.sum(checksum, remote.late_digests(), event).await?.ok_or_else(missing)
            }
            // The files of a snapshot at earlier moments are not recorded.
            Kind::Artifact(_) | Kind::Metadata(_) => Err(Error::Unkept(file.path.to_owned())),
            Kind::Catalog | Kind::Prefixes | Kind::Settings | Kind::Index => Err(missing()),
        }
    }
}

/// Metadata with all versions that had been seen in a folder.
fn document(remote: &Remote, folder: &str, mut known: FolderHistory) -> Option<Content> {
    let (seen, versions) = (known.seen, std::mem::take(&mut known.versions));
    let plugin = |(artifact, Plugin { prefix, name })| metadata::Plugin { name, prefix, artifact };
    let mut plugins: Vec<_> = known.plugins.into_iter().map(plugin).collect();
    let view = remote.repository.view(remote.now());
    hide_plugins(&mut plugins, folder, view);
    let (group, artifact) = folder.rsplit_once('/').unwrap_or(("", folder));
    let named = |version, met: AgeRecord| Some(PackageVersion::maven(group, artifact, version, met.age()).upstream());
    let rows: Vec<_> = versions.iter().map(|(version, met)| Seen { named: named(version, *met), met: *met }).collect();
    let shown: Vec<_> = visible(&rows, view).map(|row| row.entry()).collect();
    let changed = shown.iter().map(|row| row.met.seen).max().unwrap_or(seen);
    let versions = shown.iter().filter_map(|row| row.named.as_ref()).map(|named| &*named.version);
    let document = metadata::listing(folder, versions, !rows.is_empty(), plugins, changed.0);
    let (modified, fresh_until) = (Some(changed), next_change(&rows, view));
    let content = |text| Content { modified, fresh_until, ..Content::text(text, "application/xml") };
    document.map(|document| content(document.render()))
}
