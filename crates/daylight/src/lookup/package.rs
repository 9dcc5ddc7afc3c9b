//! A package: its versions, and how clients use it.

use super::known_package::{CallerView, about, latest_is, rows};
use crate::app::App;
use crate::error::Result;
use crate::face::VersionUsage;
use crate::formats;
use crate::lookup::pagination::PageQuery;
use crate::lookup::read_repository::ReadRepository;
use format::percent::segment;
use front::Request;
use repository::{PackageRows, ServerUrl, VersionRow};
use telemetry::Event;
use web::Package;

/// A package with the versions of a part of its list.
pub(crate) async fn show(
    app: &App,
    read: &ReadRepository,
    name: &str,
    page: &PageQuery,
    request: &Request,
    event: &mut Event,
) -> Result<Package> {
    let mut rows = rows(app, read, name, event).await?;
    let (total, visible) = (rows.rows.len(), rows.rows.iter().filter(|row| row.standing.is_visible()).count());
    let latest = rows.latest.as_ref().and_then(|latest| rows.rows.iter().find(|row| row.version == *latest)).cloned();
    let from = match page.after.as_str() {
        "" => 0,
        after => rows.rows.iter().position(|row| row.version == after).map_or(total, |at| at + 1),
    };
    let mut part: Vec<VersionRow> = std::mem::take(&mut rows.rows).into_iter().skip(from).take(page.limit).collect();
    repository::tell_changes(app.services(), &mut part, event).await?;
    let next = part.last().filter(|_| from + part.len() < total).map(|row| row.version.clone());
    let (mut about_latest, mut snippets) = (None, Vec::new());
    if let Some(latest) = latest {
        let details = repository::version_details(app.services(), &read.packages(), name, latest, event).await?;
        let url = format!("{}/repository/{}", app.urls.of(request).url(), segment(&read.segment));
        let (repository, number) = (&*read.repository, details.row.number.as_str());
        let declared = details.declared.as_ref();
        let usage = VersionUsage { repository, url: &url, package: name, number, declared };
        snippets = (formats::of(repository.format).snippets)(&usage);
        about_latest = declared.map(about);
    }
    let view = CallerView::of(app, read, event).await?;
    Ok(Package {
        repository: read.segment.clone(),
        package: name.to_owned(),
        format: read.repository.format.as_str(),
        latest: rows.latest.clone(),
        latest_is: latest_is(rows.latest_is),
        about: about_latest,
        snippets,
        total,
        visible,
        versions: part.iter().map(|row| view.line(row)).collect(),
        next,
        members: view.members(&rows.members),
        notes: notes(&rows),
    })
}

fn notes(rows: &PackageRows) -> Vec<String> {
    let lacks = rows.may_lack.then(|| {
        "An upstream may have versions that are not known here yet: this page calls no upstream, and clients do."
            .to_owned()
    });
    let undated = rows.undated.then(|| {
        "No client has requested this gem yet, so the dates of its versions are not known here. The first request reads them, and \
         hides the versions that are too young."
            .to_owned()
    });
    lacks.into_iter().chain(undated).collect()
}
