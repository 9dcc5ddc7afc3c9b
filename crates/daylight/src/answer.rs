//! The line: from a request to its reply, on one screen.

use crate::app::App;
use crate::class::Class;
use crate::error::Error;
use crate::route::{self, Content, Route};
use crate::{admin, question, reply, upload};
use front::{Reply, Request};
use repository::Ask;
use telemetry::{Event, Op};

/// Answers one request. The caller turns an error into a reply, once.
pub(crate) async fn answer(app: &App, mut request: Request, event: &mut Event) -> Result<Reply, Error> {
    if let Some(reply) = app.pages.hit(&request, event) {
        return Ok(reply); // complete, and its stamp still holds
    }
    let route = event.time(Op::Route, || route::read(&request.method, request.path()))?;
    let _place = app.classes.enter(Class::of(&route))?; // before any work: too many of a kind wait for nobody
    match route {
        Route::Content(url) => content(app, &mut request, url, event).await,
        Route::Admin(ask) => admin::answer(app, ask, &mut request, event).await,
        Route::Live => Ok(reply::text("alive\n")),
        Route::Ready => app.ready(event).await,
        Route::Metrics => Ok(reply::text(app.recorder.prometheus())),
        Route::Welcome => Ok(reply::text(crate::WELCOME)),
    }
}

/// Answers a request for something of a repository.
async fn content(app: &App, request: &mut Request, url: Content, event: &mut Event) -> Result<Reply, Error> {
    let (repository, settings) = app.repositories.find(&url.repository, event).await?;
    let who = app.access.content(&request.headers, url.scope, &repository, event).await?;
    let question = question::read(&url, &repository, request, event).await?;
    let ask = Ask { repository, settings, question };
    event.subject = ask.subject();
    let stamp = app.repositories.stamp(&ask); // before the work
    let upload = upload::receive(app, &ask, request, event).await?;
    let reply = match app.repositories.answer(&ask, upload, who.name(), event).await {
        Ok(found) => event.time(Op::ReplyMake, || reply::found(found, &ask)),
        Err(error) => app.missing(error, &ask, event)?, // proven, that is an answer like another
    };
    app.keep(request, &reply, &ask, &who, stamp, event); // only what may be a page
    Ok(reply)
}
