//! Lists of packages: of a repository, and of the dependents of a package.

use super::known_package::latest_is;
use super::shell;
use crate::admin::pagination::{self, PageQuery};
use crate::app::App;
use crate::error::Error;
use crate::lookup::read_repository::ReadRepository;
use front::{Reply, Request};
use telemetry::Event;
use web::{Dependency, Dependent, Dependents, DependentsPage, ListedPackage, Packages, PackagesPage};

/// How many packages a page lists, unless the query says otherwise.
const SHOWN: usize = 100;

/// The page with the packages of a repository.
pub(super) async fn answer(app: &App, name: &str, request: &Request, event: &mut Event) -> Result<Reply, Error> {
    let read = ReadRepository::named(app, name, request, event).await?;
    let PageQuery { after, limit } = pagination::read_or(request.query().unwrap_or_default(), SHOWN)?;
    let list = list(app, &read, &after, limit, event).await?;
    let shell = shell::of(app, format!("Packages of {}", list.repository), request, event).await?;
    shell::page(&PackagesPage { shell: &shell, list: &list }, event).await
}

/// The page with the dependents of a package.
pub(super) async fn dependents_page(
    app: &App,
    read: &ReadRepository,
    package: &str,
    page: &PageQuery,
    request: &Request,
    event: &mut Event,
) -> Result<Reply, Error> {
    let list = dependents(app, read, package, page, event).await?;
    let title = format!("Dependents of {} in {}", list.package, list.repository);
    let shell = shell::of(app, title, request, event).await?;
    shell::page(&DependentsPage { shell: &shell, list: &list }, event).await
}

/// The packages of a repository after `after`, at most `limit`.
pub(crate) async fn list(
    app: &App,
    read: &ReadRepository,
    after: &str,
    limit: usize,
    event: &mut Event,
) -> Result<Packages, Error> {
    let page = app.repositories.packages(&read.packages(), after, limit, event).await?;
    let listed = |one: repository::ListedPackage| ListedPackage {
        package: one.package,
        latest: one.latest,
        latest_is: latest_is(one.latest_is),
        visible: one.visible,
        hidden: one.hidden,
    };
    let (repository, format) = (read.segment.clone(), read.repository.format.as_str());
    Ok(Packages { repository, format, packages: page.rows.into_iter().map(listed).collect(), next: page.next })
}

/// The packages of a repository whose latest version depends on a package.
pub(crate) async fn dependents(
    app: &App,
    read: &ReadRepository,
    package: &str,
    page: &PageQuery,
    event: &mut Event,
) -> Result<Dependents, Error> {
    event.subject.package = package.into();
    let found = app.repositories.dependents(&read.packages(), package, &page.after, page.limit, event).await?;
    let tell = |one: repository::Dependent| Dependent {
        package: one.package,
        version: one.version,
        dependency: Dependency {
            package: one.dependency.package,
            versions: one.dependency.versions,
            scope: one.dependency.scope,
            optional: one.dependency.optional,
            classifier: one.dependency.classifier,
        },
    };
    Ok(Dependents {
        repository: read.segment.clone(),
        package: package.to_owned(),
        dependents: found.rows.into_iter().map(tell).collect(),
        examined: found.examined,
        unknown: found.unknown,
        next: found.next,
    })
}
