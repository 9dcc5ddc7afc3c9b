//! Names the place for a publication: a repository that refuses a change names the hosted repository that accepts it.

use crate::app::App;
use crate::error::{Error, Result};
use crate::route::Content;
use crate::upload::elsewhere::{Elsewhere, PublishTarget, Refusal};
use format::percent::segment;
use front::Request;
use repository::{About, Ask, Question, Reading, Repository, Scope, ServerUrl, Unread};
use std::sync::Arc;
use store::RepositoryKind;
use telemetry::Event;

/// Refuses changes of groups and remote repositories before the token is checked, because no token helps.
pub(crate) async fn refuse_changes(
    app: &App,
    repository: &Arc<Repository>,
    url: &Content,
    reading: &Reading<Question<'_>>,
    request: &Request,
    event: &mut Event,
) -> Result<()> {
    let refusal = match repository.record.kind {
        RepositoryKind::Hosted => return Ok(()),
        RepositoryKind::Remote => Refusal::Remote,
        RepositoryKind::Group => Refusal::Group,
    };
    match &reading.about {
        About::Content(Scope::Read, _) | About::Content(_, Err(Unread::NoSuchPath)) | About::Account(_) => Ok(()),
        About::Content(scope, _) => {
            let change = RefusedChange { repository, scope: *scope, path: &url.path };
            Err(elsewhere(app, change, refusal, request, event).await?)
        }
    }
}

/// Refuses an upload before it arrives. If the version policy refuses it, the error names the repository that accepts
/// the version.
pub(crate) async fn refuse_upload(
    app: &App,
    ask: &Ask<'_>,
    path: &str,
    error: repository::Error,
    request: &Request,
    event: &mut Event,
) -> Error {
    let repository::Error::VersionRefused { version, policy } = error else { return error.into() };
    let change = RefusedChange { repository: &ask.repository, scope: Scope::Write, path };
    elsewhere(app, change, Refusal::Version { version, policy }, request, event).await.unwrap_or_else(|error| error)
}

/// A change that a repository does not accept.
struct RefusedChange<'a> {
    repository: &'a Repository,
    scope: Scope,
    path: &'a str,
}

async fn elsewhere(
    app: &App,
    RefusedChange { repository, scope, path }: RefusedChange<'_>,
    refusal: Refusal,
    request: &Request,
    event: &mut Event,
) -> Result<Error> {
    let hosted = app.access.publishes_to(&app.repositories, repository, scope, path, request, event).await?;
    let target = hosted.map(|hosted| PublishTarget {
        url: format!("{}/repository/{}", app.urls.of(request).url(), segment(&hosted.record.name)),
        name: hosted.record.name.clone(),
        path: path.to_owned(),
    });
    let (name, format) = (repository.record.name.clone(), repository.format);
    Ok(Error::Elsewhere(Box::new(Elsewhere { name, refusal, format, target })))
}
