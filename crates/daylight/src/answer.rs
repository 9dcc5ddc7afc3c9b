//! The line: from a request to its reply, on one screen.

use crate::app::App;
use crate::class;
use crate::config::{FORM_BYTES, SMALL_BODY_BYTES};
use crate::error::Result;
use crate::health::metrics;
use crate::reply::audience::Audience;
use crate::reply::receipt::{self, Receipt};
use crate::reply::{cache_headers, folder_page, ivy};
use crate::route::{self, Content, Route};
use crate::upload::write_headers::WriteHeaders;
use crate::upload::{origin_headers, publishing, write_headers};
use crate::{access, accounts, admin, conformance, health, hooks, reply, site, upload};
use bytes::Bytes;
use front::{Reply, Request, client};
use http::{HeaderValue, header};
use repository::{
    About, Ask, Brings, Found, Parameters, People, Place, Question, Reading, Repository, Scope, ServerUrl, TreeFound,
    Unread,
};
use std::pin::Pin;
use std::sync::Arc;
use store::Stamp;
use telemetry::{Event, Op, works_for};

/// Answers one request that no page answers. The caller turns an error into a reply, once.
pub(crate) async fn answer(
    app: &App,
    request: &mut Request,
    audience: &mut Audience,
    event: &mut Event,
) -> Result<Reply> {
    let route = event.time(Op::Route, || route::read(&request.method, request.path()))?;
    let brings_small_body = match &route {
        Route::Hook(_) => true,
        // A stranger is refused at once.
        Route::Admin(admin) if admin.verb.takes_body() => {
            Box::pin(app.access.holder(&request.headers, event)).await?.is_some()
        }
        _ => false,
    };
    if brings_small_body {
        Box::pin(app.receive(SMALL_BODY_BYTES, request, event)).await?;
    }
    // Before any work. Below a repository the class is known once the repository's format has read the path.
    let _place = match class::of_route(&route) {
        Some(class) => Some(Box::pin(app.enter(class, request, event)).await?),
        None => None,
    };
    if matches!(route, Route::Admin(_) | Route::Metrics | Route::Site(_)) {
        Box::pin(app.store.settle_cached(event)).await; // they show figures
    }
    // Large futures are boxed: hyper moves the request's future, and a small one costs less.
    match route {
        Route::Content(url) => placed(|| below(app, request, url, audience, event)).await,
        Route::Admin(ask) => Box::pin(admin::answer(app, ask, request, event)).await,
        Route::Conformance(call, name) => Box::pin(conformance::answer(app, call, &name, request, event)).await,
        Route::Hook(call) => Box::pin(hooks::answer(app, call, request, event)).await,
        Route::Live => Ok(event.time(Op::ReplyMake, || reply::text("alive\n"))),
        Route::Ready => Box::pin(health::ready(app, request.query() == Some(FRESH), event)).await,
        Route::Metrics => Box::pin(metrics::answer(app, request, event)).await,
        Route::Site(url) => Box::pin(site::answer(app, url, request, event)).await,
    }
}

/// The query of a readiness probe that wants answers without `Daylight-Stale`.
const FRESH: &str = "fresh";

/// Makes a future in its box. Made elsewhere, one of many kilobytes would be copied there for each request.
fn placed<F: Future>(make: impl FnOnce() -> F) -> Pin<Box<F>> {
    let place = Box::new_uninit();
    Box::into_pin(Box::write(place, make()))
}

/// Answers a request for something below a repository's URL, which the repository's format reads: once.
async fn below(
    app: &App,
    request: &mut Request,
    mut url: Content,
    audience: &mut Audience,
    event: &mut Event,
) -> Result<Reply> {
    let is_fresh = app.store.freshness().is_fresh(); // before anything is read
    let (repository, settings) = app.access.repository(&app.repositories, &url.repository, request, event).await?;
    audience.format = Some(repository.format); // the client may know that it exists
    let kept = url.keep_query(&repository, request.query());
    let reading = event.time(Op::Route, || url.read(repository.format, repository.record.kind))?;
    publishing::refuse_changes(app, &repository, &url, &reading, request, event).await?;
    if reading.brings == Brings::Form {
        app.receive(FORM_BYTES, request, event).await?;
    }
    let place = app.enter(class::of_cost(reading.cost), request, event).await?;
    let place = Place::new(client(request.client), event.id, place); // given to others while this request waits for an upstream
    match reading.about {
        About::Account(account) => accounts::answer(app, account, &repository, request, event).await,
        About::Content(scope, question) => {
            let Reading { brings, needs_token, .. } = reading;
            let asked = ContentRequest {
                url: &url,
                kept,
                scope,
                question,
                brings,
                needs_token,
                repository,
                settings,
                is_fresh,
                place,
            };
            content(app, request, asked, event).await
        }
    }
}

