//! What our log gains of a file of the upstream: lines as they came, or lines that say the same.

use crate::error::Error;
use crate::gem::upstream::body;
use crate::gem::upstream::follow::Follow;
use crate::gem::upstream::index::{HeldBack, UpstreamFile};
use crate::gem::upstream::looked::Looked;
use crate::gem::upstream::rows::Lines;
use format::gem::upstream::{Outcome, Versions, append, difference};
use store::Lane;
use telemetry::{Event, Op};

impl Follow {
    /// What our log gains of what came. `None`: that cannot be told without the whole file.
    pub(crate) async fn compare(
        &self,
        outcome: Outcome,
        text: Box<Versions>,
        is_whole: bool,
        mut file: UpstreamFile,
        event: &mut Event,
    ) -> Result<Option<Looked>, Error> {
        let (origin, shared) = (self.remote.repository.origin, self.remote.repository.shared.clone());
        let now = self.remote.now();
        if shared.followed.read(origin, |_| ()).is_none() {
            let (relayed, names) = (text.is_clean(), text.held());
            let text = if relayed { text.text().pieces().concat() } else { body::rendered(&text, now) };
            file.held = names.clone();
            let from = if relayed { Lines::Relayed } else { Lines::Made };
            return Ok(Some(Looked::First { text, from, file }));
        }
        let held = shared.followed.read(origin, |known| known.held_back).flatten();
        if outcome == Outcome::Unchanged && held.is_none() {
            return Ok(Some(Looked::Unchanged(file)));
        }
        // The log lacks lines that are held back, so what continues them does not continue the log.
        if !is_whole && file.held.iter().any(|name| text.has(name)) {
            return Ok(None);
        }
        if is_whole {
            file.held = text.held().clone();
        }
        let compare = move |(): &mut ()| {
            shared.followed.read(origin, |known| {
                if !is_whole {
                    return append(known.listing.log(), &text).map(|difference| (difference, Lines::Relayed));
                }
                let wrong = |name: &str, md5: &str| known.is_wrong(name, md5);
                Some((difference(known.listing.log(), &text, wrong), Lines::Made))
            })
        };
        let compared = self.context.workers.run(Lane::Index, Op::IndexRender, event, compare).await?;
        let Some((difference, from)) = compared.flatten() else { return Ok(None) };
        if difference.is_mass_removal() {
            let names = difference.vanished;
            if !held.is_some_and(|held| held.covers(names, now)) {
                let held = HeldBack { since: held.map_or(now, |held| held.since), names, accepted: false };
                return Ok(Some(Looked::HeldBack(Some(held), file)));
            }
        }
        Ok(Some(Looked::Lines { difference, from, file }))
    }
}
