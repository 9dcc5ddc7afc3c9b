//! Looks at a hub, as a job: a request waits for the first look, and others for the one that is under way.

use crate::error::{Error, Result};
use crate::maven::koji::change::Change;
use crate::maven::koji::hub;
use crate::maven::koji::load::load;
use crate::maven::koji::look::{Look, Step};
use crate::maven::koji::map::KojiMap;
use crate::maven::koji::schedule::LOOK_EVERY_MS;
use crate::maven::koji::state::{Known, KojiState};
use crate::maven::koji::take::take;
use crate::maven::koji::words::name;
use crate::upstream::failure::Failure;
use crate::upstream::{PATIENCE, Remote};
use format::koji::answer::Answer;
use format::koji::model::{BuildId, BuildState};
use format::koji::question::Question;
use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Event, Job, Millis, Op, Outcome, Reason, Tick};
use tokio::sync::OwnedMutexGuard;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// The longest time of a look. A hub that sends its answers drop by drop ends with it, so that another look begins.
const LOOK_MAX: Duration = Duration::from_secs(1_800);

/// How many times `PATIENCE` a request waits for the first look, a minute. It is then told to come again.
const FIRST_WAITS: u32 = 12;

/// Who needs a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    AClient,
    /// The regular work, or a hint. It reads no hub that no client ever needed.
    Ours {
        hinted: bool,
    },
}

/// What a hub says of a build whose file is missing.
#[derive(Debug)]
pub(crate) enum Moved {
    /// It is on another volume now.
    To(Known),
    /// The hub has deleted it.
    Deleted(Known),
    /// Nothing new, or the hub was asked about it within a minute.
    Same,
}

/// The known state of the hub, after a look if one is due. A request that has another answer waits a few seconds for it.
///
/// # Errors
///
/// The failure of the look before a first one succeeded.
pub(crate) async fn ready(remote: &Remote, event: &mut Event) -> Result<Known> {
    let (koji, now) = (remote.repository.shared.koji(), remote.now());
    let since = Millis(now.0 - LOOK_EVERY_MS);
    let has_other_settings =
        || remote.repository.record.koji().is_some_and(|record| koji.follow.has_other_settings(record));
    koji.follow.ask(now);
    let failures = koji.follow.failures();
    let known = load(remote, event).await?;
    if let Some(known) = &known
        && ((since..=now).contains(&known.tried) || remote.is_followed_elsewhere(Some(known.tried)))
        && !has_other_settings()
    {
        return Ok(known.clone());
    }
    if !remote.repository.asks {
        return known.ok_or(Error::Unasked);
    }
    if known.is_none()
        && !has_other_settings()
        && let Some(failure) = koji.follow.recent_failure(remote.repository.origin, now)
    {
        event.detail = failure.detail();
        return Err(failure.into());
    }
    if let Err(error) = remote.may_wait() {
        return known.ok_or(error);
    }
    let looked = async {
        let turn = koji.looking.clone().lock_owned().await;
        let known = koji.known(remote.repository.origin);
        let is_tried = known.is_some_and(|known| (since..=remote.now()).contains(&known.tried));
        if is_tried && !has_other_settings() {
            return Ok(());
        }
        // A request that waited for a failed look starts no other one.
        match koji.follow.failure_after(remote.repository.origin, failures) {
            Some(failure) => Err(failure.into()),
            None => start(remote, Whose::AClient, turn).await.map_err(|_| Error::GivenUp)?,
        }
    };
    let mut looked = pin!(looked);
    let waiting = event.running(Op::FlightWait);
    let mut waits = 0;
    let done = loop {
        match timeout(PATIENCE, &mut looked).await {
            Ok(done) => break done,
            Err(_) if koji.known(remote.repository.origin).is_some() => break Ok(()),
            Err(_) => waits += 1,
        }
        if waits == FIRST_WAITS {
            let text = "the first look at the hub is still under way".to_owned();
            break Err(Failure::new(Reason::UpstreamTimeout, text).into());
        }
    };
    drop(waiting);
    match koji.known(remote.repository.origin) {
        Some(known) => Ok(known),
        None => {
            if let Err(Error::Upstream(failure)) = &done {
                event.detail = failure.detail();
            }
            done.and(Err(Error::GivenUp))
        }
    }
}

