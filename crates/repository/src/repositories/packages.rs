//! The packages of a repository as people look at them. No upstream is called.

use crate::bad_setting::BadSetting;
use crate::error::Error;
use crate::format::Format;
use crate::gem::packages::ANY_QUESTION;
use crate::listed::Page;
use crate::maven::package_details::compared_artifacts;
use crate::package::details::{ComparedFile, ComparedFiles, VersionDetails};
use crate::package::listed::{Among, Dependent, Dependents, ListedNames, ListedPackage};
use crate::package::published::{PublishedPackage, PublishedVersion, VersionName};
use crate::package::rows::{PackageRows, VersionRow};
use crate::parameters::Parameters;
use crate::question::Ask;
use crate::repositories::Repositories;
use crate::repository::Repository;
use crate::workers::after_others;
use format::gem::content::Readme;
use std::cmp::Ordering;
use std::sync::Arc;
use store::{Stamp, Unit};
use telemetry::{Event, Millis};

/// The most packages that one search for dependents examines, and how many names are read at once.
const EXAMINED: usize = 500;
const NAMES: usize = 100;

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

impl Repository {
    /// Whether its content belongs to packages.
    pub fn lists_packages(&self) -> bool {
        self.format != Format::Raw
    }

    /// The kind of file in events whose answers count as downloads of a package.
    pub fn download(&self) -> &'static str {
        match self.format {
            Format::Gem => "gem",
            Format::Maven => "artifact",
            Format::Raw => "file",
        }
    }
}

impl Repositories {
    /// All versions of a package, also versions that clients do not get. Empty: nothing of that name is known here.
    pub async fn package(&self, of: &PackagesAsk, package: &str, event: &mut Event) -> Result<PackageRows, Error> {
        self.package_among(of, package, Among::All, event).await
    }

    async fn package_among(
        &self,
        of: &PackagesAsk,
        package: &str,
        among: Among<'_>,
        event: &mut Event,
    ) -> Result<PackageRows, Error> {
        let rows = match of.repository.format {
            Format::Gem => Box::pin(self.gem_rows(&of.ask(), package, among, event)).await,
            Format::Maven => Box::pin(self.artifact_rows(&of.ask(), package, among, event)).await,
            Format::Raw => Err(no_packages(&of.repository)),
        };
        after_others(event).await;
        rows
    }

    /// Adds to these rows who published them here, and of withdrawn ones why.
    pub async fn tell_changes(&self, rows: &mut [VersionRow], event: &mut Event) -> Result<(), Error> {
        let publications = rows.iter().filter_map(|row| row.publication.as_ref());
        let unknown: Vec<_> = publications.filter(|one| one.by.get().is_none()).cloned().collect();
        let changes = unknown.iter().map(|one| one.change.clone()).collect();
        for (one, by) in unknown.iter().zip(self.store.authors(changes, event).await?) {
            // Another request may have looked it up meanwhile, and found the same.
            let _ = one.by.set(by);
        }
        for row in &mut *rows {
            row.by = row.publication.as_ref().and_then(|one| one.by.get().cloned().flatten());
        }
        self.tell_why_gone(rows, event).await
    }

    /// The versions of a package in a hosted repository: from memory, or from `read`, sorted in the order of the format. `unit` is raised
    /// by each change of the package.
    pub(crate) async fn published(
        &self,
        repository: &Repository,
        unit: &str,
        order: impl Fn(VersionName<'_>, VersionName<'_>) -> Ordering,
        read: impl Future<Output = Result<Vec<PublishedVersion>, Error>>,
    ) -> Result<PublishedPackage, Error> {
        let (revisions, is_now) = (self.store.revisions(), repository.as_of.is_none());
        let holds = |stamp: &Stamp| revisions.holds(stamp, self.clock.now());
        if is_now && let Some(kept) = self.published.find(repository.id, unit, holds) {
            return Ok(kept);
        }
        // Taken before the work, so that the next request notices every later change.
        let stamp = revisions.stamp(&[Unit::Of(repository.id, unit)], Millis(i64::MAX)).ok_or(Error::GivenUp)?;
        let mut rows: PublishedPackage = read.await?.into_iter().map(Arc::new).collect();
        rows.sort_by(|one, other| order(one.name(), other.name()));
        // Names that do not exist are not kept: there is no end of them.
        if is_now && !rows.is_empty() {
            self.published.keep(repository.id, unit, rows.clone(), stamp);
        }
        Ok(rows)
    }

