//! `/browse/NAME[@MOMENT]/PATH`: one level of the content of a repository, as its readers see it.

use super::shell;
use crate::app::App;
use crate::error::Result;
use crate::formats;
use crate::lookup::browse::level;
use crate::lookup::pagination::{self, PageQuery};
use crate::lookup::read_repository::ReadRepository;
use front::{Reply, Request};
use repository::PageRequest;
use telemetry::Event;
use web::BrowsePage;

/// Most items on a page, unless its URL has a `limit`.
const LIMIT: usize = 100;

/// The answer with the page.
pub(super) async fn answer(
    app: &App,
    segment: &str,
    path: &str,
    request: &Request,
    event: &mut Event,
) -> Result<Reply> {
    let PageQuery { after, limit } = pagination::read_or(request.query().unwrap_or_default(), LIMIT)?;
    let read = ReadRepository::named(app, segment, request, event).await?;
    let level = level(app, &read, PageRequest { path, after: &after, limit }, event).await?;
    let title = format!("{}/{}", level.segment(), level.path);
    let shell = shell::of(app, title, request, event).await?;
    let (first, names) = (after.is_empty(), formats::of(read.repository.format).browses_names);
    shell::page(&BrowsePage { shell: &shell, level: &level, first, names }, event).await
}
