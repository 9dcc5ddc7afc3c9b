//! A look at an upstream's `/versions`: what is new of it is written to the journal, and then answered with.

use crate::context::Context;
use crate::error::Error;
use crate::gem::upstream::body::{self, Body};
use crate::gem::upstream::forbidden::forbidden;
use crate::gem::upstream::index::{HeldBack, Known, UpstreamFile};
use crate::gem::upstream::{rows, vanished};
use crate::upstream::failure::Failure;
use crate::upstream::flight::{FlightLifetime, FollowUntil};
use crate::upstream::trouble::Trouble;
use crate::upstream::{Remembered, Remote, WIDTH};
use format::gem::upstream::{Difference, Kept, Outcome, Refusal, Versions, append, difference};
use store::{Lane, Seq};
use telemetry::{Event, Op, Outcome as Ended, Reason, Tick};
use tokio::sync::OwnedMutexGuard;

/// A file that would take away many names is believed once the upstream has had it for so many milliseconds.
const HELD_BACK_MS: i64 = 3_600_000;
/// The whole file is fetched at most so often within an hour.
const WHOLES_MAX: usize = 6;
const HOUR_MS: i64 = 3_600_000;
/// Requests of one look: for the continuation, for the whole file, and for that once more where its ETag is in doubt.
const REQUESTS: usize = 3;

/// A look.
pub(crate) struct Follow {
    pub(crate) remote: Remote,
    pub(crate) context: Context,
}

/// What a look came to.
enum Looked {
    Unchanged(UpstreamFile),
    /// Lines that our log gains. `relayed`: they are what the upstream's own file gained.
    Lines {
        difference: Difference,
        relayed: bool,
        file: UpstreamFile,
    },
    /// The first file.
    First {
        text: Vec<u8>,
        relayed: bool,
        file: UpstreamFile,
    },
    HeldBack(HeldBack, UpstreamFile),
}

impl Follow {
    /// Looks, as the job that has the turn.
    pub(crate) async fn run(self, turn: OwnedMutexGuard<()>) -> Result<(), Error> {
        let recorder = &self.remote.remotes.recorder;
        recorder.attempt();
        let mut event = Event::job("index.look", self.remote.now());
        event.subject.repository = self.remote.repository.record.name.as_str().into();
        event.subject.kind = "versions";
        // What it finds is as of its begin.
        let now = self.remote.now();
        let done = Box::pin(self.look(&mut event)).await;
        if let Err(error) = &done {
            let detail = match error {
                Error::Upstream(failure) => failure.detail(),
                other => other.to_string(),
            };
            (event.reason, event.detail) = (Some(error.reason()), detail);
        }
        event.outcome = Some(if done.is_ok() { Ended::Done } else { Ended::Failed });
        event.duration = Tick::now().since(event.began);
        let (origin, reason) = (self.remote.repository.origin, event.reason);
        self.remote.repository.shared.followed.change(origin, |known| {
            known.tried = now;
            match reason {
                None => (known.checked, known.failed) = (now, None),
                Some(reason) => known.failed = Some(reason),
            }
        });
        recorder.release(event);
        drop(turn);
        done
    }

    async fn look(&self, event: &mut Event) -> Result<(), Error> {
        let (origin, followed) = (self.remote.repository.origin, &self.remote.repository.shared.followed);
        if followed.read(origin, |_| ()).is_none()
            && let Some(known) = self.read_journal(event).await?
        {
            followed.replace(known);
        }
        match self.ask(event).await? {
            Looked::Unchanged(file) => {
                followed.change(origin, |known| (known.file, known.held_back) = (file, None));
            }
            Looked::HeldBack(held_back, file) => {
                let names = held_back.names;
                followed.change(origin, |known| (known.file, known.held_back) = (file, Some(held_back)));
                let text =
                    format!("the upstream's `/versions` lacks {names} names that it had, and is held back for an hour");
                return Err(Failure::new(Reason::UpstreamInvalid, text).into());
            }
            Looked::First { text, relayed, file } => {
                let text = String::from_utf8(text).map_err(|_| invalid("it is not text"))?;
                let written = rows::write(&self.remote, &text, relayed, true, Seq(0), event).await?;
                let (at, last) = written.ok_or(Error::GivenUp)?;
                let mut known = Known::new(origin)?;
                let make = move |(): &mut ()| -> Result<Known, Error> {
                    known.add(&text, at, true)?;
                    known.settle(last, None)?;
                    known.file = file;
                    Ok(known)
                };
                followed.replace(self.context.workers.run(Lane::Index, Op::IndexRender, event, make).await??);
                self.remote.remotes.store.upstream_index_changed(self.remote.repository.id, &[]);
            }
            Looked::Lines { difference, relayed, file } => self.append(difference, relayed, file, event).await?,
        }
        Ok(())
    }

