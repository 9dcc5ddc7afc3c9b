//! The catalog whose changes the database orders. All reads, and all decisions, are made in this node's copy.

use super::append::{Answer, Append};
use super::link::Link;
use super::objects_place::{PLACE, is_shared};
use super::options::DatabaseOptions;
use super::session::{SMALLER_MAX, random};
use super::state::DatabaseState;
use crate::disk::cluster::ClusterId;
use crate::error::{Error, Result};
use crate::journal::clock_doubt::ClockDoubt;
use crate::journal::record::Seq;
use crate::truth::catalog::{Batch, Committed, Conflict, JournalReads as _, JournalRow, Others, Transactions};
use crate::truth::sqlite::Sqlite;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use telemetry::{Clock, Job, Log, Op, Recorder};
use tokio::time::Instant;

/// The copy, and the database that orders the changes of it.
pub(crate) struct Ordered {
    pub(super) copy: Sqlite,
    pub(super) link: Arc<Link>,
    pub(super) log: Log,
    /// The cluster that the data folder belongs to.
    pub(super) cluster: ClusterId,
    /// The connection over which the history of the database was last compared with the copy.
    pub(super) agreed: u64,
    /// The last row before the open transaction.
    after: Seq,
    /// The last row of another node.
    followed: Seq,
    /// How often in a row others were quicker than an append.
    lost: i32,
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
        mut copy: Sqlite,
        options: DatabaseOptions,
        folder: Folder,
        clock: Clock,
        log: Log,
        recorder: &Arc<Recorder>,
    ) -> Result<Self> {
        let state = DatabaseState::new(&options.url, clock, log.clone(), recorder);
        if copy.last()? > Seq(0) {
            state.is_copied();
        }
        let link = Arc::new(Link::start(options, folder.id, state, log.clone(), recorder.clone())?);
        // What the database may lack is told before it can be put back.
        link.member().saw(copy.last()?, false);
        let cluster = folder.cluster;
        Ok(Self { copy, link, log, cluster, agreed: 0, after: Seq(0), followed: Seq(0), lost: 0, smaller: 0 })
    }

    /// The connection.
    pub(crate) fn link(&self) -> Arc<Link> {
        self.link.clone()
    }

    /// An error if other nodes keep bytes elsewhere. Nothing is known while the database is away: the node then has what it had before.
    pub(crate) fn check_place(&self, set: Option<&str>) -> Result<()> {
        let Ok(session) = self.link.first_session() else { return Ok(()) };
        match self.link.ask(async move { session.note(PLACE).await }) {
            Ok(noted) => is_shared(noted.as_deref(), set),
            Err(_) => Ok(()),
        }
    }

    /// Sends rows that follow `after`, until it is known what became of them. An append is sent again under the same identity, so it is
    /// made once.
    fn append(&mut self, after: Seq, bodies: Vec<String>, puts_back: bool) -> Result<Answer> {
        let append = Arc::new(Append { id: random()?, after, bodies, puts_back, lost: self.lost });
        let (deadline, mut sent, mut lost) = (self.link.deadline(), false, false);
        let mut job = Job::begin(self.link.recorder(), "database.append");
        let appending = job.running(Op::DatabaseAppend);
        let answer = loop {
            match self.attempt(&append, deadline, &mut sent) {
                Err(Error::DatabaseAway { .. }) if Instant::now() < deadline && !self.link.state().is_refusing() => {
                    lost |= sent;
                }
                Ok(Answer::Moved) if lost => break self.what_became_of(&append),
                Ok(Answer::Wait(reached)) if Instant::now() < deadline => {
                    sent = false;
                    if reached < after {
                        // Its last rows are gone, although the connection is the same.
                        self.agreed = 0;
                    }
                    if let Err(error) = self.link.let_write() {
                        break Err(error);
                    }
                }
                answer => break answer,
            }
        };
        drop(appending);
        job.end_as(&answer);
        self.lost = if answer.as_ref().is_ok_and(|answer| *answer == Answer::Moved) { self.lost + 1 } else { 0 };
        answer
    }

    /// The answer to an append was lost, and others have written since. It was made if the database has its last row: a node that had read it
    /// puts it back under an identity of its own where a standby was promoted that lacked it.
    fn what_became_of(&self, append: &Append) -> Result<Answer> {
        let (session, last) = (self.link.session(Instant::now())?, Seq(append.after.0 + append.bodies.len() as u64));
        let there = self.link.ask(async move { session.row(last).await })?;
        let is_made = there.is_some() && there.as_ref() == append.bodies.last();
        Ok(if is_made { Answer::Made { alone: false } } else { Answer::Moved })
    }

    /// Another node had to write first, and took too long.
    fn waited(&self) -> Error {
        let cause = match self.link.member().lacks_of() {
            Some(node) => format!("the node `{node}` may have changes that it lacks, and has not put them back yet"),
            None => "another node writes first, or may have changes that it lacks".to_owned(),
        };
        Error::DatabaseAway { url: self.link.options().url.clone(), cause }
    }

    fn attempt(&mut self, append: &Arc<Append>, deadline: Instant, sent: &mut bool) -> Result<Answer> {
        let session = self.link.session(deadline)?;
        self.agree(&session, append.after)?;
        if !append.puts_back && self.link.member().awaits_others() {
            return Ok(Answer::Wait(append.after));
        }
        let counts = &self.link.state().counts;
        counts.appends.fetch_add(1, Ordering::Relaxed);
        if std::mem::replace(sent, true) {
            counts.lost_answers.fetch_add(1, Ordering::Relaxed);
        }
        let clock_ms = if append.puts_back { None } else { self.link.state().clock_ms() };
        let (append, by) = (append.clone(), self.link.member().by.clone());
        self.link.ask(async move { session.append(&append, &by, clock_ms).await })
    }

    /// Sends the rows of the open transaction. Also if there are none: what was refused, or only expected, was decided by the last change.
    fn send(&mut self) -> Result<Answer> {
        let rows = self.copy.journal_text(self.after, usize::MAX, usize::MAX)?;
        let last = Seq(self.after.0 + rows.len() as u64);
        if !rows.is_empty() {
            self.check_form(JournalRow::VERSION)?;
        }
        self.link.knows(last.0);
        let answer = self.append(self.after, rows.into_iter().map(|(_, body)| body).collect(), false)?;
        if let Answer::Made { alone } = answer {
            self.link.member().everywhere.made(last, alone);
        }
        Ok(answer)
    }

    /// An error while a living node does not read rows of the form `form`: it would stop following.
    fn check_form(&self, form: u32) -> Result<()> {
        match self.link.member().reads_less(form) {
            Some((node, version, reads)) => {
                let why =
                    format!("it runs daylight {version}, which reads forms up to `{reads}`, and this is form `{form}`");
                Err(Error::NodeBehind { node, why })
            }
            None => Ok(()),
        }
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
            Ok(Answer::Wait(_)) => Some(self.waited()),
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
        if rows.as_ref().is_ok_and(|others| others.rows.is_empty()) {
            // The database has fewer rows than before, although the connection is the same.
            self.agreed = 0;
            rows = self.others(self.after);
        }
        Ok(rows.map_or_else(Committed::Failed, |others| Committed::Behind(others.rows)))
    }

    fn rollback(&mut self) {
        self.copy.rollback();
    }

    fn replay(&mut self, rows: &[JournalRow]) -> Result<()> {
        self.copy.replay(rows)?;
        self.link.knows(self.copy.last()?.0);
        Ok(())
    }

    fn others(&mut self, after: Seq) -> Result<Others> {
        let session = self.link.session(Instant::now())?;
        self.agree(&session, after)?;
        let smaller = self.smaller;
        let page = self.link.ask(async move { session.rows(after, smaller).await });
        self.smaller = match &page {
            Err(_) => SMALLER_MAX.min(smaller + 1),
            Ok(page) if !page.more => 0,
            Ok(_) => smaller,
        };
        let page = page?;
        let rows = page.rows.iter().map(|(seq, body)| JournalRow::read(*seq, body)).collect();
        Ok(Others { rows: self.check_followed(rows)?, more: page.more })
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
        self.check_form(rows.iter().map(|row| row.v).max().unwrap_or_default())?;
        let bodies = rows.iter().map(|row| serde_json::to_string(row).map_err(Error::row(row.seq)));
        let (after, bodies) = (self.copy.last()?, bodies.collect::<Result<_>>()?);
        match self.append(after, bodies, true)? {
            Answer::Made { .. } => self.replay(rows).map(|()| true),
            Answer::Moved => Ok(false),
            Answer::Wait(_) => Err(self.waited()),
            Answer::Clock(ahead_ms) => Err(Error::Clock(ClockDoubt::OffFromDatabase(ahead_ms))),
        }
    }

    /// Notes are in the database alone. What they decide depends on the time, as whether a one-time password is good.
    fn change_note(&mut self, name: &str, change: &mut dyn FnMut(Option<&str>) -> Option<String>) -> Result<()> {
        let session = self.link.session(self.link.deadline())?;
        let last = self.copy.last()?;
        self.agree(&session, last)?;
        loop {
            let (asked, of) = (session.clone(), name.to_owned());
            let read = self.link.ask(async move { asked.note(&of).await })?;
            if let Some(doubt) = self.link.state().clock_doubt() {
                return Err(Error::Clock(doubt));
            }
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
