//! `/api/v1/browse/NAME/PATH`: one level of the content of a repository. It is the value of the page.

use crate::app::App;
use crate::error::Error;
use crate::lookup::browse::level;
use crate::lookup::pagination::{self, PageQuery};
use crate::lookup::read_repository::ReadRepository;
use front::Request;
use repository::PageRequest;
use serde_json::Value;
use telemetry::Event;

pub(super) async fn list(
    app: &App,
    read: &ReadRepository,
    path: &str,
    request: &Request,
    event: &mut Event,
) -> Result<Value, Error> {
    let PageQuery { after, limit } = pagination::read(request.query().unwrap_or_default())?;
    let level = level(app, read, PageRequest { path, after: &after, limit }, event).await?;
    serde_json::to_value(level).map_err(|_| Error::GivenUp)
}
