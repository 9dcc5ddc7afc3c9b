//! The catalog whose changes the database orders. All reads, and all decisions, are made in this node's copy.

use super::link::Link;
use super::options::DatabaseOptions;
use super::session::{Answer, Append};
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
}

impl Ordered {
    /// Connects in the background. `copy` is the connection that writes.
    pub(crate) fn new(
        copy: Sqlite,
        options: DatabaseOptions,
        cluster: ClusterId,
        clock: Clock,
        log: Log,
        recorder: &Arc<Recorder>,
    ) -> Result<Self> {
        let state = DatabaseState::new(&options.url, clock.clone(), log.clone(), recorder);
        let link = Arc::new(Link::start(options, state, recorder.clone())?);
        Ok(Self { copy, link, clock, log, cluster, agreed: 0, after: Seq(0) })
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
                Err(Error::DatabaseAway { .. }) if Instant::now() < deadline => {}
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
        let (append, node, clock_ms) = (append.clone(), self.link.options().node.clone(), self.clock_ms());
        self.link.ask(async move { session.append(&append, &node, clock_ms).await })
    }

    /// The time of this node, to be compared with that of the database. A clock that somebody has set is not.
    pub(super) fn clock_ms(&self) -> Option<i64> {
        (!self.clock.is_set()).then(|| self.clock.now().0)
    }

    /// Sends the rows of the open transaction. Also if there are none: what was refused, or only expected, was decided by the last change.
    fn send(&mut self) -> Result<Answer> {
        let rows = self.copy.journal_text(self.after, usize::MAX, usize::MAX)?;
        self.link.knows(self.after.0 + rows.len() as u64);
        self.append(self.after, rows.into_iter().map(|(_, body)| body).collect())
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
            Ok(Answer::Made) => {
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
        let rows = self.link.ask(async move { session.rows(after).await })?;
        let parse = |(seq, body): &(Seq, String)| serde_json::from_str(body).map_err(Error::row(*seq));
        rows.iter().map(parse).collect()
    }

    fn take_in(&mut self, rows: &[JournalRow]) -> Result<()> {
        self.replay(rows)
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

/// A random identity of an append.
pub(super) fn random() -> Result<[u8; 16]> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| Error::thread(std::io::Error::other(error)))?;
    Ok(bytes)
}
