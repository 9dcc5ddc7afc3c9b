//! The web pages for people: each handler gathers the values of a page, and the crate `web` makes HTML of them.

mod asset;
pub(crate) mod browse;
pub(crate) mod difference;
pub(crate) mod downloads;
mod explain;
mod known_package;
pub(crate) mod local;
pub(crate) mod package;
pub(crate) mod packages;
pub(crate) mod readme;
pub(crate) mod search;
pub(crate) mod shell;
mod sign_in;
mod socket_owner;
pub(crate) mod version;

use crate::app::App;
use crate::error::Error;
use crate::overview;
use crate::route::SiteUrl;
use front::{Reply, Request};
use telemetry::{Event, Layer};

/// Answers one request for a page.
pub(crate) async fn answer(app: &App, url: SiteUrl, request: &mut Request, event: &mut Event) -> Result<Reply, Error> {
    event.layer = Layer::Admin;
    match url {
        SiteUrl::Home => overview::of_server(app, request, event).await,
        SiteUrl::Packages(name) => packages::answer(app, &name, request, event).await,
        SiteUrl::Package(name, of) => package::answer(app, &name, &of, request, event).await,
        SiteUrl::Version(name, package, of) => version::answer(app, &name, &package, &of, request, event).await,
        SiteUrl::Search => Box::pin(search::answer(app, request, event)).await,
        SiteUrl::OpenSearch => search::description(app, request),
        SiteUrl::Asset(name) => asset::answer(&name),
        SiteUrl::SignIn => sign_in::form(app, request, event).await,
        SiteUrl::SignInSent => Box::pin(sign_in::sign_in(app, request, event)).await,
        SiteUrl::SignOut => Box::pin(sign_in::sign_out(app, request, event)).await,
        SiteUrl::Explain => {
            let query = request.query().unwrap_or_default();
            Box::pin(explain::answer(app, query, request, event)).await
        }
        SiteUrl::Browse { segment, path } => Box::pin(browse::answer(app, &segment, &path, request, event)).await,
    }
}
