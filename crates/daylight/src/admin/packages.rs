//! `/api/v1/packages`: the packages of a repository and their versions, from the values of the web pages.

use super::pagination::{self, PageQuery};
use crate::app::App;
use crate::error::Error;
use crate::read_repository::ReadRepository;
use crate::route::{Admin, AdminVerb as Verb};
use crate::site::{package, packages, version};
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
    let page = pagination::read(request.query().unwrap_or_default())?;
    let shown = match admin.verb {
        Verb::Packages => {
            let PageQuery { after, limit } = page;
            serde_json::to_value(packages::list(app, read, &after, limit, event).await?)
        }
        Verb::Package => serde_json::to_value(package::show(app, read, &admin.package, &page, request, event).await?),
        Verb::Dependents => serde_json::to_value(packages::dependents(app, read, &admin.package, &page, event).await?),
        _ => serde_json::to_value(version::show(app, read, &admin.package, &admin.version, request, event).await?),
    };
    shown.map_err(|_| Error::GivenUp)
}
