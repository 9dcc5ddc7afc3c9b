//! Whether the database has the history that this node knows. Compared once over each connection, before anything is read or written.
//!
//! A standby that was promoted may lack the last changes. Then this node still has them, and puts them back. If it has other changes
//! under the same numbers, somebody has to decide: nothing is written, and nothing is overwritten.

use super::ordered::{Ordered, random};
use super::session::{Answer, Append, Session};
use crate::error::{Error, Result};
use crate::journal::clock_doubt::ClockDoubt;
use crate::journal::record::Seq;
use crate::truth::catalog::{JournalReads as _, Transactions as _};
use std::sync::Arc;
use telemetry::{Job, Op};
use tokio::time::Instant;

/// The most rows that are put back at a time, and their most bytes.
const PUT_BACK_ROWS: usize = 256;
const PUT_BACK_BYTES: usize = 1 << 20;

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
        match done {
            Err(Error::DatabaseAway { url, cause }) if last == Seq(0) => Err(Error::NoCopy { url, cause }),
            // What the database lacks is put back once it can be.
            Err(Error::DatabaseAway { .. } | Error::Clock(_)) => Ok(()),
            // Its reads go on, and its changes are refused.
            Err(Error::DatabaseOther { .. }) if self.cluster.get().is_some() && self.agreed_on_cluster() => Ok(()),
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
        loop {
            let after = self.copy.last()?;
            let rows = self.others(after)?;
            if rows.is_empty() {
                return Ok(());
            }
            self.replay(&rows)?;
        }
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
            Err(error @ (Error::DatabaseOther { .. } | Error::NotAdopted { .. })) => {
                self.link.state().is_other(&error);
                Err(error)
            }
            compared => {
                compared?;
                self.agreed = session.number;
                self.link.state().is_ours();
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
        match self.cluster.get() {
            Some(id) if id == session.cluster => {}
            Some(_) => return Err(other("it is not the database that this data folder belongs to".to_owned())),
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
                let why = format!(
                    "its change `{}` is not the change `{0}` of this node: their histories have parted, so nothing is written",
                    common.0
                );
                return Err(Error::DatabaseOther { url: self.link.options().url.clone(), why });
            }
        }
        if counter < known { self.put_back(session, counter, known) } else { Ok(()) }
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
            let append = Append { id: random()?, after, bodies };
            let (session, node, clock_ms) = (session.clone(), self.link.options().node.clone(), self.clock_ms());
            match self.link.ask(async move { session.append(&append, &node, clock_ms).await })? {
                Answer::Made => after = last,
                Answer::Clock(ahead_ms) => return Err(Error::Clock(ClockDoubt::OffFromDatabase(ahead_ms))),
                // Another node puts the same rows back. The next attempt looks again.
                Answer::Moved => {
                    let (url, cause) = (self.link.options().url.clone(), "another node puts changes back".to_owned());
                    return Err(Error::DatabaseAway { url, cause });
                }
            }
        }
        self.log.info("all changes that this node knows are in the database", &figures);
        Ok(())
    }
}
