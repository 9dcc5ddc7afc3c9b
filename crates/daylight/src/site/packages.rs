//! The pages about packages: the list of a repository, a package, and a version.

use super::shell;
use crate::app::App;
use crate::error::Result;
use crate::formats;
use crate::lookup::pagination::{self, PageQuery};
use crate::lookup::read_repository::ReadRepository;
use crate::lookup::{difference, downloads, package, packages, readme, version};
use front::{Reply, Request};
use telemetry::Event;
use web::{DependentsPage, DifferencePage, DownloadsPage, PackagePage, PackagesPage, ReadmePage, VersionPage};

/// How many packages a page lists, unless the query says otherwise.
const PACKAGES: usize = 100;
/// How many versions a page shows, unless the query says otherwise.
const VERSIONS: usize = 200;

/// The page with the packages of a repository.
pub(super) async fn list(app: &App, name: &str, request: &Request, event: &mut Event) -> Result<Reply> {
    let read = ReadRepository::named(app, name, request, event).await?;
    let PageQuery { after, limit } = pagination::read_or(request.query().unwrap_or_default(), PACKAGES)?;
    let list = packages::list(app, &read, &after, limit, event).await?;
    let shell = shell::of(app, format!("Packages of {}", list.repository), request, event).await?;
    shell::page(&PackagesPage { shell: &shell, list: &list }, event).await
}

/// The page about a package; about its dependents, its downloads, or the difference of two versions, if the query says so.
pub(super) async fn package(
    app: &App,
    name: &str,
    package: &str,
    request: &Request,
    event: &mut Event,
) -> Result<Reply> {
    let read = ReadRepository::named(app, name, request, event).await?;
    let query = request.query().unwrap_or_default();
    let page = pagination::read_or(query, VERSIONS)?;
    if pagination::flag(query, "dependents")? {
        let list = packages::dependents(app, &read, package, &page, event).await?;
        let title = format!("Dependents of {} in {}", list.package, list.repository);
        let shell = shell::of(app, title, request, event).await?;
        return shell::page(&DependentsPage { shell: &shell, list: &list }, event).await;
    }
    if pagination::flag(query, "downloads")? {
        let downloads = downloads::show(app, &read, package, event).await?;
        let title = format!("Downloads of {} from {}", downloads.package, downloads.repository);
        let shell = shell::of(app, title, request, event).await?;
        return shell::page(&DownloadsPage { shell: &shell, downloads: &downloads }, event).await;
    }
    if let Some((from, to)) = difference::versions_in(query) {
        let difference = Box::pin(difference::show(app, &read, package, (&from, &to), event)).await?;
        let title = format!("{}: {} and {}", difference.package, difference.from, difference.to);
        let shell = shell::of(app, title, request, event).await?;
        return shell::page(&DifferencePage { shell: &shell, difference: &difference }, event).await;
    }
    let has_readmes = formats::of(read.repository.format).has_readmes;
    let package = package::show(app, &read, package, &page, request, event).await?;
    let shell = shell::of(app, format!("{} in {}", package.package, package.repository), request, event).await?;
    shell::page(&PackagePage { shell: &shell, package: &package, has_readmes }, event).await
}

/// The page about a version, or its README, if the query says so.
pub(super) async fn version(
    app: &App,
    name: &str,
    package: &str,
    version: &str,
    request: &Request,
    event: &mut Event,
) -> Result<Reply> {
    let read = ReadRepository::named(app, name, request, event).await?;
    if pagination::flag(request.query().unwrap_or_default(), "readme")? {
        let readme = readme::show(app, &read, package, version, event).await?;
        let title = format!("README of {} {} in {}", readme.package, readme.version, readme.repository);
        let shell = shell::of(app, title, request, event).await?;
        return shell::page(&ReadmePage { shell: &shell, readme: &readme }, event).await;
    }
    let has_readmes = formats::of(read.repository.format).has_readmes;
    let version = version::show(app, &read, package, version, request, event).await?;
    let title = format!("{} {} in {}", version.package, version.line.version, version.repository);
    let shell = shell::of(app, title, request, event).await?;
    shell::page(&VersionPage { shell: &shell, version: &version, has_readmes }, event).await
}
