//! `/sign-in` and `/sign-out`: a token that is shown once becomes a session, whose cookie the browser sends from then on.

use super::shell;
use crate::access::{self, session};
use crate::app::App;
use crate::class::Permit;
use crate::config::FORM_BYTES;
use crate::error::{Error, Result};
use crate::reply;
use client::Secret;
use format::percent::Form;
use front::{Reply, Request};
use http::header;
use repository::ServerUrl;
use telemetry::{Class, Event};
use web::{Links, SignInPage};

/// The form.
pub(super) async fn form(app: &App, request: &Request, event: &mut Event) -> Result<Reply> {
    let server = app.urls.of(request).url();
    let from = request.headers.get(header::REFERER).and_then(|from| from.to_str().ok());
    let to = own_path(from.and_then(|from| from.strip_prefix(&*server)), &server);
    page(app, &to, None, request, event).await
}

/// Signs in with the token of a form, and sends the browser on.
pub(super) async fn sign_in(app: &App, request: &mut Request, event: &mut Event) -> Result<Reply> {
    let (_place, sent, server) = received(app, request, event).await?;
    let fields = Form(&sent);
    let text = |name| fields.value(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let (token, code) = (Secret::new(text("token").unwrap_or_default()), text("code"));
    // The prefix of a proxy is a part of the path already.
    let to = text("to").filter(|to| web::is_own_path(to)).unwrap_or_else(|| Links::new(&server).home());
    let https = server.starts_with("https:");
    match app.access.sign_in(&token, code.as_deref(), https, request, event).await {
        Ok(secret) => Ok(reply::go_to(&to, &cookie(&server, secret.expose(), session::SESSION_S))),
        Err(error) => {
            let error = Error::from(error);
            event.reason = Some(error.reason());
            let page = page(app, &to, Some(&error), request, event).await?;
            Ok(reply::form_again(page, &error))
        }
    }
}

/// Ends a session, and removes its cookie.
pub(super) async fn sign_out(app: &App, request: &mut Request, event: &mut Event) -> Result<Reply> {
    let (_place, sent, server) = received(app, request, event).await?;
    let shown = Form(&sent).value("secret").unwrap_or_default();
    app.access.sign_out(&shown, request, event).await?;
    Ok(reply::go_to(&Links::new(&server).home(), &cookie(&server, "", 0)))
}

/// The form that a page of this server sent, a place for the work, and the URL of the server. A slow client holds no place.
async fn received(app: &App, request: &mut Request, event: &mut Event) -> Result<(Permit, String, String)> {
    let server = app.urls.of(request).url();
    access::refuse_unless_from_here(&request.headers, &server)?;
    app.receive(FORM_BYTES, request, event).await?;
    let place = app.enter(Class::Accounts, request, event).await?;
    let body = request.upload.collect(FORM_BYTES, event).await?;
    let text = String::from_utf8(body.to_vec()).map_err(|_| Error::Input("the form is not UTF-8".into()))?;
    Ok((place, text, server))
}

async fn page(app: &App, to: &str, error: Option<&Error>, request: &Request, event: &mut Event) -> Result<Reply> {
    let shell = shell::of(app, "Sign in", request, event).await?;
    let (problem, hint) = (error.map(Error::shown), error.and_then(|error| error.hint(None)));
    shell::page(&SignInPage { shell: &shell, to, problem: problem.as_deref(), hint: hint.as_deref() }, event).await
}

/// The page of this server that somebody came from, with the prefix of a proxy, or the first page.
fn own_path(from: Option<&str>, server: &str) -> String {
    let links = Links::new(server);
    let base = links.home();
    let path = from.filter(|path| web::is_own_path(path) && !path.starts_with("/sign-"));
    path.map_or_else(|| base.clone(), |path| format!("{}{path}", base.trim_end_matches('/')))
}

/// The cookie of a session for some seconds. Scripts do not see it, and no other site makes a browser send it.
fn cookie(server: &str, secret: &str, seconds: u32) -> String {
    let https = server.starts_with("https:");
    let (name, secure) = (session::cookie_name(https), if https { "; Secure" } else { "" });
    format!("{name}={secret}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}")
}
