//! Answers the questions of a gem repository. Remote repositories and groups have code of their own; this file answers
//! for a hosted one.

use crate::actor::Actor;
use crate::error::Error;
use crate::found::Found as Any;
use crate::gem::download::ANY;
use crate::gem::group::GroupGems;
use crate::gem::hosted::Hosted;
use crate::gem::kept_names::gives_back;
use crate::gem::parameters::Yanked;
use crate::gem::upstream::RemoteGems;
use crate::gem::{
    Found, Question, client_settings, dependencies, describe, download, info, left_out, names, owners, parameters,
};
use crate::gem::{push, specs, unyank, versions, yank};
use crate::group::kept_names::KeptName;
use crate::group::kept_names::kept_of_units;
use crate::package::listed::Among;
use crate::question::Ask;
use crate::services::Services;
use crate::tree;
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
) -> Result<Any, Error> {
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
) -> Result<Any, Error> {
    let repository = &ask.repository;
    let protocols = question.protocols();
    if let Some(off) = protocols.last().filter(|_| !protocols.iter().any(|one| one.is_on(&repository.record))) {
        return Err(Error::ProtocolOff(*off));
    }
    match *question {
        Question::Root => return Ok(Any::Root),
        Question::Settings(file) => {
            return Ok(Any::Tree(tree::Found::Content(client_settings::of(repository, file, &ask.parameters.base()))));
        }
        _ => {}
    }
    if repository.record.kind == RepositoryKind::Remote {
        let remote = services.remotes.remote(repository, &ask.place);
        let local = Hosted::of(services, &ask.repository, &ask.settings)?;
        let index = &repository.shared.followed;
        let gems = RemoteGems { remote: &remote, context: local.context, local, index };
        return gems.answer(question, &ask.parameters, event).await;
    }
    if repository.record.kind == RepositoryKind::Group {
        let local = Hosted::of(services, &ask.repository, &ask.settings)?;
        let group = GroupGems { services, ask, local, among: Among::All };
        return Box::pin(group.answer(question, by, event)).await;
    }
    event.layer = Layer::Hosted;
    // The dates of changes come from the journal, which never goes back in time.
    let (now, then) = (|| services.clock.now(), || services.store.now());
    let hosted = Hosted::of(services, &ask.repository, &ask.settings)?;
    let found = match *question {
        Question::Root | Question::Settings(_) => return Err(Error::GivenUp), // answered above
        Question::Versions => versions::versions(hosted, now(), event).await,
        Question::Names => names::names(hosted, now(), event).await,
        Question::Info(name) => info::info(hosted, name, now(), event).await,
        Question::Specs(file) => specs::specs(hosted, file, now(), event).await,
        Question::Gem(full_name) => download::gem(hosted, full_name, ANY, now(), event).await,
        Question::Gemspec(full_name) => download::gemspec(hosted, full_name, ANY, now(), event).await,
        Question::Download(full_name) => Ok(Found::Elsewhere(format!("../gems/{full_name}.gem"))),
        Question::Dependencies(form) => {
            let names = parameters::names(&ask.parameters)?;
            event.more_mut().sized(names.as_deref().map_or(0, <[String]>::len));
            dependencies::dependencies(hosted, &services.gem.pieces, names.as_deref(), form, now(), event).await
        }
        Question::Call(call, form) => {
            let ask = parameters::describe(call, form, &ask.parameters, now())?;
            if hosted.repository.as_of.is_some() && !ask.what.is_of_versions() {
                let text = "owners and search results are only available as of now, not as of an earlier moment";
                return Err(Error::Unsupported(text.into()));
            }
            describe::describe(hosted, &ask, by, now(), event).await
        }
        Question::Own(name, verb) => {
            let (person, change) = parameters::owner(verb, &ask.parameters)?;
            owners::change(hosted, name, &person, change, by, then, event).await
        }
        Question::Push => {
            let staged = upload.ok_or(Error::GivenUp)?;
            let _place = event.waited(Op::TurnWait, hosted.indexes.changing.read()).await;
            push::push(hosted, staged, &ask.parameters, by, event).await
        }
        Question::Yank => yank(services, hosted, ask, by, event).await,
        Question::Unyank => unyank(hosted, ask, by, event).await,
    };
    if let Question::Info(name) = *question
        && !repository.asks
        && let Some(text) = left_out::of_hosted(hosted, name, now(), event).await?
    {
        event.detail = text;
    }
    found.map(Any::Gem)
}

async fn yank(
    services: &Services,
    hosted: Hosted<'_>,
    ask: &Ask<'_>,
    by: Actor<'_>,
    event: &mut Event,
) -> Result<Found, Error> {
    let yanked = named(ask, event)?;
    let _place = event.waited(Op::TurnWait, hosted.indexes.changing.read()).await;
    let said = yank::yank(hosted, &yanked, by, || services.store.now(), event).await?;
    let kept = kept_of_units(services, gives_back, &ask.repository, BTreeSet::from([yanked.name.clone()]), event).await;
    let Some(notice) = KeptName::notice(&kept, by.admin) else { return Ok(Found::Said(said)) };
    event.detail.clone_from(&notice);
    Ok(Found::Said(format!("{said}\n{notice}")))
}

async fn unyank(hosted: Hosted<'_>, ask: &Ask<'_>, by: Actor<'_>, event: &mut Event) -> Result<Found, Error> {
    let yanked = named(ask, event)?;
    let _place = event.waited(Op::TurnWait, hosted.indexes.changing.read()).await;
    unyank::unyank(hosted, &yanked, by, event).await
}

/// The version that a form names, also for the event.
fn named(ask: &Ask<'_>, event: &mut Event) -> Result<Yanked, Error> {
    let yanked = parameters::yanked(&ask.parameters)?;
    event.subject.package = yanked.name.as_str().into();
    event.subject.version = yanked.number.as_str().into();
    Ok(yanked)
}