    /// Has our log gain lines.
    async fn append(
        &self,
        difference: Difference,
        relayed: bool,
        file: UpstreamFile,
        event: &mut Event,
    ) -> Result<(), Error> {
        let (origin, followed) = (self.remote.repository.origin, &self.remote.repository.shared.followed);
        if difference.lines.is_empty() {
            followed.change(origin, |known| (known.file, known.held_back) = (file, None));
            return Ok(());
        }
        let lines = String::from_utf8(difference.lines).map_err(|_| invalid("it is not text"))?;
        let names: Vec<String> = difference.changes.into_iter().map(|change| change.name).collect();
        let last = followed.read(origin, |known| known.last).unwrap_or(Seq(0));
        let written = rows::write(&self.remote, &lines, relayed, false, last, event).await?;
        let (at, last) = written.ok_or(Error::GivenUp)?;
        let changed = names.clone();
        let added = followed.change(origin, |known| {
            known.add(&lines, at, false)?;
            (known.file, known.held_back) = (file, None);
            known.settle(last, Some(changed))
        });
        added.unwrap_or(Ok(()))?;
        let touched: Vec<&str> = names.iter().map(String::as_str).collect();
        self.remote.remotes.store.upstream_index_changed(self.remote.repository.id, &touched);
        self.refresh(&names, event).await
    }

    /// Has the `/info` of gems fetched again that were asked for before: they are there when a client asks next, also where the upstream
    /// fails by then.
    async fn refresh(&self, names: &[String], event: &mut Event) -> Result<(), Error> {
        for names in names.chunks(WIDTH) {
            let mut flights = Vec::with_capacity(WIDTH);
            for name in names {
                if forbidden(&self.remote.repository, name, "").is_some() {
                    continue;
                }
                let path = format!("info/{name}");
                let file = self.remote.repository.file(&path);
                if let Some(Remembered::File(kept)) = self.remote.recall(&file, event).await? {
                    let followed = &self.remote.repository.shared.followed;
                    if let Some(listed) = followed.gem(self.remote.repository.origin, name) {
                        vanished::note(&self.remote, name, &kept, &listed, event).await?;
                    }
                    flights.extend(self.remote.flight(&path, FlightLifetime::ToItsEnd));
                }
            }
            for flight in flights {
                flight.follow(FollowUntil::Done, event).await;
            }
        }
        Ok(())
    }

    /// What the journal has; `None`: nothing. While all of it was relayed as it came, its text is the upstream's file.
    async fn read_journal(&self, event: &mut Event) -> Result<Option<Known>, Error> {
        let read = rows::read(&self.remote, None, event).await?;
        if read.rows.is_empty() {
            return Ok(None);
        }
        let mut known = Known::new(self.remote.repository.origin)?;
        let make = move |(): &mut ()| -> Result<Known, Error> {
            let first = read.rows.first().map(|(at, _)| *at);
            let mut kept = Some(Kept::default());
            for (at, row) in &read.rows {
                known.add(&row.lines, *at, Some(*at) == first)?;
                kept = kept.filter(|_| row.relayed);
                kept.iter_mut().for_each(|kept| kept.add(row.lines.as_bytes()));
            }
            known.file.kept = kept;
            known.settle(read.last, None)?;
            Ok(known)
        };
        Ok(Some(self.context.workers.run(Lane::Index, Op::IndexRender, event, make).await??))
    }

