//! An answer from rows that is made once for all concurrent requests: it comes from the cache, from another task, or is
//! made now.

use crate::error::{Error, Result};
use crate::gem::hosted::Hosted;
use crate::gem::views::{ViewAnswer, ViewKey, ViewMoment, ViewPart};
use crate::index::stamped_cache::Stamped;
use std::sync::Arc;
use store::{RepositoryKind, Seq, Stamp, Unit};
use telemetry::{Event, Millis, Op};

impl Hosted<'_> {
    /// A part of this view, which `make` renders. If the task that renders it is dropped, the next waiting task takes over.
    pub(crate) async fn once(
        self,
        part: ViewPart,
        now: Millis,
        event: &mut Event,
        make: impl AsyncFnOnce(&mut Event) -> Result<ViewAnswer>,
    ) -> Result<ViewAnswer> {
        // A preview of other settings is not cached.
        if !self.repository.asks {
            return make(event).await;
        }
        let views = self.views;
        let key = ViewKey {
            repository: self.repository.id,
            through: self.through,
            past: self.moment(now, event).await?,
            part,
        };
        let holds = |stamp: &Stamp| self.store.revisions().holds(stamp, now);
        let turn = match event.waited(Op::ViewWait, views.cache.find_or_turn(&key, holds)).await {
            Err(turn) => turn,
            Ok(kept) => return Ok(kept.value.clone()),
        };
        let whole = key.past.is_some() && key.part.gem().is_none();
        let _only = if whole { Some(views.only_one(event).await?) } else { None };
        let stamp = self.seen_from(&key, now)?; // before the work
        let made = make(event).await?;
        let stamp = made.fresh_until().map_or(stamp, |until| stamp.until(until));
        turn.insert(Arc::new(Stamped { stamp, value: made.clone() }));
        Ok(made)
    }

    /// The as-of moment, normalised so that moments with the same content share one cache entry.
    async fn moment(self, now: Millis, event: &mut Event) -> Result<Option<ViewMoment>> {
        let Some(past) = self.repository.as_of else { return Ok(None) };
        let through = match self.repository.record.kind {
            // The lines of an upstream's index are not lines of the repository.
            RepositoryKind::Remote => {
                let (followed, origin) = (&self.repository.shared.gems().followed, self.repository.origin);
                let end = followed.read(origin, |known| known.listing.end(past.exceptions_by)).flatten();
                Seq(end.and_then(|end| u64::try_from(end).ok()).unwrap_or_default())
            }
            // A group's members change, not the group.
            RepositoryKind::Group => past.through,
            RepositoryKind::Hosted => self.store.last_line(self.repository.id, past.through, event).await?,
        };
        // In a view as of a change, ages count as of now, and the stamp covers that.
        let until = (past.until <= now && self.repository.rules.count_ages()).then_some(past.until);
        Ok(Some(ViewMoment { through, until }))
    }

    /// The stamp of the settings, including the policy. For a view of now it covers the rows too.
    fn seen_from(self, key: &ViewKey, now: Millis) -> Result<Stamp> {
        let ends = self.repository.ends(now).unwrap_or(Millis(i64::MAX));
        let settings = self.settings.until(ends);
        if key.past.is_some() {
            return Ok(settings);
        }
        let unit = key.part.gem().map_or(Unit::All(key.repository), |gem| Unit::Of(key.repository, gem));
        self.store.revisions().stamp([unit], ends).join(&settings).ok_or(Error::GivenUp)
    }
}
