//! Writes what a look brought to the journal, and adds it to what is known: first the lines, then everybody who asks is told of them.

use crate::error::Error;
use crate::gem::upstream::follow::Follow;
use crate::gem::upstream::index::{Known, UpstreamFile};
use crate::gem::upstream::looked::invalid;
use crate::gem::upstream::rows::{self, Lines};
use format::gem::upstream::{Difference, Kept};
use store::{Lane, Seq};
use telemetry::{Event, Op};

impl Follow {
    /// Begins our log.
    pub(crate) async fn begin(
        &self,
        text: Vec<u8>,
        from: Lines,
        file: UpstreamFile,
        event: &mut Event,
    ) -> Result<(), Error> {
        let text = String::from_utf8(text).map_err(|_| invalid("it is not text"))?;
        let written = rows::write(&self.remote, &text, from, true, Seq(0), event).await?;
        let (at, last) = written.ok_or(Error::GivenUp)?;
        let mut known = Known::new(self.remote.repository.origin)?;
        let make = move |(): &mut ()| -> Result<Known, Error> {
            known.add(&text, at, true)?;
            known.settle(last, None)?;
            known.file = file;
            Ok(known)
        };
        self.index().replace(self.context.workers.run(Lane::Index, Op::IndexRender, event, make).await??);
        self.remote.remotes.store.upstream_index_changed(self.remote.repository.id, &[]);
        Ok(())
    }

    /// Has our log gain lines.
    pub(crate) async fn append(
        &self,
        difference: Difference,
        from: Lines,
        file: UpstreamFile,
        event: &mut Event,
    ) -> Result<(), Error> {
        let (origin, followed) = (self.remote.repository.origin, self.index());
        if difference.lines.is_empty() {
            followed.change(origin, |known| (known.file, known.held_back) = (file, None));
            return Ok(());
        }
        let lines = String::from_utf8(difference.lines).map_err(|_| invalid("it is not text"))?;
        self.admit(lines.len())?;
        let names: Vec<String> = difference.changes.into_iter().map(|change| change.name).collect();
        let last = followed.read(origin, |known| known.last).unwrap_or(Seq(0));
        let written = rows::write(&self.remote, &lines, from, false, last, event).await;
        let Ok(Some((at, last))) = written else {
            // The journal may have rows that are not known here.
            followed.forget();
            return Err(written.err().unwrap_or(Error::GivenUp));
        };
        let changed = names.clone();
        let added = followed.change(origin, |known| {
            match from {
                Lines::Correcting => known.corrects(&lines),
                Lines::Relayed | Lines::Made => known.forgives(&lines),
            }
            known.add(&lines, at, false)?;
            (known.file, known.held_back) = (file, None);
            known.settle(last, Some(changed))
        });
        added.unwrap_or(Ok(()))?;
        let touched: Vec<&str> = names.iter().map(String::as_str).collect();
        self.remote.remotes.store.upstream_index_changed(self.remote.repository.id, &touched);
        followed.ahead.want(names);
        Ok(())
    }

    /// What the journal has; `None`: nothing. While all of it was relayed as it came, its text is the upstream's file.
    pub(crate) async fn read_journal(&self, event: &mut Event) -> Result<Option<Known>, Error> {
        let read = rows::read(&self.remote, None, event).await?;
        if read.rows.is_empty() {
            return Ok(None);
        }
        let mut known = Known::new(self.remote.repository.origin)?;
        let make = move |(): &mut ()| -> Result<Known, Error> {
            let first = read.rows.first().map(|(at, _)| *at);
            let mut kept = Some(Kept::default());
            for (at, row) in &read.rows {
                if row.corrects {
                    known.corrects(&row.lines);
                    known.add(&row.lines, *at, false)?;
                    continue;
                }
                known.forgives(&row.lines);
                known.add(&row.lines, *at, Some(*at) == first)?;
                kept = kept.filter(|_| row.relayed);
                kept.iter_mut().for_each(|kept| kept.add(row.lines.as_bytes()));
            }
            known.file.kept = kept;
            known.settle(read.last, None)?;
            Ok(known)
        };
        Ok(Some(self.context.workers.run(Lane::Index, Op::IndexRender, event, make).await??))
    }
}
