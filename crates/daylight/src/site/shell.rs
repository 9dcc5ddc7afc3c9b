//! The shell of a page: the parts that every page has, for the caller of one request.

use crate::access::{Access, session};
use crate::app::App;
use crate::error::{Error, Result};
use crate::reply;
use front::{Reply, Request};
use http::header;
use repository::{ServerUrl, after_others};
use telemetry::Event;
use web::{Links, Shell};

/// The shell of a page with this title, for the caller of this request.
pub(crate) async fn of(app: &App, title: impl Into<String>, request: &Request, event: &mut Event) -> Result<Shell> {
    let caller = app.access.anyone(request, event).await?;
    let links = Links::new(&app.urls.of(request).url());
    let is_session = caller.token.as_ref().is_some_and(|token| Access::is_session(token, request));
    let session = if is_session { session::secret_of_forms(request) } else { None };
    let token = caller.token.map(|token| token.record.name.clone());
    let searches = app.apps.get().is_none();
    Ok(Shell { token, session, searches, ..Shell::new(title, links) })
}

/// The shell of the page with an error, where the client is a browser that opens a URL. Calls of the API answer with problems, and a page
/// for a caller who cannot be told is one for a caller without a token.
pub(crate) async fn of_error(app: &App, error: &Error, request: &Request, event: &mut Event) -> Option<Shell> {
    if !front::opens_pages(request) {
        return None;
    }
    let title = reply::heading(error);
    match of(app, title, request, event).await {
        Ok(shell) => Some(shell),
        Err(_) => Some(Shell::new(title, Links::new(&app.urls.of(request).url()))),
    }
}

/// Whether the client accepts HTML explicitly, as browsers do.
pub(crate) fn accepts_html(request: &Request) -> bool {
    let accepts = request.headers.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok());
    accepts.flat_map(|line| line.split([',', ';'])).any(|media| media.trim() == "text/html")
}

/// The reply with a page.
pub(crate) async fn page(page: &impl web::Template, event: &mut Event) -> Result<Reply> {
    after_others(event).await;
    Ok(reply::page(web::html(page).map_err(Error::NotRendered)?, true))
}
