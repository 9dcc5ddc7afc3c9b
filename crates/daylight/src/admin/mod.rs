//! The admin API: JSON in, JSON out, one file for each noun. The command line goes through it.

mod repositories;
mod tokens;

use crate::app::App;
use crate::error::Error;
use crate::route::Admin;
use front::{Reply, Request};
use http::Method;
use serde::de::DeserializeOwned;
use telemetry::{Event, Layer};

/// Longest body, in bytes.
const BODY_MAX: u64 = 64 * 1024;

/// Answers one request to the API. Everything here needs a token with the scope `admin`.
pub(crate) async fn answer(app: &App, ask: Admin, request: &mut Request, event: &mut Event) -> Result<Reply, Error> {
    event.layer = Layer::Admin;
    event.subject.kind = "api";
    let changes = !matches!(request.method, Method::GET | Method::HEAD);
    let who = app.access.server(&request.headers, changes, event).await?;
    match ask {
        Admin::Repositories => repositories::list(app, event).await,
        Admin::AddRepository => repositories::add(app, body(request, event).await?, who.name(), event).await,
        Admin::Repository(name) => repositories::show(app, &name, event).await,
        Admin::ChangeRepository(name) => {
            repositories::change(app, &name, body(request, event).await?, who.name(), event).await
        }
        Admin::CompactRepository(name) => repositories::compact(app, &name, who.name(), event).await,
        Admin::RemoveRepository(name) => repositories::remove(app, &name, who.name(), event).await,
        Admin::Tokens => tokens::list(app, event).await,
        Admin::AddToken => tokens::add(app, body(request, event).await?, who.name(), event).await,
        Admin::RevokeToken(name) => tokens::revoke(app, &name, who.name(), event).await,
    }
}

async fn body<T: DeserializeOwned>(request: &mut Request, event: &mut Event) -> Result<T, Error> {
    let body = request.upload.collect(BODY_MAX, event).await?;
    serde_json::from_slice(&body).map_err(|error| Error::Input(format!("the JSON body cannot be read: {error}")))
}
