//! Lists of packages: of a repository, and of the dependents of a package.

use super::known_package::latest_is;
use crate::app::App;
use crate::error::Result;
use crate::lookup::pagination::PageQuery;
use crate::lookup::read_repository::ReadRepository;
use telemetry::Event;
use web::{Dependency, Dependent, Dependents, ListedPackage, Packages};

/// The packages of a repository after `after`, at most `limit`.
pub(crate) async fn list(
    app: &App,
    read: &ReadRepository,
    after: &str,
    limit: usize,
    event: &mut Event,
) -> Result<Packages> {
    let page = repository::list_packages(app.services(), &read.packages(), after, limit, event).await?;
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
) -> Result<Dependents> {
    event.subject.package = package.into();
    let found =
        repository::dependents(app.services(), &read.packages(), package, &page.after, page.limit, event).await?;
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
