//! The catalog whose changes the database orders. All reads, and all decisions, are made in this node's copy.

use super::link::Link;
use super::options::DatabaseOptions;
use super::session::{Answer, Append, SMALLER_MAX, random};
use super::state::DatabaseState;
use crate::disk::cluster::ClusterId;
use crate::error::{Error, Result};
use crate::journal::clock_doubt::ClockDoubt;
use crate::journal::record::Seq;
use crate::truth::catalog::{Batch, Committed, Conflict, JournalReads as _, JournalRow, Transactions};
use crate::truth::sqlite::Sqlite;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use telemetry::{Clock, Job, Log, Op, Recorder};
use tokio::time::Instant;

/// The copy, and the database that orders the changes of it.
pub(crate) struct Ordered {
    pub(super) copy: Sqlite,
    pub(super) link: Arc<Link>,
    pub(super) clock: Clock,
    pub(super) log: Log,
    /// The cluster that the data folder belongs to.
    pub(super) cluster: ClusterId,
    /// The connection over which the history of the database was last compared with the copy.
    pub(super) agreed: u64,
    /// The last row before the open transaction.
    after: Seq,
    /// The last row of another node.
    followed: Seq,
    /// How often a page of rows became smaller because one did not come, since all of them came last.
    smaller: u32,
}

/// The data folder of the copy.
pub(crate) struct Folder {
    /// Its identity.
    pub(crate) id: u128,
    /// The cluster that it belongs to.
    pub(crate) cluster: ClusterId,
}

impl Ordered {
    /// Connects in the background. `copy` is the connection that writes.
    pub(crate) fn new(
        copy: Sqlite,
        options: DatabaseOptions,
        folder: Folder,
        clock: Clock,
        log: Log,
        recorder: &Arc<Recorder>,
    ) -> Result<Self> {
        let state = DatabaseState::new(&options.url, clock.clone(), log.clone(), recorder);
        let link = Arc::new(Link::start(options, folder.id, state, log.clone(), recorder.clone())?);
        let cluster = folder.cluster;
        Ok(Self { copy, link, clock, log, cluster, agreed: 0, after: Seq(0), followed: Seq(0), smaller: 0 })
    }

    /// The connection.
    pub(crate) fn link(&self) -> Arc<Link> {
        self.link.clone()
    }

    /// Sends rows that follow `after`, until it is known what became of them. An append is sent again under the same identity, so it is
    /// made once.
    fn append(&mut self, after: Seq, bodies: Vec<String>) -> Result<Answer> {
        let append = Arc::new(Append { id: random()?, after, bodies });
        let (deadline, mut sent) = (self.link.deadline(), false);
        let mut job = Job::begin(self.link.recorder(), "database.append");
        let appending = job.running(Op::DatabaseAppend);
        let answer = loop {
            match self.attempt(&append, deadline, &mut sent) {
                Err(Error::DatabaseAway { .. }) if Instant::now() < deadline && !self.link.state().is_refusing() => {}
                answer => break answer,
            }
        };
        drop(appending);
        job.end_as(&answer);
        answer
    }

    fn attempt(&mut self, append: &Arc<Append>, deadline: Instant, sent: &mut bool) -> Result<Answer> {
        let session = self.link.session(deadline)?;
        self.agree(&session, append.after)?;
        let counts = &self.link.state().counts;
        counts.appends.fetch_add(1, Ordering::Relaxed);
        if std::mem::replace(sent, true) {
            counts.lost_answers.fetch_add(1, Ordering::Relaxed);
        }
        let (append, by, clock_ms) = (append.clone(), self.link.member().by.clone(), self.clock_ms());
        self.link.ask(async move { session.append(&append, &by, clock_ms).await })
    }

    /// The time of this node, to be compared with that of the database. A clock that somebody has set is not.
    pub(super) fn clock_ms(&self) -> Option<i64> {
        (!self.clock.is_set()).then(|| self.clock.now().0)
    }

    /// Sends the rows of the open transaction. Also if there are none: what was refused, or only expected, was decided by the last change.
    fn send(&mut self) -> Result<Answer> {
        let rows = self.copy.journal_text(self.after, usize::MAX, usize::MAX)?;
        let last = Seq(self.after.0 + rows.len() as u64);
        self.link.knows(last.0);
        let answer = self.append(self.after, rows.into_iter().map(|(_, body)| body).collect())?;
        if let Answer::Made { alone } = answer {
            self.link.member().everywhere.made(last, alone);
        }
        Ok(answer)
    }

