//! The packages of a format, for people who look at them. No upstream is called.

use crate::boxed::Trying;
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
pub(crate) trait Packages: Sync {
    /// All versions of a package. Of a group, the members among these are read.
    fn rows<'a>(
        &self,
        at: Looked<'a>,
        package: &'a str,
        among: Among<'a>,
        event: &'a mut Event,
    ) -> Trying<'a, PackageRows>;

    /// The names of packages after `after` that members have or had, at most `limit`.
    fn names<'a>(&self, at: Looked<'a>, after: &'a str, limit: usize, event: &'a mut Event) -> Trying<'a, ListedNames>;

    /// The packages after `after` with a version that clients get or a policy hides, at most `limit`.
    fn listed<'a>(
        &self,
        at: Looked<'a>,
        after: &'a str,
        limit: usize,
        event: &'a mut Event,
    ) -> Trying<'a, Page<ListedPackage>>;

    /// The content and the declarations of a version, as far as rows and small files tell them.
    fn details<'a>(
        &self,
        at: Looked<'a>,
        package: &'a str,
        row: VersionRow,
        among: Among<'a>,
        event: &'a mut Event,
    ) -> Trying<'a, VersionDetails>;

    /// The same, also as the package itself tells them.
    fn version<'a>(
        &self,
        at: Looked<'a>,
        package: &'a str,
        row: VersionRow,
        event: &'a mut Event,
    ) -> Trying<'a, VersionDetails>;

    /// The README of a version; `None`: there is none, or clients do not get the version, or it is not in the cache.
    fn readme<'a>(
        &self,
        at: Looked<'a>,
        package: &'a str,
        row: &'a VersionRow,
        event: &'a mut Event,
    ) -> Trying<'a, Option<Readme>>;

    /// The files in which a version is compared; `None`: they are not known here, or clients do not get it.
    fn compared<'a>(
        &self,
        at: Looked<'a>,
        package: &'a str,
        details: &'a VersionDetails,
        event: &'a mut Event,
    ) -> Trying<'a, Option<ComparedFiles>>;

    /// Why a withdrawn version is gone, if its row does not tell.
    fn why_gone<'a>(
        &self,
        services: &'a Services,
        row: &'a VersionRow,
        event: &'a mut Event,
    ) -> Trying<'a, Option<Gone>>;
}