    /// Asks the upstream: for the continuation of its file where that can be verified, else for all of it.
    async fn ask(&self, event: &mut Event) -> Result<Looked, Error> {
        let (origin, followed) = (self.remote.repository.origin, &self.remote.repository.shared.followed);
        let mut file = followed.read(origin, |known| known.file.clone()).unwrap_or_default();
        let upstream = self.remote.upstream(event).await?;
        let (mut whole, mut doubted) = (file.kept.is_none(), None);
        for _ in 0..REQUESTS {
            let conditions = body::conditions(&file, whole);
            let answer = upstream.get(body::PATH, &conditions, event).await;
            self.remote.pin(&upstream, event).await?;
            let mut answer = answer.map_err(Trouble::from)?;
            if let Some(failure) = body::failure(&answer) {
                return Err(failure.into());
            }
            let etag = answer.header("etag").map(str::to_owned);
            if answer.status() == 200 {
                self.count_whole(&mut file)?;
            }
            match body::read(&mut answer, file.kept.as_ref(), file.opaque_etags, event).await? {
                Ok(Body::Unchanged) => return Ok(Looked::Unchanged(file)),
                Ok(Body::Read { seen, text, is_whole }) => {
                    (file.kept, file.etag) = (Some(seen.kept.clone()), etag);
                    match self.compare(seen.outcome, *text, is_whole, &file, event).await? {
                        Some(looked) => return Ok(looked),
                        // A line of the continuation cannot be relayed as it is.
                        None => whole = true,
                    }
                }
                Err(Refusal::Tail(_)) if !whole => whole = true,
                Err(Refusal::Etag { sha256 }) if doubted == Some(sha256) => (whole, file.opaque_etags) = (true, true),
                Err(Refusal::Etag { sha256 }) => (whole, doubted) = (true, Some(sha256)),
                Err(refusal) => return Err(invalid(&refusal.to_string()).into()),
            }
        }
        Err(invalid("it is another one with each request").into())
    }

    /// What our log gains of what came. `None`: that cannot be told without the whole file.
    async fn compare(
        &self,
        outcome: Outcome,
        text: Versions,
        is_whole: bool,
        file: &UpstreamFile,
        event: &mut Event,
    ) -> Result<Option<Looked>, Error> {
        let (origin, shared) = (self.remote.repository.origin, self.remote.repository.shared.clone());
        let mut file = file.clone();
        let now = self.remote.now();
        if shared.followed.read(origin, |_| ()).is_none() {
            let relayed = text.is_clean();
            let text = if relayed { text.text().pieces().concat() } else { body::rendered(&text, now) };
            if !relayed {
                file.kept = None;
            }
            return Ok(Some(Looked::First { text, relayed, file }));
        }
        if outcome == Outcome::Unchanged {
            return Ok(Some(Looked::Unchanged(file)));
        }
        // The log lacks what is held back, so what continues the file does not continue the log.
        if !text.held().is_empty() {
            file.kept = None;
        }
        let held = shared.followed.read(origin, |known| known.held_back).flatten();
        let compare = move |(): &mut ()| {
            shared.followed.read(origin, |known| {
                if !is_whole {
                    return append(known.listing.log(), &text).map(|difference| (difference, true));
                }
                Some((difference(known.listing.log(), &text, |_, _| false), false))
            })
        };
        let compared = self.context.workers.run(Lane::Index, Op::IndexRender, event, compare).await?;
        let Some((difference, relayed)) = compared.flatten() else { return Ok(None) };
        if difference.is_mass_removal() {
            let sha256 = file.kept.as_ref().map(Kept::sha256).unwrap_or_default();
            let since = held.filter(|held| held.sha256 == sha256).map_or(now, |held| held.since);
            if now.0 - since.0 < HELD_BACK_MS {
                let names = difference.vanished;
                file.kept = None;
                file.etag = None;
                return Ok(Some(Looked::HeldBack(HeldBack { sha256, since, names }, file)));
            }
        }
        Ok(Some(Looked::Lines { difference, relayed, file }))
    }

    /// Counts a whole file, of which only so many are taken in an hour.
    fn count_whole(&self, file: &mut UpstreamFile) -> Result<(), Failure> {
        let now = self.remote.now();
        file.wholes.retain(|at| now.0 - at.0 < HOUR_MS && *at <= now);
        if file.wholes.len() >= WHOLES_MAX {
            return Err(invalid("it is another one each time, and was fetched as often as it may be within an hour"));
        }
        file.wholes.push_back(now);
        Ok(())
    }
}

fn invalid(why: &str) -> Failure {
    Failure::new(Reason::UpstreamInvalid, format!("the upstream's `/versions` is refused: {why}"))
}
