//! Whether the database has the history that this node knows. Compared once over each connection, before anything is read or written.
//!
//! A standby that was promoted may lack the last changes. Then this node still has them, and puts them back. If it has other changes
//! under the same numbers, somebody has to decide: nothing is written, and nothing is overwritten.

use super::append::{Answer, Append};
use super::ordered::Ordered;
use super::session::{SMALLER_MAX, Session, random};
use crate::error::{Error, Result};
use crate::journal::clock_doubt::ClockDoubt;
use crate::journal::record::Seq;
use crate::truth::catalog::{JournalReads as _, Others, Transactions as _};
use std::sync::Arc;
use telemetry::{Job, Op, Tick};
use tokio::time::Instant;

/// The most rows that are put back at a time, and their most bytes.
const PUT_BACK_ROWS: usize = 256;
const PUT_BACK_BYTES: usize = 1 << 20;

/// Why a database with another id is not used.
pub(super) const OTHER_CLUSTER: &str = "it is not the database that this data folder belongs to";

/// How often the log tells how far reading has come, in nanoseconds.
const TELL_EVERY_NS: u64 = 10_000_000_000;

impl Ordered {
    /// Reads everything from the database that the copy does not have, at the start. If the database is away, the copy must do.
    pub(crate) fn catch_up(&mut self) -> Result<()> {
        let (from, mut job) = (self.copy.last()?, Job::begin(self.link.recorder(), "database.follow"));
        let reading = job.running(Op::DatabaseRead);
        let done = self.read_all();
        drop(reading);
        job.end_as(&done);
        let last = self.copy.last()?;
        if last > from {
            self.log.info("changes were read from the database", &[("first", &(from.0 + 1)), ("last", &last.0)]);
        }
        if done.is_ok() {
            self.link.state().is_copied();
        }
        match done {
            Err(Error::DatabaseAway { url, cause }) if last == Seq(0) => Err(Error::NoCopy { url, cause }),
            // What the database lacks is put back once it can be.
            Err(Error::DatabaseAway { .. } | Error::Clock(_)) => Ok(()),
            Err(Error::DatabaseRefuses { .. }) if last > Seq(0) => Ok(()),
            // Its reads go on, and its changes are refused.
            Err(Error::DatabaseOther { .. } | Error::Parted { .. } | Error::DatabaseAhead { .. })
                if self.cluster.get().is_some() && self.agreed_on_cluster() =>
            {
                Ok(())
            }
            done => done,
        }
    }

    fn read_all(&mut self) -> Result<()> {
        let last = self.copy.last()?;
        self.link.knows(last.0);
        // A node with a copy need not wait for a database that is away.
        match last {
            Seq(0) => self.link.session(self.link.deadline())?,
            _ => self.link.first_session()?,
        };
        let (mut told, mut lost) = (Tick::now(), 0);
        loop {
            let after = self.copy.last()?;
            let Others { rows, more } = match self.others(after) {
                // Over a slow connection the next page is smaller.
                Err(Error::DatabaseAway { .. }) if lost < SMALLER_MAX => {
                    lost += 1;
                    self.link.session(self.link.deadline())?;
                    continue;
                }
                others => others?,
            };
            lost = 0;
            if !rows.is_empty() {
                self.take_in(&rows)?;
            }
            if !more {
                return Ok(());
            }
            if Tick::now().since(told) > TELL_EVERY_NS {
                told = Tick::now();
                let figures: [(&str, &dyn std::fmt::Display); 2] =
                    [("read", &self.copy.last()?.0), ("of", &self.counter()?.0)];
                self.log.info("changes are being read from the database", &figures);
            }
        }
    }

    /// The number of the last row of the database.
    fn counter(&self) -> Result<Seq> {
        let session = self.link.session(self.link.deadline())?;
        self.link.ask(async move { session.counter().await })
    }

    fn agreed_on_cluster(&self) -> bool {
        let session = self.link.session(Instant::now());
        session.is_ok_and(|session| self.cluster.get() == Some(session.cluster.as_str()))
    }

    /// Compares the history of the database with that of the copy up to its last row `known`, if this was not done over this connection.
    pub(super) fn agree(&mut self, session: &Arc<Session>, known: Seq) -> Result<()> {
        if self.agreed == session.number {
            return Ok(());
        }
        match self.compare(session, known) {
            Err(error) => {
                if matches!(error, Error::DatabaseOther { .. } | Error::Parted { .. } | Error::NotAdopted { .. }) {
                    self.link.state().is_other(&error);
                }
                if !matches!(error, Error::DatabaseAway { .. }) {
                    self.link.member().parts(session.number);
                }
                Err(error)
            }
            Ok(()) => {
                self.agreed = session.number;
                self.link.state().is_ours();
                self.link.member().agrees(session.number);
                Ok(())
            }
        }
    }

