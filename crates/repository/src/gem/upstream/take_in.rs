//! Adds lines that other nodes saw to the index in memory, as soon as their rows are in the journal of this node. So all nodes answer with the
//! same bytes, and no node looks for a line that another one has seen.

use crate::error::{Error, Result};
use crate::gem::upstream::follow::Follow;
use crate::gem::upstream::index::Known;
use crate::gem::upstream::rows::{self, IndexRow, SeenRow};
use crate::upstream::first_seen::followed_rows::FollowedRow;
use std::collections::BTreeSet;
use store::Lane;
use telemetry::{Event, Job, Op};

impl Follow {
    /// Accepts a row of another node. A task adds it, after the look under way.
    pub(crate) fn take_in(self, unit: &str, row: FollowedRow) {
        if unit != rows::unit(&self.remote) || !self.index().followed_rows.add(row) {
            return;
        }
        let back = self.remote.remotes.back.clone();
        back.spawn(async move {
            let turn = self.index().looking.clone().lock_owned().await;
            let mut job = Job::begin(&self.remote.remotes.recorder, "index.take_in");
            job.subject.repository = self.remote.repository.record.name.as_str().into();
            job.subject.kind = "versions";
            let done = self.take_in_rows(&mut job).await;
            if let Err(error) = &done {
                // The next request reads the journal, or tells why it cannot.
                let (store, id) = (&self.remote.remotes.store, self.remote.repository.id);
                store.change_upstream_index(id, &[], || self.index().forget());
                (job.reason, job.detail) = (Some(error.reason()), error.to_string());
            }
            job.end_as(&done);
            drop(turn);
            self.fetch_ahead();
        });
    }

    /// The caller has the turn.
    async fn take_in_rows(&self, event: &mut Event) -> Result<()> {
        let (origin, followed) = (self.remote.repository.origin, self.index());
        let rows = followed.followed_rows.take();
        // Without a state in memory the next request reads the whole journal.
        let Some(last) = followed.read(origin, |known| known.last) else { return Ok(()) };
        let mut new = match rows {
            Some(rows) => self.parse(rows, event).await?,
            None => rows::read(&self.remote, event).await?,
        };
        new.retain(|row| row.seq > last);
        if new.is_empty() {
            return Ok(());
        }
        self.fits(new.iter().map(|SeenRow { row, .. }| row.lines.len()).sum())?;
        let names: BTreeSet<String> = new.iter().flat_map(|SeenRow { row, .. }| names(row)).collect();
        let touched: Vec<&str> = names.iter().map(String::as_str).collect();
        let (store, id) = (&self.remote.remotes.store, self.remote.repository.id);
        let add = |known: &mut Known| new.into_iter().try_for_each(|row| known.take_in(row));
        store.change_upstream_index(id, &touched, || followed.change(origin, add)).unwrap_or(Ok(()))?;
        followed.ahead.want(names.into_iter().collect());
        Ok(())
    }

    async fn parse(&self, rows: Vec<FollowedRow>, event: &mut Event) -> Result<Vec<SeenRow>> {
        let unit = rows::unit(&self.remote);
        let parse = move |(): &mut ()| {
            let parse = |FollowedRow { seq, at, seen }| match serde_json::from_value(seen) {
                Ok(row) => Ok(SeenRow { seq, at, row }),
                Err(source) => Err(Error::Unreadable { key: unit.clone(), source }),
            };
            rows.into_iter().map(parse).collect()
        };
        self.context.workers.run(Lane::Index, Op::IndexRender, event, parse).await?
    }
}

impl Known {
    /// Adds the lines that another node saw. It looked then, so this one need not.
    fn take_in(&mut self, SeenRow { seq, at, row }: SeenRow) -> Result<()> {
        let (of, changed) = (row.of(), names(&row).collect());
        self.mark_by(&row);
        self.file.grow(&row);
        self.tried = self.tried.max(at);
        if !row.corrects {
            self.checked = self.checked.max(at);
            (self.failed, self.held_back) = (None, None);
        }
        self.add(row.lines.into(), at, of, false)?;
        self.settle(seq, Some(changed))
    }
}

/// The names of the gems in the lines of a row.
fn names(row: &IndexRow) -> impl Iterator<Item = String> {
    row.lines.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned)
}