/// Starts a look, which goes on after the client leaves. The caller has the turn.
pub(crate) fn start(remote: &Remote, whose: Whose, turn: OwnedMutexGuard<()>) -> JoinHandle<Result<()>> {
    // The place of the request belongs to its client.
    let remote = Remote { place: std::sync::Weak::new(), ..remote.clone() };
    let back = remote.remotes.back.clone();
    back.spawn(async move { run(remote, whose, turn).await })
}

async fn run(remote: Remote, whose: Whose, turn: OwnedMutexGuard<()>) -> Result<()> {
    let (shared, origin, now) = (remote.repository.shared.clone(), remote.repository.origin, remote.now());
    let koji = shared.koji();
    let mut job = Job::begin(&remote.remotes.recorder, "koji_look");
    job.subject.repository = remote.repository.record.name.as_str().into();
    job.subject.kind = "koji";
    let hints = shared.hints.begin_look(now, whose == Whose::Ours { hinted: true });
    let done = Box::pin(look(&remote, whose, &mut job)).await;
    let failed = match &done {
        Ok(None) => None,
        Ok(Some(trouble)) => Some(Failure::new(Reason::UpstreamFailed, trouble.clone())),
        Err(Error::Upstream(failure)) => Some(failure.clone()),
        Err(error) => Some(Failure::new(error.reason(), error.to_string())),
    };
    koji.change(origin, |known| {
        (known.tried, known.failed) = (now, failed.as_ref().map(|failure| failure.reason));
        if failed.is_none() {
            known.checked = now;
        }
    });
    if let Some(failure) = failed {
        (job.reason, job.detail) = (Some(failure.reason), failure.detail());
        // The pause begins with the end of the look, which may have taken longer than the pause.
        koji.follow.fail(failure, origin, remote.now());
        job.end(Outcome::Failed);
    } else {
        job.end(Outcome::Done);
    }
    drop(turn);
    let present = said(&remote);
    shared.hints.end_look(hints, now, remote.now(), |_, basis| present != basis);
    remote.remotes.hints.changed.notify_one();
    done.map(|_| ())
}

/// What a hint is held against: the last change of the map.
pub(crate) fn said(remote: &Remote) -> String {
    let known = remote.repository.shared.koji().known(remote.repository.origin);
    known.map(|known| known.map.last().0.to_string()).unwrap_or_default()
}

/// A look. Returns what the hub refused, if the look went on without it.
async fn look(remote: &Remote, whose: Whose, job: &mut Job) -> Result<Option<String>> {
    let (koji, origin) = (remote.repository.shared.koji(), remote.repository.origin);
    let Some(record) = remote.repository.record.koji() else { return Ok(None) };
    // Before all that may fail: a look that is due because of other settings would begin again at once, without end.
    koji.follow.begin(record);
    let known = load(remote, job).await?;
    if whose != Whose::AClient && known.is_none() {
        return Ok(None);
    }
    let map: Arc<KojiMap> = known.map(|known| known.map).unwrap_or_default();
    let memory = koji.follow.memory(origin);
    let from = memory.last;
    let mut look = Look::new(record.clone(), memory, remote.now());
    let (mut step, began) = (look.next(&map, Vec::new()), Tick::now());
    let changes = loop {
        step = match step {
            Step::Ask(questions) => match in_time(began, hub::ask(remote, &questions, job)).await {
                Ok(answers) => look.next(&map, answers),
                Err(failure) => match Some(&failure).filter(|one| is_too_much(one)).and_then(|_| look.too_much(&map)) {
                    Some(next) => next,
                    None => return Err(failure.into()),
                },
            },
            Step::Done(changes) => break changes,
            Step::Failed(text) => return Err(Failure::new(Reason::UpstreamFailed, Event::text(&text)).into()),
        };
    };
    let (added, removed) = (count(&changes, true), count(&changes, false));
    let taken = match take(remote, changes, job).await {
        Ok(taken) => taken,
        Err(error) => {
            // The map is another one than the memory knows.
            koji.follow.forget();
            return Err(error);
        }
    };
    let (event, left_out, trouble) =
        (look.event(), look.memory.left_out.clone(), std::mem::take(&mut look.taken.trouble));
    let calls = job.upstream().map_or((0, 0), |used| (used.calls, used.bytes));
    job.detail = format!(
        "{} calls, {} bytes; events {} to {}; builds: {added} added, {removed} removed; files: {}{}",
        calls.0,
        calls.1,
        from.0,
        event.0,
        taken.map.totals().files,
        told(&left_out)
    );
    koji.change(origin, |known| (known.event, known.left_out) = (event, left_out));
    koji.follow.remember(origin, look.memory);
    for moved in taken.moved {
        let mut told = Job::begin(&remote.remotes.recorder, "koji_folder_moved");
        told.subject.repository = remote.repository.record.name.as_str().into();
        told.asked(&moved.folder);
        told.detail = format!("from `{}` to `{}`", name(&moved.from), name(&moved.to));
        told.end(Outcome::Done);
    }
    // The failure is kept, and the texts of faults are the hub's.
    Ok((!trouble.is_empty()).then(|| Event::text(&trouble.join("; "))))
}

