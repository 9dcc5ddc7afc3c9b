//! `/api/v1/packages`: the packages of a repository and their versions, from the values of the web pages.

use crate::app::App;
use crate::error::Error;
use crate::lookup::pagination::{self, PageQuery};
use crate::lookup::read_repository::ReadRepository;
use crate::lookup::{difference, downloads, package, packages, readme, version};
use crate::route::{Admin, AdminVerb as Verb};
use front::Request;
use serde_json::Value;
use telemetry::Event;

/// Answers a call about packages of a repository that its caller may read.
pub(super) async fn show(
    app: &App,
    admin: &Admin,
    read: &ReadRepository,
    request: &Request,
    event: &mut Event,
) -> Result<Value, Error> {
    let query = request.query().unwrap_or_default();
    let page = pagination::read(query)?;
    let shown = match admin.verb {
        Verb::Packages => {
            let PageQuery { after, limit } = page;
            serde_json::to_value(packages::list(app, read, &after, limit, event).await?)
        }
        Verb::Package => serde_json::to_value(package::show(app, read, &admin.package, &page, request, event).await?),
        Verb::Downloads => serde_json::to_value(downloads::show(app, read, &admin.package, event).await?),
        Verb::Difference => {
            let difference = Box::pin(difference::of_query(app, read, &admin.package, query, event)).await?;
            serde_json::to_value(difference)
        }
        Verb::Readme => serde_json::to_value(readme::show(app, read, &admin.package, &admin.version, event).await?),
        Verb::Dependents => serde_json::to_value(packages::dependents(app, read, &admin.package, &page, event).await?),
        _ => serde_json::to_value(version::show(app, read, &admin.package, &admin.version, request, event).await?),
    };
    shown.map_err(|_| Error::GivenUp)
}
