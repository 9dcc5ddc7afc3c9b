//! The packages of a format, for people who look at them. No upstream is called.

use crate::error::Error;
use crate::listed::Page;
use crate::package::details::{ComparedFiles, VersionDetails};
use crate::package::listed::{Among, ListedNames, ListedPackage};
use crate::package::rows::{PackageRows, VersionRow};
use crate::package::standing::Gone;
use crate::question::Ask;
use crate::services::Services;
use format::gem::content::Readme;
use telemetry::Event;

/// The repository whose packages are looked at. The question of the ask does not matter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Looked<'a> {
    pub(crate) services: &'a Services,
    pub(crate) ask: &'a Ask<'a>,
}

/// The packages of a format.
pub(crate) trait Packages {
    /// All versions of a package. Of a group, the members among these are read.
    async fn rows(at: Looked<'_>, package: &str, among: Among<'_>, event: &mut Event) -> Result<PackageRows, Error>;

    /// The names of packages after `after` that members have or had, at most `limit`.
    async fn names(at: Looked<'_>, after: &str, limit: usize, event: &mut Event) -> Result<ListedNames, Error>;

    /// The packages after `after` with a version that clients get or a policy hides, at most `limit`.
    async fn listed(at: Looked<'_>, after: &str, limit: usize, event: &mut Event)
    -> Result<Page<ListedPackage>, Error>;

    /// The content and the declarations of a version, as far as rows and small files tell them.
    async fn details(
        at: Looked<'_>,
        package: &str,
        row: VersionRow,
        among: Among<'_>,
        event: &mut Event,
    ) -> Result<VersionDetails, Error>;

    /// The same, also as the package itself tells them.
    async fn version(
        at: Looked<'_>,
        package: &str,
        row: VersionRow,
        event: &mut Event,
    ) -> Result<VersionDetails, Error>;

    /// The README of a version; `None`: there is none, or clients do not get the version, or it is not in the cache.
    async fn readme(
        at: Looked<'_>,
        package: &str,
        row: &VersionRow,
        event: &mut Event,
    ) -> Result<Option<Readme>, Error>;

    /// The files in which a version is compared; `None`: they are not known here, or clients do not get it.
    async fn compared(
        at: Looked<'_>,
        package: &str,
        details: &VersionDetails,
        event: &mut Event,
    ) -> Result<Option<ComparedFiles>, Error>;

    /// Why a withdrawn version is gone, if its row does not tell.
    async fn why_gone(services: &Services, row: &VersionRow, event: &mut Event) -> Result<Option<Gone>, Error>;
}