    /// Says that nothing is followed any more, if a row of the database is one that no program of this version has written.
    fn check_followed<T>(&self, taken: Result<T>) -> Result<T> {
        let state = self.link.state();
        match taken {
            Err(why @ (Error::Row { .. } | Error::Gap { .. })) => {
                let error = Error::DatabaseAhead { url: self.link.options().url.clone(), why: why.to_string() };
                state.cannot_follow(&error);
                Err(error)
            }
            taken => {
                if taken.is_ok() {
                    state.follows();
                }
                taken
            }
        }
    }
}

impl Transactions for Ordered {
    fn begin(&mut self, batches: &[Batch]) -> Result<Vec<Result<Seq, Conflict>>> {
        self.after = self.copy.last()?;
        self.copy.begin(batches)
    }

    /// If the copy cannot commit what the database has taken, the rows come back as those of others.
    fn commit(&mut self) -> Result<Committed> {
        let failed = match self.send() {
            Ok(Answer::Made { .. }) => {
                return Ok(match self.copy.commit()? {
                    // The database has the rows. They come back as those of others, and must not be decided again.
                    Committed::Failed(error) => {
                        self.link.knows(self.after.0);
                        let cause = format!("it has the change, and this node's copy cannot take it in: {error}");
                        Committed::Failed(Error::DatabaseAway { url: self.link.options().url.clone(), cause })
                    }
                    committed => committed,
                });
            }
            Ok(Answer::Moved) => None,
            Ok(Answer::Clock(ahead_ms)) => Some(Error::Clock(ClockDoubt::OffFromDatabase(ahead_ms))),
            Err(error) => Some(error),
        };
        self.rollback();
        self.link.knows(self.after.0);
        if let Some(error) = failed {
            return Ok(Committed::Failed(error));
        }
        self.link.state().counts.retries.fetch_add(1, Ordering::Relaxed);
        let mut rows = self.others(self.after);
        if rows.as_ref().is_ok_and(Vec::is_empty) {
            // The database has fewer rows than before, although the connection is the same.
            self.agreed = 0;
            rows = self.others(self.after);
        }
        Ok(rows.map_or_else(Committed::Failed, Committed::Behind))
    }

    fn rollback(&mut self) {
        self.copy.rollback();
    }

    fn replay(&mut self, rows: &[JournalRow]) -> Result<()> {
        self.copy.replay(rows)?;
        self.link.knows(self.copy.last()?.0);
        Ok(())
    }

    fn others(&mut self, after: Seq) -> Result<Vec<JournalRow>> {
        let session = self.link.session(Instant::now())?;
        self.agree(&session, after)?;
        let smaller = self.smaller;
        let rows = self.link.ask(async move { session.rows(after, smaller).await });
        self.smaller = match &rows {
            Err(_) => SMALLER_MAX.min(smaller + 1),
            Ok(rows) if rows.is_empty() => 0,
            Ok(_) => smaller,
        };
        let rows = rows?.iter().map(|(seq, body)| JournalRow::read(*seq, body)).collect();
        self.check_followed(rows)
    }

    fn take_in(&mut self, rows: &[JournalRow]) -> Result<()> {
        let taken = self.replay(rows);
        self.check_followed(taken)?;
        self.followed = self.copy.last()?;
        Ok(())
    }

    fn took_effect(&mut self, last: Seq) {
        self.link.member().saw(last, last == self.followed);
    }

    /// The database gets them first: if it has others by now, the copy must not have these.
    fn put_back(&mut self, rows: &[JournalRow]) -> Result<bool> {
        let bodies = rows.iter().map(|row| serde_json::to_string(row).map_err(Error::row(row.seq)));
        let (after, bodies) = (self.copy.last()?, bodies.collect::<Result<_>>()?);
        match self.append(after, bodies)? {
            Answer::Made { .. } => self.replay(rows).map(|()| true),
            Answer::Moved => Ok(false),
            Answer::Clock(ahead_ms) => Err(Error::Clock(ClockDoubt::OffFromDatabase(ahead_ms))),
        }
    }

    /// Notes are in the database alone.
    fn change_note(&mut self, name: &str, change: &mut dyn FnMut(Option<&str>) -> Option<String>) -> Result<()> {
        let session = self.link.session(self.link.deadline())?;
        let last = self.copy.last()?;
        self.agree(&session, last)?;
        loop {
            let (asked, of) = (session.clone(), name.to_owned());
            let read = self.link.ask(async move { asked.note(&of).await })?;
            let Some(body) = change(read.as_deref()) else { return Ok(()) };
            let (asked, of) = (session.clone(), name.to_owned());
            if self.link.ask(async move { asked.replace_note(&of, read.as_deref(), &body).await })? {
                return Ok(());
            }
        }
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.link.close();
        Box::new(self.copy).close()
    }
}
