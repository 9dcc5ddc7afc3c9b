//! `maven-metadata.xml` of an artifact and of a group, rendered from the map. The same builds give the same bytes: its
//! date is that of the newest tagging.

use crate::content::{Content, Freshness, How, soonest};
use crate::error::Result;
use crate::maven::koji::answer::asked::Asked;
use crate::maven::koji::answer::plugin_prefixes;
use crate::maven::koji::answer::shown::KojiVersion;
use crate::policy::hidden::Hidden;
use crate::tree::file::File;
use crate::upstream::trace::FetchTrace;
use crate::visible;
use crate::visible::{hidden, next_change};
use crate::workers::aside;
use format::maven::metadata;
use store::Lane;
use telemetry::{Event, Op};

/// The metadata in the folder of `file`.
pub(crate) async fn document(
    asked: &Asked<'_>,
    file: &File<'_>,
    trace: &mut FetchTrace,
    event: &mut Event,
) -> Result<Content> {
    let (remote, now) = (asked.remote, asked.remote.now());
    let rows = versions(asked, file.folder);
    let plugins = plugin_prefixes::of(asked, file.folder, event).await?;
    let repository = remote.repository.clone();
    let view = repository.view(now);
    let left_out: Vec<Hidden> = hidden(&rows, view).map(|(_, why)| why).collect();
    if !left_out.is_empty() {
        trace.left_out = Some(Hidden::describe(rows.len(), &left_out));
    }
    let changes = next_change(&rows, view);
    let (folder, count, seen_through) = (file.folder.to_owned(), rows.len() + plugins.len(), repository.clone());
    event.more_mut().sized(count);
    let render = move || {
        let shown: Vec<&KojiVersion> = visible(&rows, seen_through.view(now)).map(|row| row.entry()).collect();
        let changed = shown.iter().map(|row| row.place.tagged.at_ms).max().unwrap_or_default();
        let versions = shown.iter().map(|row| row.version.as_str());
        let document = metadata::listing(&folder, versions, !rows.is_empty(), plugins, changed);
        Ok(document.map(|document| Content::text(document.render(), "application/xml")))
    };
    let workers = &remote.remotes.workers;
    let document = aside(workers, Lane::Index, Op::IndexRender, count, event, render).await?;
    let Some(document) = document else { return Err(asked.lacks(file, trace)) };
    if asked.is_now() {
        trace.stale = asked.known.failed;
    }
    if !repository.asks {
        trace.told = Some(super::explained::state(asked));
    }
    Ok(Content { fresh_until: soonest(changes, asked.until()), freshness: freshness(asked), ..document })
}

/// The versions of an artifact with a POM.
pub(crate) fn versions(asked: &Asked<'_>, folder: &str) -> Vec<KojiVersion> {
    let map = &asked.known.map;
    let place = |(version, _): (String, _)| {
        let folder = format!("{folder}/{version}");
        let place = map.place(&folder, asked.view).ok()?;
        Some(KojiVersion::of(&folder, place, asked.view))
    };
    map.versions(folder, asked.view).into_iter().filter_map(place).collect()
}

/// When the hub last confirmed the map, and whether it fails since.
pub(crate) fn freshness(asked: &Asked<'_>) -> Option<Freshness> {
    let age = asked.remote.now().0.saturating_sub(asked.known.checked.0).max(0) / 1000;
    let how = asked.known.failed.map_or(How::Kept, How::Stale);
    asked.is_now().then_some(Freshness { how, age_s: age.cast_unsigned() })
}
