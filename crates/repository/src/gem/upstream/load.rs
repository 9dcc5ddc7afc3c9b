//! Reads back what is known of an upstream's index, at the first question after a start: the rows of the journal, and what was [saved] of
//! the work with them.
//!
//! [saved]: super::saved

use crate::error::Error;
use crate::gem::upstream::dates_file;
use crate::gem::upstream::follow::Follow;
use crate::gem::upstream::index::Known;
use crate::gem::upstream::rows::{self, SeenRow};
use crate::gem::upstream::saved::Saved;
use format::gem::upstream::Kept;
use store::Lane;
use telemetry::{Event, Op};

impl Follow {
    /// Reads it, unless it is known, or a look is under way: that reads it first.
    pub(crate) async fn load(&self, event: &mut Event) -> Result<(), Error> {
        match self.index().looking.clone().try_lock_owned() {
            Ok(_turn) => self.load_as_job(event).await,
            Err(_) => Ok(()),
        }
    }

    /// The same as the job that has the turn.
    pub(crate) async fn load_as_job(&self, event: &mut Event) -> Result<(), Error> {
        if self.index().read(self.remote.repository.origin, |_| ()).is_some() {
            return Ok(());
        }
        if let Some(mut known) = self.read_journal(event).await? {
            dates_file::read(&self.context, &self.remote.repository, &mut known, event).await;
            self.index().replace(known);
        }
        Ok(())
    }

    /// What the journal has; `None`: nothing.
    pub(crate) async fn read_journal(&self, event: &mut Event) -> Result<Option<Known>, Error> {
        let read = rows::read(&self.remote, event).await?;
        if read.is_empty() {
            return Ok(None);
        }
        let saved = self.saved(event).await?;
        let known = Known::new(self.remote.repository.origin, &self.remote.remotes.indexes)?;
        let make = move |(): &mut ()| make(known, read, saved);
        Ok(Some(self.context.workers.run(Lane::Index, Op::IndexRender, event, make).await??))
    }
}

/// What the rows come to. While all of them were relayed as they came, or all since the upstream's file was saved, they tell what that is.
fn make(mut known: Known, rows: Vec<SeenRow>, saved: Saved) -> Result<Known, Error> {
    let (first, last) = (rows.first().map(|row| row.at), rows.last().map(|row| row.seq));
    let (mut file, saved_by) = saved.file.map_or_else(Default::default, |(file, seq)| (file, Some(seq)));
    if saved_by.is_none() {
        file.kept = Some(Kept::default());
    }
    known.log.expect(saved.pieces);
    for SeenRow { seq, at, row } in rows {
        if row.corrects {
            known.corrects(&row.lines);
        } else {
            known.forgives(&row.lines);
        }
        if !row.corrects && saved_by < Some(seq) {
            file.kept = file.kept.filter(|_| row.relayed);
            file.kept.iter_mut().for_each(|kept| kept.add(row.lines.as_bytes()));
        }
        // The index was proven when it gained these.
        known.checked = at;
        let of = row.of();
        known.add(row.lines.into(), at, of, !row.corrects && Some(at) == first)?;
    }
    known.file = file;
    known.settle(last.unwrap_or(known.last), None)?;
    Ok(known)
}
