//! A look at an upstream's `/versions`: what is new of it is written to the journal, and then answered with.

use crate::context::Context;
use crate::error::Error;
use crate::gem::upstream::body::{self, Body};
use crate::gem::upstream::index::{FollowedIndex, HeldBack, Known, UpstreamFile};
use crate::gem::upstream::rows::{self, Lines};
use crate::upstream::Remote;
use crate::upstream::failure::Failure;
use crate::upstream::trouble::Trouble;
use format::gem::upstream::{Change, Difference, Kept, Outcome, Refusal, Versions, append, difference};
use format::gem::versions;
use store::{Lane, Seq};
use telemetry::{Event, Millis, Op, Outcome as Ended, Reason, Tick};
use tokio::sync::OwnedMutexGuard;

/// A file that would take away many names is believed once the upstream has had it for so many milliseconds.
const HELD_BACK_MS: i64 = 3_600_000;
const HOUR_MS: i64 = 3_600_000;
const TOO_OFTEN: &str = "it is another one each time, and was fetched as often as it may be within an hour";
/// Requests of one look: for the continuation, for the whole file, and for that once more where its ETag is in doubt.
const REQUESTS: usize = 3;

/// Follows the index of an upstream.
#[derive(Debug, Clone)]
pub(crate) struct Follow {
    pub(crate) remote: Remote,
    pub(crate) context: Context,
}

/// Whether a look proved what is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Proven {
    Yes,
    No,
}

/// What a look came to.
enum Looked {
    Unchanged(UpstreamFile),
    /// Lines that our log gains.
    Lines {
        difference: Difference,
        from: Lines,
        file: UpstreamFile,
    },
    /// The first file.
    First {
        text: Vec<u8>,
        from: Lines,
        file: UpstreamFile,
    },
    HeldBack(Option<HeldBack>, UpstreamFile),
    /// The whole file was fetched as often as it may be. It is looked at again later.
    Later,
}

impl Follow {
    pub(crate) fn now(&self) -> Millis {
        self.remote.now()
    }

