//! Where packages are published: a group and a remote repository take no changes, and say which hosted repository does.

use crate::app::App;
use crate::elsewhere::{Elsewhere, Place};
use crate::error::Error;
use crate::route::Content;
use format::percent::segment;
use front::Request;
use repository::{About, Question, Reading, Repository, Scope, ServerUrl, Unread};
use std::sync::Arc;
use store::RepositoryKind;
use telemetry::Event;

/// Refuses changes of groups and remote repositories, before anything is asked of the caller: no token helps.
pub(crate) async fn refuse_changes(
    app: &App,
    repository: &Arc<Repository>,
    url: &Content,
    reading: &Reading<Question<'_>>,
    request: &Request,
    event: &mut Event,
) -> Result<(), Error> {
    let what = match repository.record.kind {
        RepositoryKind::Hosted => return Ok(()),
        RepositoryKind::Remote => "a remote repository",
        RepositoryKind::Group => "a group of repositories",
    };
    match &reading.about {
        About::Content(Scope::Read, _) | About::Content(_, Err(Unread::NoSuchPath)) | About::Account(_) => Ok(()),
        About::Content(scope, _) => {
            let hosted =
                app.access.publishes_to(&app.repositories, repository, *scope, &url.path, request, event).await?;
            let place = hosted.map(|hosted| Place {
                url: format!("{}/repository/{}", app.urls.of(request).url(), segment(&hosted.record.name)),
                name: hosted.record.name.clone(),
                path: url.path.clone(),
            });
            let (name, format) = (repository.record.name.clone(), repository.format);
            Err(Error::Elsewhere(Box::new(Elsewhere { name, what, format, place })))
        }
    }
}
