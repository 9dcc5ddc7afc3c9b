//! Artifacts as packages for people.

use crate::boxed::Trying;
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
    fn rows<'a>(
        &self,
        at: Looked<'a>,
        package: &'a str,
        among: Among<'a>,
        event: &'a mut Event,
    ) -> Trying<'a, PackageRows> {
        Box::pin(artifact_rows(at.services, at.ask, package, among, event))
    }

    fn names<'a>(&self, at: Looked<'a>, after: &'a str, limit: usize, event: &'a mut Event) -> Trying<'a, ListedNames> {
        Box::pin(artifact_names(at.services, at.ask, after, limit, event))
    }

    fn listed<'a>(
        &self,
        at: Looked<'a>,
        after: &'a str,
        limit: usize,
        event: &'a mut Event,
    ) -> Trying<'a, Page<ListedPackage>> {
        Box::pin(artifacts_listed(at.services, at.ask, after, limit, event))
    }

    fn details<'a>(
        &self,
        at: Looked<'a>,
        package: &'a str,
        row: VersionRow,
        among: Among<'a>,
        event: &'a mut Event,
    ) -> Trying<'a, VersionDetails> {
        Box::pin(artifact_details(at.services, at.ask, package, row, among, event))
    }

    fn version<'a>(
        &self,
        at: Looked<'a>,
        package: &'a str,
        row: VersionRow,
        event: &'a mut Event,
    ) -> Trying<'a, VersionDetails> {
        self.details(at, package, row, Among::All, event)
    }

    fn readme<'a>(&self, _: Looked<'a>, _: &'a str, _: &'a VersionRow, _: &'a mut Event) -> Trying<'a, Option<Readme>> {
        Box::pin(async { Ok(None) })
    }

    fn compared<'a>(
        &self,
        _: Looked<'a>,
        package: &'a str,
        details: &'a VersionDetails,
        _: &'a mut Event,
    ) -> Trying<'a, Option<ComparedFiles>> {
        Box::pin(async move { Ok(compared_artifacts(package, details)) })
    }

    fn why_gone<'a>(
        &self,
        services: &'a Services,
        row: &'a VersionRow,
        event: &'a mut Event,
    ) -> Trying<'a, Option<Gone>> {
        Box::pin(why_gone(services, row, event))
    }
}
