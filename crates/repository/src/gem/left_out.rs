//! The versions of a gem that its `/info` leaves out, and why, for `daylight explain`: hidden ones and removed ones. Clients get no list
//! of them.

use crate::error::Result;
use crate::gem::hosted::Hosted;
use crate::gem::upstream::RemoteGems;
use crate::gem::upstream::view::token_rows;
use crate::policy::hidden::left_out;
use crate::visible::{hidden, removed, verb_of};
use telemetry::{Event, Millis};

/// Of a hosted gem. `None`: its `/info` has every version.
pub(crate) async fn of_hosted(
    hosted: Hosted<'_>,
    name: &str,
    now: Millis,
    event: &mut Event,
) -> Result<Option<String>> {
    let rows = hosted.repository.unit(hosted.store, name, event).await?;
    let hidden: Vec<_> = hidden(&rows, hosted.repository.view(now)).map(|(_, why)| why).collect();
    let removed: Vec<_> = removed(&rows).collect();
    let gone = removed.iter().map(|entry| {
        let what = entry.key.replacen(&format!("{name}-"), &format!("{name}:"), 1);
        format!("`{what}` was {}", verb_of(entry.withdrawal.as_ref(), hosted.repository.format))
    });
    let (count, why) = (hidden.len() + removed.len(), hidden.iter().map(ToString::to_string).chain(gone));
    Ok((count > 0).then(|| left_out(rows.len(), count, why)))
}

impl RemoteGems<'_> {
    /// Of a gem of an upstream, as far as its index tells. `None`: its `/info` has every version that was ever listed, or the index is not
    /// known yet.
    pub(crate) fn left_out(self, name: &str) -> Option<String> {
        let end = self.end().ok()?;
        let known = self.known(|known| (known.listing.gem_by(name, end), known.listing.log().removed(name, end)));
        let (listed, gone) = known.ok()?;
        let rows = token_rows(name, listed.as_ref()?);
        let view = self.remote.repository.view(self.now());
        let hidden: Vec<_> = hidden(&rows, view).map(|(_, why)| why).collect();
        let yanked = gone.iter().map(|token| format!("the upstream yanked `{name}:{token}`"));
        let (all, count) = (rows.len() + gone.len(), hidden.len() + gone.len());
        (count > 0).then(|| left_out(all, count, hidden.iter().map(ToString::to_string).chain(yanked)))
    }
}
