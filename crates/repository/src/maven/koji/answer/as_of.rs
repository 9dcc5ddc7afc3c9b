//! `NAME@koji-EVENT`: a moment of Koji, for a Koji repository or a group with one.

use crate::as_of::Past;
use crate::bad_setting::BadSetting;
use crate::error::{Error, Result};
use crate::maven::koji::answer::asked::Asked;
use crate::maven::koji::hub;
use crate::repository::Repository;
use crate::services::Services;
use crate::upstream::failure::Failure;
use format::koji::answer::Answer;
use format::koji::model::{EventId, KojiEvent};
use format::koji::question::Question;
use std::sync::Arc;
use store::{RepositoryKind, Seq};
use telemetry::{Event, Millis, Reason};

/// The position of an event of Koji. The one Koji repository answers as of the event, and all others as of its time.
pub(crate) async fn past(services: &Services, repository: &Repository, at: EventId, event: &mut Event) -> Result<Past> {
    let koji = only_koji(repository)?;
    let place = Arc::default();
    let remote = services.remotes.remote(&koji, &place);
    let asked = match Asked::ready(&remote, event).await {
        // An explanation makes no call.
        Err(Error::Unasked) => {
            let text = "no look at the hub has seen any event of Koji yet".to_owned();
            return Err(BadSetting::new(text, "the first request to the repository reads the hub").into());
        }
        asked => asked?,
    };
    // A look may have seen an event that is newer than all that concern its tags.
    let newest = asked.known.event.max(asked.known.map.newest());
    if at > newest {
        let text = format!("no look at the hub has seen event {} of Koji yet: the newest is {}", at.0, newest.0);
        // The name that was asked: a reader of a group need not know its members.
        let name = &repository.record.name;
        return Err(BadSetting::new(
            text,
            &format!("a look comes within a minute, or at once after `POST /hooks/{name}`"),
        )
        .into());
    }
    let time = time_of(&asked, at, repository.leaves.len() > 1, event).await?;
    let (until, now) = (time.unwrap_or_default(), services.clock.now());
    let through = match time {
        // A hub's clock may be ahead of ours.
        Some(time) => services.store.last_change_by(time.min(now), event).await?,
        None => Seq(0),
    };
    Ok(Past { through, until, exceptions_by: until, koji: Some(at) })
}

/// The moment of an event. Where other repositories answer as of it, and it is none of a tagging, the hub is asked for
/// it, once.
async fn time_of(asked: &Asked<'_>, at: EventId, for_others: bool, event: &mut Event) -> Result<Option<Millis>> {
    let before = asked.known.map.event_at(at);
    let millis = |event: KojiEvent| Millis(event.at_ms);
    let moments = &asked.remote.repository.shared.koji().moments;
    let known = before.filter(|known| known.id == at || !for_others).map(millis).or_else(|| moments.get(at));
    if known.is_some() || !for_others {
        return Ok(known);
    }
    if !asked.remote.repository.asks {
        return Ok(before.map(millis));
    }
    if let Err(until) = moments.ask(asked.remote.now()) {
        let text = format!("the hub was asked for the moments of too many events in this minute, event {} too", at.0);
        return Err(Failure::new(Reason::BoundFull, text).again_at(until).into());
    }
    let answers = hub::ask(asked.remote, &[Question::Event { event: at }], event).await?;
    Ok(match answers.into_iter().next() {
        Some(Ok(Answer::LastEvent(told))) => Some(moments.keep(at, millis(told))),
        // Its transaction was rolled back, so nothing happened since the event before. A recent one may still be committed.
        _ => {
            let before = before.map(millis);
            if asked.known.map.settled().is_some_and(|settled| at <= settled) {
                before.map(|before| moments.keep(at, before))
            } else {
                before
            }
        }
    })
}

/// The Koji repository that an event belongs to.
fn only_koji(repository: &Repository) -> Result<Arc<Repository>> {
    if repository.is_koji() {
        return Ok(Arc::new(repository.seen(repository.rules.clone(), None)));
    }
    let name = &repository.record.name;
    let mut all = repository.leaves.iter().filter(|leaf| leaf.is_koji());
    let (text, hint) = match (all.next(), all.next()) {
        (Some(only), None) => return Ok(only.clone()),
        // They are not named: a reader of the group need not know its members.
        (Some(_), Some(_)) => (
            format!("the group `{name}` has several Koji repositories, and each hub counts its own events"),
            "name one of them with its event (`MEMBER@koji-18`), or a moment".to_owned(),
        ),
        (None, _) if repository.record.kind == RepositoryKind::Group => (
            format!("the group `{name}` has no Koji repository, so it has no events of Koji"),
            "name a day, a moment or `seq-N`, or a group with one Koji repository".to_owned(),
        ),
        (None, _) => (
            format!("`{name}` is no Koji repository, so it has no events of Koji"),
            "name a day, a moment or `seq-N`".to_owned(),
        ),
    };
    Err(BadSetting::new(text, &hint).into())
}
