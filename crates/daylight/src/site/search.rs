//! `/search?q=`: packages and files in all repositories that the caller may read.

use super::shell;
use crate::app::App;
use crate::error::{Error, Result};
use crate::lookup::search::search;
use crate::reply;
use format::percent::Form;
use front::{Reply, Request};
use repository::ServerUrl;
use telemetry::Event;
use web::{OpenSearch, SearchPage, Shell};

/// The answer with the page.
pub(super) async fn answer(app: &App, request: &Request, event: &mut Event) -> Result<Reply> {
    let query = request.query().unwrap_or_default().to_owned();
    let search = search(app, request, event).await?;
    let text = search.as_ref().map(|search| search.query.clone()).unwrap_or_default();
    let title = if text.is_empty() { "Search".to_owned() } else { format!("{text}: search") };
    let shell = Shell { query: text, ..shell::of(app, title, request, event).await? };
    let repository = Form(&query).value("repository");
    shell::page(&SearchPage { shell: &shell, search: search.as_ref(), repository: repository.as_deref() }, event).await
}

/// The description of the search for browsers.
pub(super) fn description(app: &App, request: &Request) -> Result<Reply> {
    let server = app.urls.of(request).url();
    let url = format!("{server}/search?q={{searchTerms}}");
    let body = web::html(&OpenSearch { url: &url }).map_err(Error::NotRendered)?;
    Ok(reply::opensearch(body))
}
