//! The web pages for people: each handler gathers the values of a page, and the crate `web` makes HTML of them.

mod asset;

use crate::app::App;
use crate::error::Error;
use crate::overview;
use crate::reply;
use crate::route::SiteUrl;
use front::{Reply, Request};
use http::header;
use repository::ServerUrl;
use telemetry::{Event, Layer};
use web::{Links, Shell};

/// Answers one request for a page.
pub(crate) async fn answer(app: &App, url: SiteUrl, request: &mut Request, event: &mut Event) -> Result<Reply, Error> {
    event.layer = Layer::Admin;
    match url {
        SiteUrl::Home => overview::of_server(app, request, event).await,
        SiteUrl::Asset(name) => asset::answer(&name),
    }
}

/// What is around a page with this title, for the caller of this request.
pub(crate) async fn shell(
    app: &App,
    title: impl Into<String>,
    request: &Request,
    event: &mut Event,
) -> Result<Shell, Error> {
    let caller = app.access.anyone(request, event).await?;
    let links = Links::new(&app.urls.of(request).url());
    let token = caller.token.map(|token| token.record.name.clone());
    Ok(Shell { token, ..Shell::new(title, links) })
}

/// Whether the client accepts HTML explicitly, as browsers do.
pub(crate) fn accepts_html(request: &Request) -> bool {
    let accepts = request.headers.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok());
    accepts.flat_map(|line| line.split([',', ';'])).any(|media| media.trim() == "text/html")
}

/// The reply with a page.
pub(crate) fn page(page: &impl web::Template) -> Result<Reply, Error> {
    Ok(reply::page(web::html(page).map_err(Error::NotRendered)?, true))
}
