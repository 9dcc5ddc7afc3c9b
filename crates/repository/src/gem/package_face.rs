//! Gems as packages for people.

use crate::boxed::Trying;
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
    fn rows<'a>(
        &self,
        at: Looked<'a>,
        package: &'a str,
        among: Among<'a>,
        event: &'a mut Event,
    ) -> Trying<'a, PackageRows> {
        Box::pin(gem_rows(at.services, at.ask, package, among, event))
    }

    fn names<'a>(&self, at: Looked<'a>, after: &'a str, limit: usize, event: &'a mut Event) -> Trying<'a, ListedNames> {
        Box::pin(gem_names(at.services, at.ask, after, limit, event))
    }

    fn listed<'a>(
        &self,
        at: Looked<'a>,
        after: &'a str,
        limit: usize,
        event: &'a mut Event,
    ) -> Trying<'a, Page<ListedPackage>> {
        Box::pin(gems_listed(at.services, at.ask, after, limit, event))
    }

    fn details<'a>(
        &self,
        at: Looked<'a>,
        package: &'a str,
        row: VersionRow,
        _: Among<'a>,
        event: &'a mut Event,
    ) -> Trying<'a, VersionDetails> {
        Box::pin(gem_details(at.services, at.ask, package, row, event))
    }

    fn version<'a>(
        &self,
        at: Looked<'a>,
        package: &'a str,
        row: VersionRow,
        event: &'a mut Event,
    ) -> Trying<'a, VersionDetails> {
        Box::pin(async move {
            let mut details = gem_details(at.services, at.ask, package, row, event).await?;
            add_cached_facts(at.services, at.ask, package, &mut details, event).await?;
            Ok(details)
        })
    }

    fn readme<'a>(
        &self,
        at: Looked<'a>,
        package: &'a str,
        row: &'a VersionRow,
        event: &'a mut Event,
    ) -> Trying<'a, Option<Readme>> {
        Box::pin(async move {
            if !row.standing.is_visible() {
                return Ok(None);
            }
            readme_of_gem(at.services, at.ask, &format!("{package}-{}", row.version), event).await
        })
    }

    fn compared<'a>(
        &self,
        at: Looked<'a>,
        package: &'a str,
        details: &'a VersionDetails,
        event: &'a mut Event,
    ) -> Trying<'a, Option<ComparedFiles>> {
        Box::pin(async move {
            if !details.row.standing.is_visible() {
                return Ok(None);
            }
            let full_name = format!("{package}-{}", details.row.version);
            let content = content_of_gem(at.services, at.ask, &full_name, event).await?;
            Ok::<_, Error>(content.map(|content| {
                let files = content.files.into_iter();
                let files = files.map(|file| ComparedFile {
                    name: file.path,
                    size_bytes: file.size_bytes,
                    sha256: file.sha256,
                });
                ComparedFiles { files: files.collect(), is_cut: content.is_cut }
            }))
        })
    }

    fn why_gone<'a>(&self, _: &'a Services, _: &'a VersionRow, _: &'a mut Event) -> Trying<'a, Option<Gone>> {
        // The row of a gem is its entry, which tells.
        Box::pin(async { Ok(None) })
    }
}
