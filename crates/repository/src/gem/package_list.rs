//! Lists of gems: of a hosted repository from its rows, of an upstream from its index, of a group from both.

use crate::error::{Error, Result};
use crate::gem::hosted::Hosted;
use crate::gem::packages::rows;
use crate::gem::source::GemSource;
use crate::gem::upstream::RemoteGems;
use crate::group::is_hosted;
use crate::listed::Page;
use crate::package::listed::{AT_ONCE, Among, ListedNames, ListedPackage};
use crate::package::rows::PackageRows;
use crate::package::standing::Standing;
use crate::policy::rules::OPEN;
use crate::question::Ask;
use crate::repository::Repository;
use crate::services::Services;
use crate::workers::after_others;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::RepositoryId;
use telemetry::Event;

/// The gems after `after`, at most `limit`. Gems without a version that clients get or a policy hides are left out.
pub(crate) async fn listed(
    services: &Services,
    ask: &Ask<'_>,
    after: &str,
    limit: usize,
    event: &mut Event,
) -> Result<Page<ListedPackage>> {
    let ListedNames { names, next } = self::names(services, ask, after, limit, event).await?;
    let mut found = Vec::with_capacity(names.len());
    for (at, (name, holders)) in names.into_iter().enumerate() {
        if at % AT_ONCE == AT_ONCE - 1 {
            after_others(event).await;
        }
        let package = Box::pin(rows(services, ask, &name, Among::These(&holders), event)).await?;
        found.extend(in_list(name, &package));
    }
    Ok(Page { rows: found, next })
}

/// The names of gems after `after` that members have or had, at most `limit`, and where more begin.
pub(crate) async fn names(
    services: &Services,
    ask: &Ask<'_>,
    after: &str,
    limit: usize,
    event: &mut Event,
) -> Result<ListedNames> {
    let mut names: BTreeMap<String, Vec<RepositoryId>> = BTreeMap::new();
    let mut is_cut = false;
    let leaves = std::slice::from_ref(&ask.repository).iter().filter(|one| one.leaves.is_empty());
    for leaf in leaves.chain(ask.repository.leaves.iter()) {
        let found = match is_hosted(leaf) {
            true => services.store.units_ever(leaf.id, after, limit, event).await?,
            false => upstream_names(services, ask, leaf, after, limit, event).await?,
        };
        is_cut |= found.len() >= limit;
        found.into_iter().for_each(|name| names.entry(name).or_default().push(leaf.id));
    }
    Ok(ListedNames::first(names, limit, is_cut))
}

/// Names in the index of an upstream, whatever a policy hides of them. Empty: the index was never requested.
async fn upstream_names(
    services: &Services,
    ask: &Ask<'_>,
    leaf: &Arc<Repository>,
    after: &str,
    limit: usize,
    event: &mut Event,
) -> Result<Vec<String>> {
    let open = Arc::new(leaf.seen(OPEN.clone(), None));
    let remote = services.remotes.remote(&open, &ask.place);
    let local = Hosted::of(services, &open, &ask.settings);
    match GemSource::Remote(RemoteGems::of(&remote, local)).names(event).await {
        Ok(index) => Ok(names_after(&index.pieces, after, limit)),
        Err(Error::Unasked | Error::Upstream(_)) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// A package in a list; `None`: no client gets a version, and no policy hides one.
fn in_list(package: String, of: &PackageRows) -> Option<ListedPackage> {
    let visible = of.rows.iter().filter(|row| row.standing.is_visible()).count();
    let hidden = of.rows.iter().filter(|row| matches!(row.standing, Standing::Hidden(_))).count();
    let (latest, latest_is) = (of.latest.clone(), of.latest_is);
    let listed = ListedPackage { package, latest, latest_is, visible: Some(visible), hidden };
    (visible + hidden > 0 || of.may_lack).then_some(listed)
}

/// The first names after `after` in the pieces of `/names`, which are in byte order behind a first line that is a header.
pub(crate) fn names_after(pieces: &[Bytes], after: &str, limit: usize) -> Vec<String> {
    let (mut found, mut rest) = (Vec::new(), Vec::new());
    for piece in pieces {
        let Some(end) = piece.iter().rposition(|byte| *byte == b'\n') else {
            rest.extend_from_slice(piece);
            continue;
        };
        let last = piece[..end].rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        let is_whole = piece[..end].contains(&b'\n');
        if !is_whole || last > after.as_bytes() {
            rest.extend_from_slice(&piece[..end]);
            let lines = rest.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
            let names = lines.filter(|name| !name.is_empty() && *name != "---" && *name > after);
            found.extend(names.map(str::to_owned).take(limit - found.len()));
        }
        rest.clear();
        rest.extend_from_slice(&piece[end + 1..]);
        if found.len() >= limit {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_after_a_name_are_found_wherever_the_pieces_end() {
        let text = "---\nalpha\nbeta\ngamma\ndelta-x\n";
        let sorted = "---\nalpha\nbeta\ndelta-x\ngamma\n";
        assert_eq!(text.len(), sorted.len());
        for cut in 0..sorted.len() {
            for other in cut..sorted.len() {
                let pieces = [&sorted[..cut], &sorted[cut..other], &sorted[other..]];
                let pieces = pieces.map(|piece| Bytes::from(piece.to_owned()));
                let after = |name: &str, limit| names_after(&pieces, name, limit);
                assert_eq!(after("", 9), ["alpha", "beta", "delta-x", "gamma"], "{cut} {other}");
                assert_eq!(after("alpha", 2), ["beta", "delta-x"], "{cut} {other}");
                assert_eq!(after("c", 9), ["delta-x", "gamma"], "{cut} {other}");
                assert!(after("gamma", 9).is_empty(), "{cut} {other}");
            }
        }
    }
}
