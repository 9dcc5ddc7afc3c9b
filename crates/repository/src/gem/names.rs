//! `/names`: every gem that has a published version, in byte order. It changes only when a name appears or disappears.

use crate::error::Result;
use crate::gem::hosted::Hosted;
use crate::gem::indexes::names::NameList;
use crate::gem::versions::{PAGE, touched};
use crate::index::document::Index;
use crate::index::incremental_index::IndexSource;
use crate::visible;
use format::gem::versions::Op as What;
use std::collections::BTreeMap;
use store::Lane;
use telemetry::{Event, Millis, Op};

/// `/names` of a hosted repository.
pub(crate) async fn names(hosted: Hosted<'_>, now: Millis, event: &mut Event) -> Result<Index> {
    let mut turn = event.waited(Op::TurnWait, hosted.indexes.names.clone().lock_owned()).await;
    if let Some(index) = turn.current(hosted.store, now) {
        return Ok(index);
    }
    let stamp = hosted.stamp();
    turn = hosted.context.read_index(turn, event).await?;
    if turn.source().is_none() {
        turn.replace(begin(hosted, event).await?);
    }
    loop {
        let touched = touched(hosted, turn.made()?.through(), event).await?;
        let mut changes = BTreeMap::new();
        for (name, what) in touched.gems {
            let offered = match what {
                What::Push if turn.made()?.holds(&name) => continue,
                What::Push => true,
                What::Yank => {
                    let unit = hosted.store.unit(hosted.repository.id, &name, Lane::Index, event).await?;
                    visible(&unit.entries, hosted.repository.view(now)).next().is_some()
                }
            };
            changes.insert(name, offered);
        }
        let through = touched.through;
        if changes.is_empty() {
            turn.made_mut()?.skip(through);
        } else {
            let change = move |list: &mut NameList| list.change(changes, through);
            (turn, ()) = hosted.context.change_index(turn, event, change).await?;
        }
        if touched.last {
            break;
        }
    }
    let index = match turn.made()?.whole() {
        Some(index) => index.clone(),
        None => {
            let index;
            (turn, index) = hosted.context.change_index(turn, event, NameList::index).await?;
            index
        }
    };
    Ok(hosted.context.settle_index(turn, stamp, index))
}

/// All present names. Concurrent changes are added afterwards.
async fn begin(hosted: Hosted<'_>, event: &mut Event) -> Result<NameList> {
    let mut list = NameList::new(hosted.store.last());
    let mut after = String::new();
    loop {
        let names = hosted.store.units(hosted.repository.id, &after, PAGE, event).await?;
        let Some(last) = names.last() else { return Ok(list) };
        after.clone_from(last);
        let append = move |(): &mut ()| list.append(&names).map(|()| list);
        let op = Op::IndexRender;
        list = hosted.context.workers.run(Lane::Index, op, event, append).await??;
    }
}
