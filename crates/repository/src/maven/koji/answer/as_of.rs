//! `NAME@koji-EVENT`: a moment of Koji, for a Koji repository or a group with one.

use crate::as_of::Past;
use crate::bad_setting::BadSetting;
use crate::error::{Error, Result};
use crate::maven::koji::answer::asked::Asked;
use crate::maven::koji::hub;
use crate::repository::Repository;
use crate::services::Services;
use format::koji::answer::Answer;
use format::koji::model::{EventId, KojiEvent};
use format::koji::question::Question;
use std::sync::Arc;
use store::{RepositoryKind, Seq};
use telemetry::{Event, Millis};

/// The position of an event of Koji. The one Koji repository answers as of the event, and all others as of its time.
pub(crate) async fn past(services: &Services, repository: &Repository, at: EventId, event: &mut Event) -> Result<Past> {
    let koji = only_koji(repository)?;
    let place = Arc::default();
    let remote = services.remotes.remote(&koji, &place);
    let asked = Asked::ready(&remote, event).await?;
    // A look may have seen an event that is newer than all that concern its tags.
    if at > asked.known.event.max(asked.known.map.newest()) {
        return Err(Error::Future(format!("event {} of Koji", at.0)));
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
    let answers = hub::ask(asked.remote, &[Question::Event { event: at }], event).await?;
    Ok(match answers.into_iter().next() {
        Some(Ok(Answer::LastEvent(told))) => Some(moments.keep(at, millis(told))),
        // Its transaction was rolled back, so nothing happened since the event before.
        _ => before.map(millis),
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
        (Some(one), Some(other)) => (
            format!("the group `{name}` has several Koji repositories, and each hub counts its own events"),
            format!("name one of them (`{}@koji-...`, `{}@koji-...`), or a moment", one.record.name, other.record.name),
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