    fn compare(&mut self, session: &Arc<Session>, known: Seq) -> Result<()> {
        let counter = self.link.ask({
            let session = session.clone();
            async move { session.counter().await }
        })?;
        let other = |why: String| Error::DatabaseOther { url: self.link.options().url.clone(), why };
        let moves_in = self.cluster.get().is_none() && known > Seq(0);
        match self.cluster.get() {
            Some(id) if id == session.cluster => {}
            Some(_) => return Err(other(OTHER_CLUSTER.to_owned())),
            None if known == Seq(0) || (counter == Seq(0) && self.link.options().adopt) => {
                self.cluster.join(&session.cluster)?;
            }
            None if counter == Seq(0) => {
                return Err(Error::NotAdopted { url: self.link.options().url.clone(), rows: known.0 });
            }
            None => {
                let why = "it has changes, and the data folder has changes of its own, from before it had a database";
                return Err(other(why.to_owned()));
            }
        }
        let common = counter.min(known);
        if common > Seq(0) {
            let session = session.clone();
            let theirs = self.link.ask(async move { session.row(common).await })?;
            let ours = self.copy.journal_text(Seq(common.0 - 1), 1, usize::MAX)?.into_iter().next();
            if ours != theirs.map(|body| (common, body)) {
                return Err(Error::Parted { url: self.link.options().url.clone(), seq: common });
            }
        }
        if counter >= known {
            return Ok(());
        }
        let put = self.put_back(session, counter, known);
        if put.is_err() && moves_in && !self.is_first_row(session)? {
            // Another one moved in meanwhile.
            self.cluster.leave()?;
        }
        put
    }

    /// Whether the first row of the database is that of the copy, or the database has none.
    fn is_first_row(&mut self, session: &Arc<Session>) -> Result<bool> {
        let session = session.clone();
        let theirs = self.link.ask(async move { session.row(Seq(1)).await })?;
        let ours = self.copy.journal_text(Seq(0), 1, usize::MAX)?.into_iter().next();
        Ok(theirs.is_none_or(|theirs| ours.is_some_and(|(_, ours)| ours == theirs)))
    }

    /// Writes rows of the copy that the database lacks: those after `counter` up to `known`.
    fn put_back(&mut self, session: &Arc<Session>, counter: Seq, known: Seq) -> Result<()> {
        let figures: [(&str, &dyn std::fmt::Display); 2] = [("first", &(counter.0 + 1)), ("last", &known.0)];
        match counter {
            Seq(0) => {
                self.log.info("the changes of the data folder are written into the database, which is empty", &figures)
            }
            _ => self.log.warn("the database lacks changes that this node knows: they are put back", &figures),
        }
        let mut after = counter;
        while after < known {
            let rows = self.copy.journal_text(after, PUT_BACK_ROWS, PUT_BACK_BYTES)?;
            // In an open transaction the copy has rows after `known`.
            let rows: Vec<_> = rows.into_iter().filter(|(seq, _)| *seq <= known).collect();
            let Some(last) = rows.last().map(|(seq, _)| *seq) else { break };
            let bodies = rows.into_iter().map(|(_, body)| body).collect();
            let append = Append { id: random()?, after, bodies, puts_back: true, lost: 0 };
            // The time of changes that the database had before is not that of now.
            let clock_ms = if counter == Seq(0) { self.link.state().clock_ms() } else { None };
            let (session, by) = (session.clone(), self.link.member().by.clone());
            match self.link.ask(async move { session.append(&append, &by, clock_ms).await })? {
                Answer::Made { .. } => after = last,
                Answer::Clock(ahead_ms) => return Err(Error::Clock(ClockDoubt::OffFromDatabase(ahead_ms))),
                // Another node puts the same rows back. The next attempt looks again.
                Answer::Moved | Answer::Wait(_) => {
                    let (url, cause) = (self.link.options().url.clone(), "another node puts changes back".to_owned());
                    return Err(Error::DatabaseAway { url, cause });
                }
            }
        }
        self.log.info("all changes that this node knows are in the database", &figures);
        Ok(())
    }
}
