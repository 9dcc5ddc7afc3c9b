//! The packages of a repository as people look at them. No upstream is called.

use crate::bad_setting::BadSetting;
use crate::error::Error;
use crate::format::Format;
use crate::gem::packages::ANY_QUESTION;
use crate::listed::Page;
use crate::package::details::VersionDetails;
use crate::package::listed::ListedPackage;
use crate::package::rows::{PackageRows, VersionRow};
use crate::parameters::Parameters;
use crate::question::Ask;
use crate::repositories::Repositories;
use crate::repository::Repository;
use std::sync::Arc;
use store::Stamp;
use telemetry::Event;

/// A repository whose packages are looked at: as of now, or as of a moment.
#[derive(Debug, Clone)]
pub struct PackagesAsk {
    repository: Arc<Repository>,
    settings: Stamp,
}

impl PackagesAsk {
    /// The packages of this repository, whose settings were read at this revision.
    pub fn new(repository: &Repository, settings: Stamp) -> Self {
        Self { repository: Arc::new(repository.unasked()), settings }
    }

    fn ask(&self) -> Ask<'static> {
        Ask {
            repository: self.repository.clone(),
            settings: self.settings,
            question: ANY_QUESTION,
            parameters: Parameters::default(),
            place: Arc::default(),
        }
    }
}

impl Repositories {
    /// All versions of a package, also versions that clients do not get. Empty: nothing of that name is known here.
    pub async fn package(&self, of: &PackagesAsk, package: &str, event: &mut Event) -> Result<PackageRows, Error> {
        match of.repository.format {
            Format::Gem => Box::pin(self.gem_rows(&of.ask(), package, event)).await,
            Format::Maven => Box::pin(self.artifact_rows(&of.ask(), package, event)).await,
            Format::Raw => Err(no_packages(&of.repository)),
        }
    }

    /// Adds to these rows who published them here.
    pub async fn tell_publishers(&self, rows: &mut [VersionRow], event: &mut Event) -> Result<(), Error> {
        let changes = rows.iter().filter_map(|row| row.change.clone()).collect();
        let mut authors = self.store.authors(changes, event).await?.into_iter();
        for row in rows.iter_mut().filter(|row| row.change.is_some()) {
            row.by = authors.next().flatten();
        }
        Ok(())
    }

    /// The content and the declarations of a version, which is a row of [`Repositories::package`].
    pub async fn version(
        &self,
        of: &PackagesAsk,
        package: &str,
        row: VersionRow,
        event: &mut Event,
    ) -> Result<VersionDetails, Error> {
        match of.repository.format {
            Format::Gem => Box::pin(self.gem_details(&of.ask(), package, row, event)).await,
            Format::Maven => Box::pin(self.artifact_details(&of.ask(), package, row, event)).await,
            Format::Raw => Err(no_packages(&of.repository)),
        }
    }

    /// The packages after `after`, at most `limit`: of a hosted repository the ones with versions, of an upstream the ones in its index
    /// or in the cache, of a group both.
    pub async fn packages(
        &self,
        of: &PackagesAsk,
        after: &str,
        limit: usize,
        event: &mut Event,
    ) -> Result<Page<ListedPackage>, Error> {
        match of.repository.format {
            Format::Gem => Box::pin(self.gems_listed(&of.ask(), after, limit, event)).await,
            Format::Maven => Box::pin(self.artifacts_listed(&of.ask(), after, limit, event)).await,
            Format::Raw => Err(no_packages(&of.repository)),
        }
    }
}

fn no_packages(repository: &Repository) -> Error {
    let text = format!("`{}` has files, which belong to no packages", repository.record.name);
    BadSetting::new(text, "look at its files instead").into()
}
