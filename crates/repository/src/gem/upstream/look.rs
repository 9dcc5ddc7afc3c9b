//! A look at an upstream's `/versions`: what is new of it is written to the journal, and then answered with.

use crate::error::Error;
use crate::gem::upstream::RemoteGems;
use crate::gem::upstream::index::Known;
use crate::gem::upstream::rows;
use crate::upstream::failure::Failure;
use crate::upstream::trouble::Trouble;
use bytes::BytesMut;
use client::{Arriving, Conditions};
use store::{Lane, Seq};
use telemetry::{Event, Millis, Op, Reason};

/// The path of the index.
const PATH: &str = "versions";
/// The largest index that is taken. The public one has about 24 MB.
const INDEX_MAX_BYTES: usize = 512 << 20;
/// The index is looked at again after so many milliseconds, when somebody asks.
const LOOK_EVERY_MS: i64 = 60_000;
/// Whoever asks for a name that is not listed has the index looked at again, unless that was done within so many milliseconds.
const RECENT_MS: i64 = 3_000;

impl RemoteGems<'_> {
    /// Has the index looked at where nothing is known of it, or for too long. Where the upstream fails and something is known, that counts.
    pub(crate) async fn ready(self, event: &mut Event) -> Result<(), Error> {
        self.checked_since(Millis(self.now().0 - LOOK_EVERY_MS), event).await
    }

    /// The same for somebody who asks for a name that is not listed.
    pub(crate) async fn ready_for_new(self, event: &mut Event) -> Result<(), Error> {
        self.checked_since(Millis(self.now().0 - RECENT_MS), event).await
    }

    async fn checked_since(self, since: Millis, event: &mut Event) -> Result<(), Error> {
        let origin = self.remote.repository.origin;
        let is_new = || self.index.read(origin, |known| known.checked >= since) == Some(true);
        if is_new() {
            return Ok(());
        }
        self.remote.may_wait()?;
        let _turn = self.index.looking.lock().await;
        if is_new() {
            return Ok(());
        }
        if self.index.read(origin, |_| ()).is_none()
            && let Some(known) = self.from_journal(event).await?
        {
            self.index.replace(known);
        }
        match self.look(event).await {
            Ok(()) => Ok(()),
            Err(trouble) => {
                let reason = trouble.reason().unwrap_or(Reason::UpstreamFailed);
                match self.index.change(origin, |known| known.failed = Some(reason)) {
                    Some(()) => Ok(()),
                    None => Err(trouble.into()),
                }
            }
        }
    }

    /// What the journal has; `None`: nothing.
    async fn from_journal(self, event: &mut Event) -> Result<Option<Known>, Error> {
        let read = rows::read(self.remote, None, event).await?;
        if read.rows.is_empty() {
            return Ok(None);
        }
        let mut known = Known::new(self.remote.repository.origin)?;
        let make = move |(): &mut ()| -> Result<Known, Error> {
            for (at, row) in &read.rows {
                known.add(&row.lines, *at)?;
            }
            known.settle(read.last)?;
            Ok(known)
        };
        Ok(Some(self.context.workers.run(Lane::Index, Op::IndexRender, event, make).await??))
    }

    /// One look.
    async fn look(self, event: &mut Event) -> Result<(), Trouble> {
        let upstream = self.remote.upstream(event).await?;
        let origin = self.remote.repository.origin;
        let etag = self.index.read(origin, |known| known.etag.clone()).flatten();
        let conditions = Conditions { etag, ..Conditions::default() };
        let answer = upstream.get(PATH, &conditions, event).await;
        self.remote.pin(&upstream, event).await?;
        let mut answer = answer?;
        let now = self.now();
        match answer.status() {
            200 => {}
            304 => {
                self.index.change(origin, |known| (known.checked, known.failed) = (now, None));
                return Ok(());
            }
            404 | 410 => {
                let text = "the upstream has no compact index (`/versions`), and others are not supported yet";
                return Err(Failure::new(Reason::UpstreamInvalid, text.into()).into());
            }
            _ => return Err(Failure::said(&answer, None).into()),
        }
        let etag = answer.header("etag").map(str::to_owned);
        let body = body(&mut answer, event).await?;
        let text = String::from_utf8(body.to_vec()).map_err(|_| invalid("it is not text"))?;
        self.take(text, etag, event).await
    }

    /// Takes the index as the upstream has it now.
    async fn take(self, text: String, etag: Option<String>, event: &mut Event) -> Result<(), Trouble> {
        let (remote, origin) = (self.remote, self.remote.repository.origin);
        let head = text.find("\n---\n").map(|at| at + "\n---\n".len()).filter(|_| text.ends_with('\n'));
        let head = head.ok_or_else(|| invalid("it has no `---`, or breaks off within a line"))?;
        let last = self.index.read(origin, |known| known.last);
        let (lines, appended) = match last {
            None => (text, true),
            Some(_) => {
                let make = move |known: &Known| known.listing.difference(&text[head..]);
                (self.index.read(origin, make).unwrap_or_default(), false)
            }
        };
        let now = self.now();
        let settled = |known: &mut Known| (known.etag, known.checked, known.failed) = (etag, now, None);
        if lines.is_empty() {
            self.index.change(origin, settled);
            return Ok(());
        }
        let (whole, expected) = (last.is_none(), last.unwrap_or(Seq(0)));
        let written = rows::write(remote, &lines, appended, whole, expected, event).await;
        let Some((at, last)) = written.map_err(|error| invalid(&error.to_string()))? else {
            return Err(store::Error::GivenUp.into());
        };
        if whole {
            let known = Known::new(origin).map_err(|error| invalid(&error.to_string()))?;
            self.index.replace(known);
        }
        let touched: Vec<&str> = lines.lines().filter_map(|line| line.split(' ').next()).collect();
        let changed = self.index.change(origin, |known| {
            known.add(&lines, at)?;
            known.settle(last)?;
            settled(known);
            Ok::<_, Error>(())
        });
        changed.unwrap_or(Ok(())).map_err(|error| invalid(&error.to_string()))?;
        remote.remotes.store.upstream_index_changed(remote.repository.id, &touched);
        Ok(())
    }
}

/// Reads a body to its end.
async fn body(answer: &mut Arriving, event: &mut Event) -> Result<BytesMut, Trouble> {
    let mut body = BytesMut::new();
    while let Some(piece) = answer.next(event).await {
        body.extend_from_slice(&piece?);
        if body.len() > INDEX_MAX_BYTES {
            return Err(invalid("it is larger than any index").into());
        }
    }
    Ok(body)
}

fn invalid(why: &str) -> Failure {
    Failure::new(Reason::UpstreamInvalid, format!("the upstream's `/versions` is refused: {why}"))
}
