//! `/names` of a remote repository: the gems in its upstream's index that have a version.

use crate::error::Error;
use crate::gem::Found;
use crate::gem::indexes::names::NameList;
use crate::gem::upstream::RemoteGems;
use crate::gem::views::ViewPart;
use crate::index::document::Index;
use crate::index::incremental_index::IndexSource;
use format::gem;
use std::collections::BTreeMap;
use telemetry::{Event, Op};

impl RemoteGems<'_> {
    /// `/names`.
    pub(crate) async fn names(self, event: &mut Event) -> Result<Found, Error> {
        self.ready(event).await?;
        if self.local.by_rows() {
            let made =
                self.local.once(ViewPart::Names, self.now(), event, async |event| self.visible_names(event).await);
            return made.await?.found();
        }
        let mut turn = event.waited(Op::TurnWait, self.local.indexes.names.clone().lock_owned()).await;
        if let Some(index) = turn.current(self.local.store, self.now()) {
            return Ok(Found::Index(index));
        }
        let stamp = self.local.stamp()?;
        turn = self.context.read_index(turn, event).await?;
        let made = turn.source().map(IndexSource::through);
        let news = self.known(|known| (made.and_then(|made| known.changed_since(made)), known.last))?;
        match news {
            (Some(names), last) => {
                let offered = |name: String| {
                    let offered = self.gem_now(&name).is_some_and(|gem| !gem.versions.is_empty());
                    (name, offered)
                };
                let changes: BTreeMap<String, bool> = names.into_iter().map(offered).collect();
                let change = move |list: &mut NameList| list.change(changes, last);
                (turn, ()) = self.context.change_index(turn, event, change).await?;
            }
            (None, _) => {
                let (all, last) =
                    self.known(|known| (known.listing.all(|_, gem| !gem.versions.is_empty()), known.last))?;
                turn.replace(NameList::new(last));
                let names: Vec<String> =
                    all.into_iter().filter(|(_, offered)| *offered).map(|(name, _)| name).collect();
                (turn, ()) =
                    self.context.change_index(turn, event, move |list: &mut NameList| list.append(&names)).await?;
            }
        }
        let index;
        (turn, index) = self.context.change_index(turn, event, NameList::index).await?;
        Ok(Found::Index(self.context.settle_index(turn, stamp, index)))
    }

    /// The same, filtered by a policy.
    async fn visible_names(self, event: &mut Event) -> Result<crate::gem::upstream::view::Made, Error> {
        let view = self.visible_gems(event).await?;
        let names = view.gems.iter().filter(|gem| !gem.tokens.is_empty());
        let lines: Vec<String> = names.map(|gem| gem::names::line(&gem.name)).collect();
        let body = [gem::names::opening(lines.len()), &lines.concat()].concat().into_bytes();
        let index = Index { fresh_until: view.until, ..Index::of(body) };
        Ok((Found::Index(index).into(), view.until))
    }
}
