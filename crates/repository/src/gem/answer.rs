//! Answers the questions of a gem repository.

use crate::actor::Actor;
use crate::error::{Error, Result};
use crate::found::Found as Any;
use crate::gem::download::{ANY, Part};
use crate::gem::group::GroupGems;
use crate::gem::hosted::Hosted;
use crate::gem::kept_names::gives_back;
use crate::gem::parameters::Yanked;
use crate::gem::source::GemSource;
use crate::gem::upstream::RemoteGems;
use crate::gem::{Found, Question, left_out, owners, parameters, push, unyank, yank};
use crate::group::kept_names::KeptName;
use crate::group::kept_names::kept_of_units;
use crate::package::listed::Among;
use crate::question::Ask;
use crate::services::Services;
use std::collections::BTreeSet;
use store::{RepositoryKind, Staged};
use telemetry::{Event, Layer, Op};

/// Answers one question to a gem repository. An index that turns out to be damaged is dropped, and the second attempt
/// makes it from rows.
pub(crate) async fn gems(
    services: &Services,
    question: &Question<'_>,
    ask: &Ask<'_>,
    upload: Option<Staged>,
    by: Actor<'_>,
    event: &mut Event,
) -> Result<Any> {
    match gems_once(services, question, ask, upload, by, event).await {
        Err(Error::Undecodable)
            if !matches!(question, Question::Push | Question::Yank | Question::Unyank | Question::Own(..)) =>
        {
            Box::pin(gems_once(services, question, ask, None, by, event)).await
        }
        found => found,
    }
}

async fn gems_once(
    services: &Services,
    question: &Question<'_>,
    ask: &Ask<'_>,
    upload: Option<Staged>,
    by: Actor<'_>,
    event: &mut Event,
) -> Result<Any> {
    let repository = &ask.repository;
    let protocols = question.protocols();
    if let Some(off) = protocols.last().filter(|_| !protocols.iter().any(|one| one.is_on(&repository.record))) {
        return Err(Error::ProtocolOff(*off));
    }
    let remote =
        (repository.record.kind == RepositoryKind::Remote).then(|| services.remotes.remote(repository, &ask.place));
    let local = Hosted::of(services, repository, &ask.settings);
    let (source, layer) = match (&remote, repository.record.kind) {
        (Some(remote), _) => (GemSource::Remote(RemoteGems::of(remote, local)), Layer::Remote),
        (None, RepositoryKind::Group) => {
            (GemSource::Group(GroupGems { services, ask, local, among: Among::All }), Layer::Group)
        }
        (None, _) => (GemSource::Hosted(local), Layer::Hosted),
    };
    event.layer = layer;
    let found = answer_from(source, question, ask, upload, by, event).await;
    match source {
        GemSource::Hosted(hosted) => {
            if let Question::Info(name) = *question
                && !repository.asks
                && let Some(text) = left_out::of_hosted(hosted, name, source.now(), event).await?
            {
                event.detail = text;
            }
            found
        }
        GemSource::Remote(remote) => Box::pin(remote.finish(question, found, event)).await,
        GemSource::Group(group) => {
            Box::pin(group.finish(question, event)).await?;
            found
        }
    }
}

async fn answer_from(
    source: GemSource<'_>,
    question: &Question<'_>,
    ask: &Ask<'_>,
    upload: Option<Staged>,
    by: Actor<'_>,
    event: &mut Event,
) -> Result<Any> {
    let services = source.local().services;
    let found = match *question {
        Question::Versions => source.versions(event).await,
        Question::Names => source.names(event).await.map(Found::Index),
        Question::Info(name) => source.info(name, event).await.map(Found::Index),
        Question::Specs(file) => source.specs(file, event).await,
        Question::Gem(full_name) => return source.file(Part::Gem, full_name, ANY, event).await,
        Question::Gemspec(full_name) => return source.file(Part::Gemspec, full_name, ANY, event).await,
        Question::Attestations(full_name) => return source.file(Part::Attestations, full_name, ANY, event).await,
        // The URL that clients used before 2010.
        Question::Download(full_name) => Ok(Found::Elsewhere(format!("../gems/{full_name}.gem"))),
        Question::Dependencies(form) => {
            let names = parameters::names(&ask.parameters)?;
            event.more_mut().sized(names.as_deref().map_or(0, <[String]>::len));
            source.dependencies(&services.gem_caches.pieces, names.as_deref(), form, event).await
        }
        Question::Call(call, form) => {
            let ask = parameters::describe(call, form, &ask.parameters, source.now())?;
            source.describe(&ask, by, event).await
        }
        Question::Own(name, verb) => {
            let hosted = source.changeable()?;
            let (person, change) = parameters::owner(verb, &ask.parameters)?;
            // The dates of changes come from the journal, which never goes back in time.
            owners::change(hosted, name, &person, change, by, || services.store.now(), event).await
        }
        Question::Push => {
            let hosted = source.changeable()?;
            let staged = upload.ok_or(Error::Mismatched)?;
            let _place = event.waited(Op::TurnWait, hosted.indexes.changing.read()).await;
            push::push(hosted, staged, &ask.parameters, by, event).await
        }
        Question::Yank => yank(services, source.changeable()?, ask, by, event).await,
        Question::Unyank => unyank(source.changeable()?, ask, by, event).await,
    };
    found.map(Any::Gem)
}

async fn yank(
    services: &Services,
    hosted: Hosted<'_>,
    ask: &Ask<'_>,
    by: Actor<'_>,
    event: &mut Event,
) -> Result<Found> {
    let yanked = named(ask, event)?;
    let _place = event.waited(Op::TurnWait, hosted.indexes.changing.read()).await;
    let said = yank::yank(hosted, &yanked, by, || services.store.now(), event).await?;
    let kept = kept_of_units(services, gives_back, &ask.repository, BTreeSet::from([yanked.name.clone()]), event).await;
    let Some(notice) = KeptName::notice(&kept, by.admin) else { return Ok(Found::Said(said)) };
    event.detail.clone_from(&notice);
    Ok(Found::Said(format!("{said}\n{notice}")))
}

async fn unyank(hosted: Hosted<'_>, ask: &Ask<'_>, by: Actor<'_>, event: &mut Event) -> Result<Found> {
    let yanked = named(ask, event)?;
    let _place = event.waited(Op::TurnWait, hosted.indexes.changing.read()).await;
    unyank::unyank(hosted, &yanked, by, event).await
}

/// The version that a form names, also for the event.
fn named(ask: &Ask<'_>, event: &mut Event) -> Result<Yanked> {
    let yanked = parameters::yanked(&ask.parameters)?;
    event.subject.package = yanked.name.as_str().into();
    event.subject.version = yanked.number.as_str().into();
    Ok(yanked)
}
