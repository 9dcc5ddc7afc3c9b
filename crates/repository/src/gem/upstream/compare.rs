//! The lines that our log gains from a file of the upstream: unchanged lines, or lines with the same meaning.

use crate::error::Result;
use crate::gem::upstream::follow::Follow;
use crate::gem::upstream::index::{HeldBack, Known, UpstreamFile};
use crate::gem::upstream::listing::Lines;
use crate::gem::upstream::looked::{Looked, invalid};
use format::gem::upstream::{Kept, Outcome, Seen, Verified, Versions, append, begin, difference, splice};
use store::Lane;
use telemetry::{Event, Op};

impl Follow {
    /// The lines that our log gains from a response. `None`: the whole file is needed to decide that.
    pub(crate) async fn compare(
        &self,
        seen: &Seen,
        text: Box<Versions>,
        is_whole: bool,
        mut file: UpstreamFile,
        event: &mut Event,
    ) -> Result<Option<Looked>> {
        let (origin, shared) = (self.remote.repository.origin, self.remote.repository.shared.clone());
        let now = self.remote.now();
        if shared.gems().followed.read(origin, |_| ()).is_none() {
            file.held = text.held().clone();
            let from = if text.is_clean() { Lines::Relayed } else { Lines::Made };
            let lines = move |(): &mut ()| begin(&text);
            let text = self.context.workers.run(Lane::Index, Op::IndexRender, event, lines).await?;
            let text = text.map_err(|refusal| invalid(&refusal.to_string()))?;
            return Ok(Some(Looked::First { text, from, file }));
        }
        let known = |known: &Known| (known.held_back, known.file.kept.as_ref().map(Kept::len));
        let (held, kept) = shared.gems().followed.read(origin, known).unwrap_or_default();
        if seen.outcome == Outcome::Unchanged && held.is_none() {
            return Ok(Some(Looked::Unchanged(file)));
        }
        // Our log lacks lines that are held back, so a continuation of the file does not continue the log.
        if !is_whole && file.held.iter().any(|name| text.has(name)) {
            return Ok(None);
        }
        if is_whole {
            file.held.clear();
        }
        file.held.extend(text.held().iter().cloned());
        let outcome = seen.outcome;
        let compare = move |(): &mut ()| {
            shared.gems().followed.read(origin, |known| {
                let (log, wrong) = (known.listing.log(), |name: &str, md5: &str| known.is_wrong(name, md5));
                let from = if text.is_clean() { Lines::Relayed } else { Lines::Made };
                let made = |difference| (difference, Lines::Made);
                match outcome {
                    Outcome::Spliced { .. } => splice(log, &last_lines(known)?, &text, wrong).map(made),
                    _ if is_whole => Some(made(difference(log, &text, wrong))),
                    _ => append(log, &text).map(|difference| (difference, from)),
                }
            })
        };
        let compared = self.context.workers.run(Lane::Index, Op::IndexRender, event, compare).await?;
        let Some((difference, from)) = compared.flatten() else { return Ok(None) };
        // Without a digest, a file that was cut at the end of a line looks like an older version of the file.
        let shorter = kept.is_some_and(|kept| seen.kept.len() < kept);
        let cut = shorter && seen.verified == Verified::Unverified && difference.is_earlier_file();
        if cut || difference.is_mass_removal() {
            let names = if cut { difference.earlier } else { difference.vanished };
            if !held.is_some_and(|held| held.covers(names, now)) {
                let held = HeldBack::again(held, names, now);
                return Ok(Some(Looked::HeldBack(Some(held), file)));
            }
        }
        Ok(Some(Looked::Lines { difference, from, file }))
    }
}

/// The last known lines of the upstream's file.
fn last_lines(known: &Known) -> Option<Versions> {
    let mut lines = Versions::appended();
    for piece in known.file.kept.iter().flat_map(Kept::overlapping) {
        lines.push(piece).ok()?;
    }
    Some(lines)
}
