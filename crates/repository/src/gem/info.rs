//! `/info` of the compact index of a hosted repository, from the rows of a gem.

use crate::error::{Error, Result};
use crate::gem::Found;
use crate::gem::hosted::Hosted;
use crate::gem::info_lines::render_info;
use crate::gem::rules::info_format;
use crate::gem::views::ViewPart;
use crate::index::document::Index;
use crate::repository::Repository;
use crate::visible;
use crate::visible::next_change;
use crate::workers::aside;
use format::gem::info::FormatVersion;
use store::Lane;
use telemetry::{Event, Millis, Op};

impl Repository {
    /// The format of its `/info` lines.
    pub fn info_format(&self) -> FormatVersion {
        info_format(&self.record)
    }
}

/// `/info/NAME`. A gem whose versions were all yanked still has an empty `/info`: Bundler 2.4 to 4.0 drops the whole
/// index if a name in `/versions` has none.
pub(crate) async fn info(hosted: Hosted<'_>, name: &str, now: Millis, event: &mut Event) -> Result<Index> {
    if !hosted.by_rows() {
        return info_of(hosted, name, now, event).await;
    }
    let make = async |event: &mut Event| Ok(Found::Index(info_of(hosted, name, now, event).await?).into());
    hosted.once(ViewPart::Info(name.to_owned()), now, event, make).await?.found()?.index()
}

async fn info_of(hosted: Hosted<'_>, name: &str, now: Millis, event: &mut Event) -> Result<Index> {
    let entries = hosted.repository.unit(hosted.store, name, event).await?;
    if entries.is_empty() {
        return Err(Error::NoSuchPackage);
    }
    let (rows, repository) = (entries.len(), hosted.repository.clone());
    event.more_mut().sized(rows);
    let fresh_until = next_change(&entries, repository.view(now));
    let render = move || render_info(visible(&entries, repository.view(now)), repository.info_format());
    Ok(Index { fresh_until, ..make(hosted, rows, event, render).await? })
}

/// Renders an index of `rows` rows, and hashes it.
pub(crate) async fn make(
    hosted: Hosted<'_>,
    rows: usize,
    event: &mut Event,
    render: impl FnOnce() -> Result<Vec<u8>> + Send + 'static,
) -> Result<Index> {
    aside(&hosted.context.workers, Lane::Index, Op::IndexRender, rows, event, move || render().map(Index::of)).await
}
