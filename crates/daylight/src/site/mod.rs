//! The web pages for people: each handler looks up the values of a page, and the crate `web` makes HTML of them.

mod apps;
mod asset;
mod browse;
mod event;
mod explain;
mod home;
mod koji;
mod listed;
pub(crate) mod local;
mod observer;
pub(crate) mod overview;
mod packages;
mod question;
mod search;
pub(crate) mod shell;
mod sign_in;
mod socket_owner;

use crate::app::App;
use crate::error::Result;
use crate::route::SiteUrl;
use front::{Reply, Request};
use telemetry::{Event, Layer};

/// Answers one request for a page.
pub(crate) async fn answer(app: &App, url: SiteUrl, request: &mut Request, event: &mut Event) -> Result<Reply> {
    event.layer = Layer::Admin;
    match url {
        SiteUrl::Home if app.apps.get().is_some() => Box::pin(apps::page(app, request, event)).await,
        SiteUrl::Home => overview::of_server(app, request, event).await,
        SiteUrl::Packages(name) => packages::list(app, &name, request, event).await,
        SiteUrl::Package(name, of) => packages::package(app, &name, &of, request, event).await,
        SiteUrl::Version(name, package, of) => packages::version(app, &name, &package, &of, request, event).await,
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
        SiteUrl::Event(id) => Box::pin(event::page(app, &id, request, event)).await,
        SiteUrl::Ask => Box::pin(question::page(app, request, event)).await,
        SiteUrl::Browse { segment, path } => Box::pin(browse::answer(app, &segment, &path, request, event)).await,
    }
}
