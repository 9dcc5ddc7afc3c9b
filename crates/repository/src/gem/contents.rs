//! The versions in a hosted gem repository, for operators.

use crate::error::Result;
use crate::gem::hosted::Hosted;
use crate::gem::info_lines::facts;
use crate::gem::purge::Named;
use crate::listed::{ListedFile, ListedVersion, Page, PageRequest, Shown};
use crate::visible;
use crate::visible::removed;
use store::{Entry, Lane, Withdrawal};
use telemetry::{Event, Millis};

/// The folder of packages, which contains all versions.
const FOLDER: &str = "gems";

/// A page of versions, in byte order of their full names. The path of the page is empty or `gems` for all versions.
/// Otherwise it names a gem or some of its versions: `NAME`, `NAME:VERSION`, `NAME-VERSION` or `gems/FILE`.
pub(crate) async fn list(
    hosted: Hosted<'_>,
    part: PageRequest<'_>,
    which: Shown,
    now: Millis,
    event: &mut Event,
) -> Result<Page<ListedFile>> {
    let (store, id) = (hosted.store, hosted.repository.id);
    let PageRequest { path, after, limit } = part;
    let rows = match (path.trim_matches('/'), which) {
        ("" | FOLDER, Shown::Visible) => store.live_entries_beginning(id, "", after, limit, event).await?,
        ("" | FOLDER, Shown::Removed) => store.entries_beginning(id, "", after, limit, event).await?,
        (named, _) => named_rows(hosted, named, after, limit, event).await?,
    };
    let seen: Vec<&Entry> = match which {
        Shown::Visible => visible(&rows, hosted.repository.view(now)).map(|seen| seen.entry()).collect(),
        Shown::Removed => removed(&rows).collect(),
    };
    let mut shown = Vec::with_capacity(seen.len());
    for entry in seen {
        shown.push(listed(hosted, entry, event).await?);
    }
    Ok(part.listed(&rows, |entry| &entry.key, shown))
}

/// The rows of one gem, or of some of its versions.
async fn named_rows(
    hosted: Hosted<'_>,
    named: &str,
    after: &str,
    limit: usize,
    event: &mut Event,
) -> Result<Vec<Entry>> {
    let what = Named::find(hosted, named, event).await?;
    let unit = hosted.store.unit(hosted.repository.id, what.name(), Lane::Index, event).await?;
    let mut rows = Vec::new();
    for entry in unit.entries {
        if entry.key.as_str() > after && what.is(&entry)? {
            rows.push(entry);
        }
    }
    rows.sort_unstable_by(|one, other| one.key.cmp(&other.key));
    rows.truncate(limit);
    Ok(rows)
}

async fn listed(hosted: Hosted<'_>, entry: &Entry, event: &mut Event) -> Result<ListedFile> {
    let package = facts(entry)?;
    let row = hosted.store.row_by(hosted.repository.id, &entry.key, entry.published, event).await?;
    let yanked = match entry.withdrawal {
        Some(Withdrawal::Retracted) => true,
        // Earlier versions of this program recorded no reason, and withdrew only yanked versions.
        None => entry.state == store::State::Withdrawn,
        Some(_) => false,
    };
    let version = ListedVersion {
        name: package.name.clone(),
        number: package.number.as_str().to_owned(),
        platform: package.platform.clone(),
        published: entry.published,
        by: row.map(|row| row.by),
        yanked,
    };
    let Entry { key, hashes, changed, origin, .. } = entry.clone();
    Ok(ListedFile { path: format!("{FOLDER}/{key}.gem"), hashes, changed, origin, version: Some(version) })
}
