//! Artifacts as packages for people.

use crate::error::Error;
use crate::listed::Page;
use crate::maven::package_details::{artifact_details, compared_artifacts};
use crate::maven::package_list::{artifact_names, artifacts_listed};
use crate::maven::packages::{artifact_rows, why_gone};
use crate::package::details::{ComparedFiles, VersionDetails};
use crate::package::listed::{Among, ListedNames, ListedPackage};
use crate::package::packages::{Looked, Packages};
use crate::package::rows::{PackageRows, VersionRow};
use crate::package::standing::Gone;
use crate::services::Services;
use format::gem::content::Readme;
use telemetry::Event;

/// Artifacts as packages for people.
pub(crate) struct Artifacts;

impl Packages for Artifacts {
    async fn rows(at: Looked<'_>, package: &str, among: Among<'_>, event: &mut Event) -> Result<PackageRows, Error> {
        artifact_rows(at.services, at.ask, package, among, event).await
    }

    async fn names(at: Looked<'_>, after: &str, limit: usize, event: &mut Event) -> Result<ListedNames, Error> {
        artifact_names(at.services, at.ask, after, limit, event).await
    }

    async fn listed(
        at: Looked<'_>,
        after: &str,
        limit: usize,
        event: &mut Event,
    ) -> Result<Page<ListedPackage>, Error> {
        artifacts_listed(at.services, at.ask, after, limit, event).await
    }

    async fn details(
        at: Looked<'_>,
        package: &str,
        row: VersionRow,
        among: Among<'_>,
        event: &mut Event,
    ) -> Result<VersionDetails, Error> {
        artifact_details(at.services, at.ask, package, row, among, event).await
    }

    async fn version(
        at: Looked<'_>,
        package: &str,
        row: VersionRow,
        event: &mut Event,
    ) -> Result<VersionDetails, Error> {
        Self::details(at, package, row, Among::All, event).await
    }

    async fn readme(_: Looked<'_>, _: &str, _: &VersionRow, _: &mut Event) -> Result<Option<Readme>, Error> {
        Ok(None)
    }

    async fn compared(
        _: Looked<'_>,
        package: &str,
        details: &VersionDetails,
        _: &mut Event,
    ) -> Result<Option<ComparedFiles>, Error> {
        Ok(compared_artifacts(package, details))
    }

    async fn why_gone(services: &Services, row: &VersionRow, event: &mut Event) -> Result<Option<Gone>, Error> {
        why_gone(services, row, event).await
    }
}
