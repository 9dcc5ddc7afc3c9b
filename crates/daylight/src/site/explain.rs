//! `/explain`: which answer a GET of a path gets, and why. The value is that of the API.

use super::{local, shell};
use crate::app::App;
use crate::error::Result;
use crate::lookup::explain;
use crate::lookup::explained::Reader;
use front::{Reply, Request};
use repository::ServerUrl;
use telemetry::Event;
use web::ExplainPage;

/// The answer with the form, and with the explanation that it asks for.
pub(super) async fn answer(app: &App, query: &str, request: &Request, event: &mut Event) -> Result<Reply> {
    let form = explain::form(query);
    let found = if form.repository.is_empty() || form.path.is_empty() {
        None
    } else {
        let caller = app.access.anyone(request, event).await?;
        let is_local = caller.token.is_none() && local::is_local(app, request);
        let reader = Reader { caller, is_local };
        Some(Box::pin(explain::value(app, &form, &reader, request, event)).await?)
    };
    let shell = shell::of(app, "Why did I get this answer?", request, event).await?;
    let server = app.urls.of(request).url();
    shell::page(&ExplainPage { shell: &shell, form: &form, found: found.as_ref(), server: &server }, event).await
}
