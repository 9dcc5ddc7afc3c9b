//! Reads the known state of an upstream's index back at the first request after a start: from the rows of the journal,
//! and from the [saved] results.
//!
//! [saved]: super::saved

use crate::error::Result;
use crate::gem::upstream::dates_file;
use crate::gem::upstream::follow::Follow;
use crate::gem::upstream::index::{Known, UpstreamFile};
use crate::gem::upstream::listing::Lines;
use crate::gem::upstream::rows::{self, IndexRow, SeenRow};
use crate::gem::upstream::saved::Saved;
use format::gem::upstream::Kept;
use store::Lane;
use telemetry::{Event, Op};

impl Follow {
    /// Loads the state, unless it is in memory, or a look is running, which loads it first.
    pub(crate) async fn load(&self, event: &mut Event) -> Result<()> {
        match self.index().looking.clone().try_lock_owned() {
            Ok(_turn) => self.load_as_job(event).await,
            Err(_) => Ok(()),
        }
    }

    /// The same. The caller has the turn.
    pub(crate) async fn load_as_job(&self, event: &mut Event) -> Result<()> {
        if self.index().read(self.remote.repository.origin, |_| ()).is_some() {
            return Ok(());
        }
        if let Some(mut known) = self.read_journal(event).await? {
            known.read_back = self.remote.now();
            if self.remote.is_followed_elsewhere(Some(known.checked)) {
                known.tried = known.checked;
            }
            dates_file::read(&self.context, &self.remote.repository, &mut known, event).await;
            self.index().replace(known);
        }
        Ok(())
    }

    /// The state in the journal; `None`: there is none.
    pub(crate) async fn read_journal(&self, event: &mut Event) -> Result<Option<Known>> {
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

/// The state that follows from the rows. If all rows were relayed unchanged, or all since the upstream's file was
/// saved, they also give the state of that file.
fn make(mut known: Known, rows: Vec<SeenRow>, saved: Saved) -> Result<Known> {
    let (first, last) = (rows.first().map(|row| row.at), rows.last().map(|row| row.seq));
    let (mut file, saved_by) = saved.file.map_or_else(Default::default, |(file, seq)| (file, Some(seq)));
    if saved_by.is_none() {
        file.kept = Some(Kept::default());
    }
    known.log.expect(saved.pieces);
    for SeenRow { seq, at, row } in rows {
        known.mark_by(&row);
        if saved_by < Some(seq) {
            file.grow(&row);
        }
        // The upstream confirmed the index when it gained these lines.
        known.checked = at;
        let of = row.of();
        known.add(row.lines.into(), at, of, !row.corrects && Some(at) == first)?;
    }
    known.file = file;
    known.settle(last.unwrap_or(known.last), None)?;
    Ok(known)
}

impl Known {
    /// Marks and unmarks wrong MD5s, as the lines of a row say.
    pub(crate) fn mark_by(&mut self, row: &IndexRow) {
        match row.of() {
            Lines::Correcting => self.corrects(&row.lines),
            Lines::Relayed | Lines::Made => self.forgives(&row.lines),
        }
    }
}

impl UpstreamFile {
    /// The state of the upstream's file after it gained the lines of a row. It is unknown after lines that the file has in other words.
    pub(crate) fn grow(&mut self, row: &IndexRow) {
        if !row.corrects {
            self.kept = self.kept.take().filter(|_| row.relayed);
            self.kept.iter_mut().for_each(|kept| kept.add(row.lines.as_bytes()));
        }
    }
}