/// The answers of a round, or a failure at the end of the time of a look.
async fn in_time<T>(began: Tick, asked: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let left = LOOK_MAX.saturating_sub(Duration::from_nanos(Tick::now().since(began)));
    timeout(left, asked).await.unwrap_or_else(|_| {
        let text = format!("the look took longer than {} seconds", LOOK_MAX.as_secs());
        Err(Failure::new(Reason::UpstreamTimeout, text))
    })
}

/// Whether an answer may be shorter if less is asked: it was too large, or it took too long.
fn is_too_much(failure: &Failure) -> bool {
    matches!(
        failure.reason,
        Reason::UpstreamInvalid | Reason::UpstreamTimeout | Reason::UpstreamCut | Reason::BoundFull
    )
}

fn count(changes: &[Change], added: bool) -> usize {
    let is = |change: &&Change| match change {
        Change::Tagged(_) => added,
        Change::Gone { .. } => !added,
        _ => false,
    };
    changes.iter().filter(is).count()
}

fn told(left_out: &BTreeMap<&'static str, u64>) -> String {
    let told: Vec<String> = left_out.iter().map(|(why, count)| format!("{why} {count}")).collect();
    if told.is_empty() { String::new() } else { format!("; left out: {}", told.join(", ")) }
}

/// Asks about a build of which a known file is missing, at most once in a minute.
///
/// # Errors
///
/// A failure of the hub, or of the change of the map.
pub(crate) async fn moved(remote: &Remote, build: BuildId, event: &mut Event) -> Result<Moved, Failure> {
    let koji: &KojiState = remote.repository.shared.koji();
    if !remote.repository.asks || !koji.follow.may_ask_about(build, remote.now()) {
        return Ok(Moved::Same);
    }
    let origin = remote.repository.origin;
    let before = koji.known(origin).and_then(|known| known.map.build(build));
    let answers = hub::ask(remote, &[Question::Build { build }], event).await?;
    let found = match answers.into_iter().next() {
        Some(Ok(Answer::Build(found))) => found,
        Some(Err(fault)) => return Err(Failure::new(Reason::UpstreamFailed, fault.text)),
        _ => return Ok(Moved::Same),
    };
    // A look may take half an hour, and a client waits for none.
    let turn = event.waited(Op::TurnWait, timeout(PATIENCE, koji.looking.clone().lock_owned())).await;
    let Ok(_turn) = turn else { return Ok(Moved::Same) };
    let failed = |error: Error| match error {
        Error::Upstream(failure) => failure,
        other => Failure::new(other.reason(), other.to_string()),
    };
    let known = load(remote, event).await.map_err(failed)?;
    let Some(known) = known else { return Ok(Moved::Same) };
    let Some(facts) = known.map.build(build) else { return Ok(Moved::Same) };
    if before.as_ref() != Some(&facts) {
        // A look found it in the meantime, and the answer may be older.
        return Ok(Moved::To(known));
    }
    let is_deleted = found.as_ref().is_none_or(|found| found.state == BuildState::Deleted);
    let volume = found.map_or_else(|| facts.volume.clone(), |found| found.volume);
    if (&volume, is_deleted) == (&facts.volume, facts.deleted) || !format::koji::left_out::is_plain(&volume) {
        return Ok(Moved::Same);
    }
    let change = Change::Facts { build, volume, deleted: is_deleted };
    take(remote, vec![change], event).await.map_err(failed)?;
    match koji.known(origin) {
        Some(known) if is_deleted => Ok(Moved::Deleted(known)),
        Some(known) => Ok(Moved::To(known)),
        None => Ok(Moved::Same),
    }
}

#[cfg(test)]
mod tests;