/// A request for content of a repository, once it has a place.
struct ContentRequest<'a> {
    url: &'a Content,
    /// Why its query cannot be kept.
    kept: Result<(), repository::Error>,
    scope: Scope,
    question: Result<Question<'a>, Unread>,
    brings: Brings,
    needs_token: bool,
    repository: Arc<Repository>,
    settings: Stamp,
    /// Everything that was acknowledged by any node before the request came is read.
    is_fresh: bool,
    place: Arc<Place>,
}

/// Answers a request for content of a repository.
async fn content(app: &App, request: &mut Request, asked: ContentRequest<'_>, event: &mut Event) -> Result<Reply> {
    let ContentRequest { url, kept, scope, question, brings, needs_token, repository, settings, is_fresh, place } =
        asked;
    let who = app.access.content(request, scope, &repository, event).await?;
    let repository = match url.as_of {
        Some(as_of) => app.repositories.as_of(&repository, as_of, event).await?,
        None => repository,
    };
    let question = question.map_err(|why| url.unread(why, &repository))?;
    kept?;
    if needs_token && who.token.is_none() {
        return Err(access::Error::AccountMissing.into());
    }
    let form = match brings {
        Brings::Form => request.upload.collect(FORM_BYTES, event).await?,
        Brings::Nothing | Brings::File => Bytes::new(),
    };
    let query = request.query().unwrap_or_default().to_owned();
    let written = match scope {
        Scope::Read => WriteHeaders::default(),
        _ => write_headers::read(&request.headers, (url, &query), (repository.format, &question), brings)?,
    };
    let origin = match brings {
        Brings::File => origin_headers::read(&request.headers, &who)?,
        Brings::Nothing | Brings::Form => None,
    };
    let people = if scope == Scope::AddOwner { Some(app.access.table(event).await?) } else { None };
    let (server, path) = (app.urls.of(request), url.path.as_str());
    let parameters = Parameters {
        query: &query,
        form: &form,
        server: Some(&server),
        segment: &url.segment,
        origin: origin.as_ref(),
        conditions: written.conditions.as_ref(),
        people: people.as_deref().map(|table| table as &dyn People),
    };
    let ask = Ask { repository, settings, question, parameters, place };
    works_for(ask.repository.id.0);
    event.subject = ask.subject();
    let stamp = app.repositories.stamp(&ask); // before the work
    let is_now = app.store.freshness().is_fresh(); // as the stamp says
    let (is_fresh, is_steady) = (is_fresh && is_now, is_fresh == is_now);
    if let Err(error) = app.repositories.admit(&ask, who.actor()) {
        return Err(Box::pin(publishing::refuse_upload(app, &ask, &url.path, error, request, event)).await);
    }
    let upload = match brings {
        Brings::File => Some(Box::pin(upload::receive(app, &ask, &written, &who, request, event)).await?),
        Brings::Nothing | Brings::Form => None,
    };
    let receipt = upload.as_ref().filter(|_| receipt::is_wanted(request)).and_then(|staged| {
        let (url, declared) = (format!("{}{}", server.url(), request.path()), written.digests.digests());
        Some(Receipt { hashes: staged.hashes().ok()?, declared, path, url, by: who.name() })
    });
    let answer = app.repositories.answer((&ask, stamp), upload, who.actor(), event).await;
    if scope != Scope::Read && answer.is_ok() && event.tally(Op::CommitEverywhere).count == 0 {
        app.store.settle_everywhere(event).await; // it was there before, and is acknowledged now
    }
    let until = app.repositories.fresh_until(&ask, &answer);
    let stamp = stamp.map(|stamp| until.map_or(stamp, |until| stamp.until(until)));
    let mut reply = match answer {
        Ok(Found::Root) => Box::pin(site::overview::of_repository(app, &ask, &who, request, event)).await?,
        Ok(Found::Tree(TreeFound::Folder(list))) => Box::pin(folder_page::of(app, list, &ask, event)).await?,
        Ok(found) => event.time(Op::ReplyMake, || reply::found(found, &ask, request, receipt)),
        Err(error) if front::opens_pages(request) => return Err(error.into()), // as a web page
        Err(error) if scope != Scope::Read && !is_fresh => return Err(error.into()), // another node may have it
        Err(error) => app.missing(error, &ask, url, event)?, // a proven absence is an answer, and may be a page
    };
    if ivy::is_about_to_upload(request, &ask, &reply, || app.clock.now()) {
        return app.missing(repository::Error::NoSuchFile(url.path.clone()), &ask, url, event); // and no page: others are told the checksum
    }
    server.protect(&mut reply);
    if !is_fresh {
        cache_headers::mark_unconfirmed(&mut reply.headers, event);
    }
    if who.token.is_some() && !request.headers.contains_key(header::AUTHORIZATION) {
        // Read with the cookie of a session, which ends: the browser shows it to nobody later.
        reply.headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    }
    if is_steady {
        // As a page, where it may be one. Its stamp does not tell that trust began meanwhile.
        app.keep(request, &reply, &ask, &who, stamp, event);
    }
    Ok(reply)
}