    /// The content and the declarations of a version, which is a row of [`Repositories::package`].
    pub async fn version(
        &self,
        of: &PackagesAsk,
        package: &str,
        row: VersionRow,
        event: &mut Event,
    ) -> Result<VersionDetails, Error> {
        let mut details = self.version_among(of, package, row, Among::All, event).await?;
        if of.repository.format == Format::Gem {
            Box::pin(self.add_cached_facts(&of.ask(), package, &mut details, event)).await?;
        }
        Ok(details)
    }

    /// The README of a version of a gem; `None`: there is none, or clients do not get the version, or it is not in the cache.
    pub async fn gem_readme(
        &self,
        of: &PackagesAsk,
        package: &str,
        row: &VersionRow,
        event: &mut Event,
    ) -> Result<Option<Readme>, Error> {
        match of.repository.format {
            Format::Gem if row.standing.is_visible() => {
                let full_name = format!("{package}-{}", row.version);
                Box::pin(self.readme_of_gem(&of.ask(), &full_name, event)).await
            }
            Format::Gem | Format::Maven | Format::Raw => Ok(None),
        }
    }

    /// The files in which a version of a package is compared; `None`: they are not known here, or clients do not get it.
    pub async fn compared_files(
        &self,
        of: &PackagesAsk,
        package: &str,
        details: &VersionDetails,
        event: &mut Event,
    ) -> Result<Option<ComparedFiles>, Error> {
        if of.repository.format != Format::Gem {
            return Ok(compared_artifacts(package, details));
        }
        if !details.row.standing.is_visible() {
            return Ok(None);
        }
        let full_name = format!("{package}-{}", details.row.version);
        let content = Box::pin(self.content_of_gem(&of.ask(), &full_name, event)).await?;
        Ok(content.map(|content| {
            let files = content.files.into_iter();
            let files =
                files.map(|file| ComparedFile { name: file.path, size_bytes: file.size_bytes, sha256: file.sha256 });
            ComparedFiles { files: files.collect(), is_cut: content.is_cut }
        }))
    }

    async fn version_among(
        &self,
        of: &PackagesAsk,
        package: &str,
        row: VersionRow,
        among: Among<'_>,
        event: &mut Event,
    ) -> Result<VersionDetails, Error> {
        match of.repository.format {
            Format::Gem => Box::pin(self.gem_details(&of.ask(), package, row, event)).await,
            Format::Maven => Box::pin(self.artifact_details(&of.ask(), package, row, among, event)).await,
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

    /// The packages after `after` whose latest version depends on `package`, at most `limit`. A search examines a limited number of
    /// packages.
    pub async fn dependents(
        &self,
        of: &PackagesAsk,
        package: &str,
        after: &str,
        limit: usize,
        event: &mut Event,
    ) -> Result<Dependents, Error> {
        let ask = of.ask();
        let mut found = Dependents { next: Some(after.to_owned()), ..Dependents::default() };
        while found.examined < EXAMINED
            && let Some(from) = found.next.take()
        {
            let ListedNames { names, next: more } = match of.repository.format {
                Format::Gem => Box::pin(self.gem_names(&ask, &from, NAMES, event)).await?,
                Format::Maven => Box::pin(self.artifact_names(&ask, &from, NAMES, event)).await?,
                Format::Raw => return Err(no_packages(&of.repository)),
            };
            let last = names.last().map(|(name, _)| name.clone());
            for (name, holders) in names {
                if found.rows.len() >= limit {
                    return Ok(found);
                }
                self.examine(of, package, (&name, Among::These(&holders)), &mut found, event).await?;
                found.next = Some(name).filter(|name| more.is_some() || Some(name) != last.as_ref());
            }
        }
        Ok(found)
    }

    /// Adds a package if its latest version depends on `package`.
    async fn examine(
        &self,
        of: &PackagesAsk,
        package: &str,
        (name, among): (&str, Among<'_>),
        found: &mut Dependents,
        event: &mut Event,
    ) -> Result<(), Error> {
        found.examined += 1;
        let rows = match self.package_among(of, name, among, event).await {
            Err(Error::Hidden(_)) => return Ok(()),
            rows => rows?,
        };
        let Some(row) = rows.latest.and_then(|latest| rows.rows.into_iter().find(|row| row.version == latest)) else {
            return Ok(());
        };
        let details = self.version_among(of, name, row, among, event).await?;
        let Some(declared) = details.declared else {
            found.unknown += 1;
            return Ok(());
        };
        let version = &details.row.version;
        let needs = declared.dependencies.into_iter().find(|one| one.package == package);
        found.rows.extend(needs.map(|dependency| Dependent {
            package: name.to_owned(),
            version: version.clone(),
            dependency,
        }));
        Ok(())
    }
}

fn no_packages(repository: &Repository) -> Error {
    let text = format!("`{}` has files, which belong to no packages", repository.record.name);
    BadSetting::new(text, "look at its files instead").into()
}
