//! `/api/v1/explain`: which answer a request would get, and why. The page `/explain` shows the same value.

use crate::access;
use crate::app::App;
use crate::error::{Error, Result};
use crate::lookup::explain;
use crate::lookup::explained::Reader;
use front::Request;
use serde_json::Value;
use telemetry::Event;

/// The answer to a call of the API.
pub(super) async fn show(app: &App, query: &str, request: &Request, event: &mut Event) -> Result<Value> {
    access::refuse_cross_site(&request.headers)?;
    let form = explain::form(query);
    for (name, value) in [("repository", &form.repository), ("path", &form.path)] {
        if value.is_empty() {
            return Err(Error::Input(format!("`{name}` is missing")));
        }
    }
    let reader = Reader { caller: app.access.anyone(request, event).await?, is_local: false };
    let value = explain::value(app, &form, &reader, request, event).await?;
    Ok(serde_json::to_value(&value).unwrap_or_default())
}
