//! Gems as packages for people.

use crate::error::Error;
use crate::gem::package_details::{add_cached_facts, content_of_gem, gem_details, readme_of_gem};
use crate::gem::package_list::{gem_names, gems_listed};
use crate::gem::packages::gem_rows;
use crate::listed::Page;
use crate::package::details::{ComparedFile, ComparedFiles, VersionDetails};
use crate::package::listed::{Among, ListedNames, ListedPackage};
use crate::package::packages::{Looked, Packages};
use crate::package::rows::{PackageRows, VersionRow};
use crate::package::standing::Gone;
use crate::services::Services;
use format::gem::content::Readme;
use telemetry::Event;

/// Gems as packages for people.
pub(crate) struct GemPackages;

impl Packages for GemPackages {
    async fn rows(at: Looked<'_>, package: &str, among: Among<'_>, event: &mut Event) -> Result<PackageRows, Error> {
        gem_rows(at.services, at.ask, package, among, event).await
    }

    async fn names(at: Looked<'_>, after: &str, limit: usize, event: &mut Event) -> Result<ListedNames, Error> {
        gem_names(at.services, at.ask, after, limit, event).await
    }

    async fn listed(
        at: Looked<'_>,
        after: &str,
        limit: usize,
        event: &mut Event,
    ) -> Result<Page<ListedPackage>, Error> {
        gems_listed(at.services, at.ask, after, limit, event).await
    }

    async fn details(
        at: Looked<'_>,
        package: &str,
        row: VersionRow,
        _: Among<'_>,
        event: &mut Event,
    ) -> Result<VersionDetails, Error> {
        gem_details(at.services, at.ask, package, row, event).await
    }

    async fn version(
        at: Looked<'_>,
        package: &str,
        row: VersionRow,
        event: &mut Event,
    ) -> Result<VersionDetails, Error> {
        let mut details = gem_details(at.services, at.ask, package, row, event).await?;
        add_cached_facts(at.services, at.ask, package, &mut details, event).await?;
        Ok(details)
    }

    async fn readme(
        at: Looked<'_>,
        package: &str,
        row: &VersionRow,
        event: &mut Event,
    ) -> Result<Option<Readme>, Error> {
        if !row.standing.is_visible() {
            return Ok(None);
        }
        readme_of_gem(at.services, at.ask, &format!("{package}-{}", row.version), event).await
    }

    async fn compared(
        at: Looked<'_>,
        package: &str,
        details: &VersionDetails,
        event: &mut Event,
    ) -> Result<Option<ComparedFiles>, Error> {
        if !details.row.standing.is_visible() {
            return Ok(None);
        }
        let full_name = format!("{package}-{}", details.row.version);
        let content = content_of_gem(at.services, at.ask, &full_name, event).await?;
        Ok::<_, Error>(content.map(|content| {
            let files = content.files.into_iter();
            let files =
                files.map(|file| ComparedFile { name: file.path, size_bytes: file.size_bytes, sha256: file.sha256 });
            ComparedFiles { files: files.collect(), is_cut: content.is_cut }
        }))
    }

    async fn why_gone(_: &Services, _: &VersionRow, _: &mut Event) -> Result<Option<Gone>, Error> {
        // The row of a gem is its entry, which tells.
        Ok(None)
    }
}