    /// What is known of the index.
    pub(crate) fn index(&self) -> &FollowedIndex {
        &self.remote.repository.shared.followed
    }

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
            if let Error::Upstream(failure) = error {
                self.index().fail(failure.clone());
            }
        }
        event.outcome = Some(if done.is_ok() { Ended::Done } else { Ended::Failed });
        event.duration = Tick::now().since(event.began);
        let (origin, reason) = (self.remote.repository.origin, event.reason);
        let proven = matches!(done, Ok(Proven::Yes));
        self.index().change(origin, |known| {
            known.tried = now;
            match reason {
                None if proven => (known.checked, known.failed) = (now, None),
                None => {}
                Some(reason) => known.failed = Some(reason),
            }
        });
        recorder.release(event);
        drop(turn);
        self.fetch_ahead();
        done.map(|_| ())
    }

    /// Has our log say this MD5 of a gem instead of `listed`, which is not that of the `/info` that the upstream has. As the job that has
    /// the turn.
    pub(crate) async fn write_correction(
        self,
        name: String,
        listed: String,
        md5: String,
        turn: OwnedMutexGuard<()>,
    ) -> Result<(), Error> {
        let (origin, followed) = (self.remote.repository.origin, self.index());
        let mut event = Event::job("index.correct", self.remote.now());
        event.subject.repository = self.remote.repository.record.name.as_str().into();
        (event.subject.kind, event.subject.package) = ("info", name.as_str().into());
        self.remote.remotes.recorder.attempt();
        let line = followed.read(origin, |known| {
            let said = known.listing.log().said(&name).filter(|said| said.md5 == listed)?;
            Some((correction(&name, said.tokens.last().map(String::as_str), &md5), known.file.clone()))
        });
        let done = match line.flatten() {
            Some((line, file)) => {
                let change = Change { name, new: Vec::new(), gone: Vec::new(), vanished: false };
                let difference =
                    Difference { lines: line.into_bytes(), changes: vec![change], ..Difference::default() };
                Box::pin(self.append(difference, Lines::Correcting, file, &mut event)).await
            }
            // The index said something else meanwhile.
            None => Ok(()),
        };
        event.reason = done.as_ref().err().map(Error::reason);
        event.outcome = Some(if done.is_ok() { Ended::Done } else { Ended::Failed });
        event.duration = Tick::now().since(event.began);
        self.remote.remotes.recorder.release(event);
        drop(turn);
        done
    }

    async fn look(&self, event: &mut Event) -> Result<Proven, Error> {
        let (origin, followed) = (self.remote.repository.origin, self.index());
        if followed.read(origin, |_| ()).is_none()
            && let Some(known) = self.read_journal(event).await?
        {
            followed.replace(known);
        }
        match self.ask(event).await? {
            Looked::Later => return Ok(Proven::No),
            Looked::Unchanged(file) => {
                followed.change(origin, |known| (known.file, known.held_back) = (file, None));
            }
            Looked::HeldBack(held_back, file) => {
                let names = held_back.map_or(0, |held| held.names);
                followed.change(origin, |known| (known.file, known.held_back) = (file, held_back));
                let text =
                    format!("the upstream's `/versions` lacks {names} names that it had, and is held back for an hour");
                return Err(Failure::new(Reason::UpstreamInvalid, text).into());
            }
            Looked::First { text, from, file } => {
                let text = String::from_utf8(text).map_err(|_| invalid("it is not text"))?;
                let written = rows::write(&self.remote, &text, from, true, Seq(0), event).await?;
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
            Looked::Lines { difference, from, file } => self.append(difference, from, file, event).await?,
        }
        Ok(Proven::Yes)
    }

    /// Has our log gain lines.
    async fn append(
        &self,
        difference: Difference,
        from: Lines,
        file: UpstreamFile,
        event: &mut Event,
    ) -> Result<(), Error> {
        let (origin, followed) = (self.remote.repository.origin, self.index());
        if difference.lines.is_empty() {
            followed.change(origin, |known| (known.file, known.held_back) = (file, None));
            return Ok(());
        }
        let lines = String::from_utf8(difference.lines).map_err(|_| invalid("it is not text"))?;
        let names: Vec<String> = difference.changes.into_iter().map(|change| change.name).collect();
        let last = followed.read(origin, |known| known.last).unwrap_or(Seq(0));
        let written = rows::write(&self.remote, &lines, from, false, last, event).await;
        let Ok(Some((at, last))) = written else {
            // The journal may have rows that are not known here.
            followed.forget();
            return Err(written.err().unwrap_or(Error::GivenUp));
        };
        let changed = names.clone();
        let added = followed.change(origin, |known| {
            if from == Lines::Correcting {
                known.corrects(&lines);
            }
            known.add(&lines, at, false)?;
            (known.file, known.held_back) = (file, None);
            known.settle(last, Some(changed))
        });
        added.unwrap_or(Ok(()))?;
        let touched: Vec<&str> = names.iter().map(String::as_str).collect();
        self.remote.remotes.store.upstream_index_changed(self.remote.repository.id, &touched);
        followed.ahead.want(names);
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
                if row.corrects {
                    known.corrects(&row.lines);
                    known.add(&row.lines, *at, false)?;
                    continue;
                }
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
        let (origin, followed, now) = (self.remote.repository.origin, self.index(), self.now());
        let known = followed.read(origin, |known| (known.file.clone(), known.held_back));
        let (mut file, held) = known.clone().unwrap_or_default();
        let upstream = self.remote.upstream(event).await?;
        // ETags that tell nothing of the bytes are believed for a while only.
        let overdue = file.opaque_etags && !followed.took_whole_since(Millis(now.0 - HOUR_MS));
        let (mut whole, mut doubted) = (file.kept.is_none() || overdue, None);
        for asked in 0..REQUESTS {
            if !followed.may_take_whole(now) && (whole || file.ignores_range) {
                return if known.is_some() { Ok(Looked::Later) } else { Err(invalid(TOO_OFTEN).into()) };
            }
            let conditions = match held {
                Some(held) if asked == 0 && now.0 - held.since.0 < HELD_BACK_MS => body::unless_unchanged(&file),
                Some(_) => body::conditions(&file, true),
                None => body::conditions(&file, whole),
            };
            let ranged = conditions.first_byte.is_some();
            let answer = upstream.get(body::PATH, &conditions, event).await;
            self.remote.pin(&upstream, event).await?;
            let mut answer = answer.map_err(Trouble::from)?;
            let paused = upstream.states().iter().filter_map(|state| state.paused_until).max();
            if let Some(failure) = body::failure(&answer, paused) {
                return Err(failure.into());
            }
            let (etag, status) = (answer.header("etag").map(str::to_owned), answer.status());
            file.ignores_range = (file.ignores_range || ranged && status == 200) && status != 206;
            let opaque = file.opaque_etags || doubted.is_some();
            let read = body::read(&mut answer, file.kept.as_ref(), opaque, event).await?;
            if status == 200 && !matches!(read, Err(Refusal::Html | Refusal::NoHeader)) {
                followed.take_whole(now);
            }
            match read {
                Ok(Body::Unchanged) if held.is_some() => return Ok(Looked::HeldBack(held, file)),
                Ok(Body::Unchanged) => return Ok(Looked::Unchanged(file)),
                // It is another one than the one that was in doubt.
                Ok(Body::Read { seen, .. }) if doubted.is_some_and(|sha256| sha256 != seen.kept.sha256()) => {
                    doubted = Some(seen.kept.sha256());
                }
                Ok(Body::Read { seen, text, is_whole }) => {
                    // The same file twice with an ETag that is not its MD5: its ETags are none.
                    file.opaque_etags |= doubted.is_some();
                    let now_kept = UpstreamFile { kept: Some(seen.kept.clone()), etag, ..file.clone() };
                    match self.compare(seen.outcome, text, is_whole, now_kept, event).await? {
                        Some(looked) => return Ok(looked),
                        // A line of the continuation cannot be relayed as it is.
                        None => whole = true,
                    }
                }
                Err(Refusal::Tail(_)) if !whole => whole = true,
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
        text: Box<Versions>,
        is_whole: bool,
        mut file: UpstreamFile,
        event: &mut Event,
    ) -> Result<Option<Looked>, Error> {
        let (origin, shared) = (self.remote.repository.origin, self.remote.repository.shared.clone());
        let now = self.remote.now();
        if shared.followed.read(origin, |_| ()).is_none() {
            let (relayed, names) = (text.is_clean(), text.held());
            let text = if relayed { text.text().pieces().concat() } else { body::rendered(&text, now) };
            file.held = names.clone();
            let from = if relayed { Lines::Relayed } else { Lines::Made };
            return Ok(Some(Looked::First { text, from, file }));
        }
        let held = shared.followed.read(origin, |known| known.held_back).flatten();
        if outcome == Outcome::Unchanged && held.is_none() {
            return Ok(Some(Looked::Unchanged(file)));
        }
        // The log lacks lines that are held back, so what continues them does not continue the log.
        if !is_whole && file.held.iter().any(|name| text.has(name)) {
            return Ok(None);
        }
        if is_whole {
            file.held = text.held().clone();
        }
        let compare = move |(): &mut ()| {
            shared.followed.read(origin, |known| {
                if !is_whole {
                    return append(known.listing.log(), &text).map(|difference| (difference, Lines::Relayed));
                }
                let wrong = |name: &str, md5: &str| known.is_wrong(name, md5);
                Some((difference(known.listing.log(), &text, wrong), Lines::Made))
            })
        };
        let compared = self.context.workers.run(Lane::Index, Op::IndexRender, event, compare).await?;
        let Some((difference, from)) = compared.flatten() else { return Ok(None) };
        if difference.is_mass_removal() {
            let since = held.map_or(now, |held| held.since);
            if now.0 - since.0 < HELD_BACK_MS {
                let held = HeldBack { since, names: difference.vanished };
                return Ok(Some(Looked::HeldBack(Some(held), file)));
            }
        }
        Ok(Some(Looked::Lines { difference, from, file }))
    }
}

/// The line that says only another MD5 of a gem, of which this version was said last.
fn correction(name: &str, last: Option<&str>, md5: &str) -> String {
    let line = match last {
        Some(token) => versions::replacing_line(name, token, "ruby", md5),
        None => versions::tombstone(name, md5),
    };
    line + "\n"
}

fn invalid(why: &str) -> Failure {
    Failure::new(Reason::UpstreamInvalid, format!("the upstream's `/versions` is refused: {why}"))
}
