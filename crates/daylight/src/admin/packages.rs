//! `/api/v1/packages` and `/api/v1/browse`: the packages of a repository, and the levels of its content. The web pages show the same values.

use crate::app::App;
use crate::error::Result;
use crate::lookup::pagination::{self, PageQuery};
use crate::lookup::read_repository::ReadRepository;
use crate::lookup::{browse, difference, downloads, package, packages, readme, version};
use crate::route::{Admin, RepositoryVerb as Verb};
use front::Request;
use repository::PageRequest;
use serde_json::{Value, json};
use telemetry::Event;

/// Answers a call that reads a repository.
pub(super) async fn show(
    app: &App,
    (verb, admin): (Verb, &Admin),
    request: &Request,
    event: &mut Event,
) -> Result<Value> {
    let read = &ReadRepository::named(app, &admin.name, request, event).await?;
    let query = request.query().unwrap_or_default();
    let page = pagination::read(query)?;
    Ok(match verb {
        Verb::Packages => {
            let PageQuery { after, limit } = page;
            json!(packages::list(app, read, &after, limit, event).await?)
        }
        Verb::Browse | Verb::BrowseBelow => {
            let level = PageRequest { path: &admin.path, after: &page.after, limit: page.limit };
            json!(browse::level(app, read, level, event).await?)
        }
        Verb::Package => json!(package::show(app, read, &admin.package, &page, request, event).await?),
        Verb::Downloads => json!(downloads::show(app, read, &admin.package, event).await?),
        Verb::Difference => json!(Box::pin(difference::of_query(app, read, &admin.package, query, event)).await?),
        Verb::Readme => json!(readme::show(app, read, &admin.package, &admin.version, event).await?),
        Verb::Dependents => json!(packages::dependents(app, read, &admin.package, &page, event).await?),
        Verb::PackageVersion => json!(version::show(app, read, &admin.package, &admin.version, request, event).await?),
    })
}
