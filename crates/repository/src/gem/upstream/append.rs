//! Writes the new lines of a look to the journal, and then adds them to the index in memory. The lines are durable
//! before any client sees them.

use crate::error::{Error, Result};
use crate::gem::upstream::follow::Follow;
use crate::gem::upstream::index::{Known, UpstreamFile};
use crate::gem::upstream::listing::Lines;
use crate::gem::upstream::looked::invalid;
use crate::gem::upstream::rows;
use format::gem::upstream::Difference;
use store::{Lane, Seq};
use telemetry::{Event, Op};

impl Follow {
    /// Starts our log.
    pub(crate) async fn begin(&self, text: Vec<u8>, from: Lines, file: UpstreamFile, event: &mut Event) -> Result<()> {
        let text = String::from_utf8(text).map_err(|_| invalid("it is not text"))?;
        self.fits(text.len())?;
        let written = rows::write(&self.remote, &text, from, true, Seq(0), event).await?;
        let (at, last) = written.ok_or(Error::GivenUp)?;
        let mut known = Known::new(self.remote.repository.origin, &self.remote.remotes.indexes)?;
        let make = move |(): &mut ()| -> Result<Known> {
            known.add(text.into(), at, from, true)?;
            known.settle(last, None)?;
            known.file = file;
            Ok(known)
        };
        let known = self.context.workers.run(Lane::Index, Op::IndexRender, event, make).await??;
        let (store, id) = (&self.remote.remotes.store, self.remote.repository.id);
        store.change_upstream_index(id, &[], || self.index().replace(known));
        Ok(())
    }

    /// Appends lines to our log.
    pub(crate) async fn append(
        &self,
        difference: Difference,
        from: Lines,
        file: UpstreamFile,
        event: &mut Event,
    ) -> Result<()> {
        let (origin, followed) = (self.remote.repository.origin, self.index());
        if difference.lines.is_empty() {
            followed.change(origin, |known| (known.file, known.held_back) = (file, None));
            return Ok(());
        }
        let lines = String::from_utf8(difference.lines).map_err(|_| invalid("it is not text"))?;
        self.admit(lines.len())?;
        let changes = difference.changes;
        let names: Vec<String> = changes.iter().map(|change| change.name.clone()).collect();
        let last = followed.read(origin, |known| known.last).unwrap_or(Seq(0));
        self.fits(lines.len())?;
        let written = rows::write(&self.remote, &lines, from, false, last, event).await;
        let Ok(Some((at, last))) = written else {
            // The journal may have rows that are not in memory.
            followed.forget();
            return Err(written.err().unwrap_or(Error::GivenUp));
        };
        let (changed, touched) = (names.clone(), names.iter().map(String::as_str).collect::<Vec<_>>());
        let add = |known: &mut Known| {
            match from {
                Lines::Correcting => known.corrects(&lines),
                Lines::Relayed | Lines::Made => known.forgives(&lines),
            }
            known.add(lines.into(), at, from, false)?;
            (known.file, known.held_back) = (file, None);
            known.settle(last, Some(changed))
        };
        let (store, id) = (&self.remote.remotes.store, self.remote.repository.id);
        let added = store.change_upstream_index(id, &touched, || followed.change(origin, add));
        added.unwrap_or(Ok(()))?;
        if from != Lines::Correcting {
            self.hold_against_hints(&changes);
        }
        followed.ahead.want(names);
        Ok(())
    }

    /// Checks that there is memory for this number of bytes of lines: for the text, for its encoded form, and for the
    /// positions of lines.
    pub(crate) fn fits(&self, bytes: usize) -> Result<()> {
        let indexes = &self.remote.remotes.indexes;
        let room = indexes.hold(2 * bytes as u64).inspect_err(|_| indexes.cache().refuse(self.hash()));
        room.map(drop).map_err(|_| invalid("the indexes of all upstreams take as much memory as allowed").into())
    }
}
