//! The packages of a repository as people look at them. No upstream is called.

use crate::error::{Error, Result};
use crate::formats::packages;
use crate::listed::Page;
use crate::package::details::{ComparedFiles, VersionDetails};
use crate::package::listed::{Among, Dependent, Dependents, ListedNames, ListedPackage};
use crate::package::rows::{PackageRows, VersionRow};
use crate::package::standing::Standing;
use crate::parameters::Parameters;
use crate::question::{Ask, Question};
use crate::repository::Repository;
use crate::services::Services;
use crate::workers::after_others;
use format::gem::content::Readme;
use std::borrow::Cow;
use std::sync::Arc;
use store::Stamp;
use telemetry::Event;

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
            question: Question::ANY,
            parameters: Parameters::default(),
            place: Arc::default(),
        }
    }
}

impl Repository {
    /// Whether its content belongs to packages.
    pub fn lists_packages(&self) -> bool {
        self.format.has_packages()
    }

    /// The path of the file to explain: `path` itself, the main file of the version with that name, or the list of the versions of the
    /// package with that name.
    pub fn explained_path<'a>(&self, path: &'a str) -> Cow<'a, str> {
        self.format.rules().explained_path(path)
    }

    /// The kind of file in events whose answers count as downloads of a package.
    pub fn download(&self) -> &'static str {
        self.format.rules().download()
    }
}

/// All versions of a package, also versions that clients do not get. Empty: nothing of that name is known here.
pub async fn package_rows(
    services: &Services,
    of: &PackagesAsk,
    package: &str,
    event: &mut Event,
) -> Result<PackageRows> {
    package_among(services, of, package, Among::All, event).await
}

async fn package_among(
    services: &Services,
    of: &PackagesAsk,
    package: &str,
    among: Among<'_>,
    event: &mut Event,
) -> Result<PackageRows> {
    let rows = packages!(of.repository, packages::rows(services, &of.ask(), package, among, event));
    after_others(event).await;
    rows
}

/// Adds to these rows who published them here, and of withdrawn ones why.
pub async fn tell_changes(services: &Services, rows: &mut [VersionRow], event: &mut Event) -> Result<()> {
    let publications = rows.iter().filter_map(|row| row.publication.as_ref());
    let unknown: Vec<_> = publications.filter(|one| one.by.get().is_none()).cloned().collect();
    let changes = unknown.iter().map(|one| one.change.clone()).collect();
    for (one, by) in unknown.iter().zip(services.store.authors(changes, event).await?) {
        // Another request may have looked it up meanwhile, and found the same.
        let _ = one.by.set(by);
    }
    for row in &mut *rows {
        row.by = row.publication.as_ref().and_then(|one| one.by.get().cloned().flatten());
    }
    for row in rows {
        let (Standing::Withdrawn { .. }, Some(published)) = (&row.standing, row.publication.clone()) else {
            continue;
        };
        if published.gone.get().is_none()
            && let Some(gone) = packages!(row.member, packages::why_gone(services, row, event))?
        {
            let _ = published.gone.set(Some(gone));
        }
        if let (Standing::Withdrawn { why, .. }, Some(Some(known))) = (&mut row.standing, published.gone.get()) {
            *why = *known;
        }
    }
    Ok(())
}

/// The content and the declarations of a version, which is a row of [`package_rows`].
pub async fn version_details(
    services: &Services,
    of: &PackagesAsk,
    package: &str,
    row: VersionRow,
    event: &mut Event,
) -> Result<VersionDetails> {
    packages!(of.repository, package_details::version(services, &of.ask(), package, row, event))
}

/// The README of a version of a gem; `None`: there is none, or clients do not get the version, or it is not in the cache.
pub async fn readme(
    services: &Services,
    of: &PackagesAsk,
    package: &str,
    row: &VersionRow,
    event: &mut Event,
) -> Result<Option<Readme>> {
    packages!(of.repository, package_details::readme(services, &of.ask(), package, row, event))
}

/// The files in which a version of a package is compared; `None`: they are not known here, or clients do not get it.
pub async fn compared_files(
    services: &Services,
    of: &PackagesAsk,
    package: &str,
    details: &VersionDetails,
    event: &mut Event,
) -> Result<Option<ComparedFiles>> {
    packages!(of.repository, package_details::compared(services, &of.ask(), package, details, event))
}

/// The packages after `after`, at most `limit`: of a hosted repository the ones with versions, of an upstream the ones in its index
/// or in the cache, of a group both.
pub async fn list_packages(
    services: &Services,
    of: &PackagesAsk,
    after: &str,
    limit: usize,
    event: &mut Event,
) -> Result<Page<ListedPackage>> {
    packages!(of.repository, package_list::listed(services, &of.ask(), after, limit, event))
}

/// The packages after `after` whose latest version depends on `package`, at most `limit`. A search examines a limited number of
/// packages.
pub async fn dependents(
    services: &Services,
    of: &PackagesAsk,
    package: &str,
    after: &str,
    limit: usize,
    event: &mut Event,
) -> Result<Dependents> {
    let ask = of.ask();
    let mut found = Dependents { next: Some(after.to_owned()), ..Dependents::default() };
    while found.examined < EXAMINED
        && let Some(from) = found.next.take()
    {
        let ListedNames { names, next: more } =
            packages!(of.repository, package_list::names(services, &ask, &from, NAMES, event))?;
        let last = names.last().map(|(name, _)| name.clone());
        for (name, holders) in names {
            if found.rows.len() >= limit {
                return Ok(found);
            }
            examine(services, of, package, (&name, Among::These(&holders)), &mut found, event).await?;
            found.next = Some(name).filter(|name| more.is_some() || Some(name) != last.as_ref());
        }
    }
    Ok(found)
}

/// Adds a package if its latest version depends on `package`.
async fn examine(
    services: &Services,
    of: &PackagesAsk,
    package: &str,
    (name, among): (&str, Among<'_>),
    found: &mut Dependents,
    event: &mut Event,
) -> Result<()> {
    found.examined += 1;
    let rows = match package_among(services, of, name, among, event).await {
        Err(Error::Hidden(_)) => return Ok(()),
        rows => rows?,
    };
    let Some(row) = rows.latest.and_then(|latest| rows.rows.into_iter().find(|row| row.version == latest)) else {
        return Ok(());
    };
    let details = packages!(of.repository, package_details::details(services, &of.ask(), name, row, among, event))?;
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
