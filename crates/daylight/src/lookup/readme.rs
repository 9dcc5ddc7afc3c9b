//! The README of a version of a package: of gems, from the package that is published or cached here.

use super::known_package::{row, rows};
use crate::app::App;
use crate::error::Result;
use crate::lookup::read_repository::ReadRepository;
use telemetry::Event;
use web::Readme;

/// The README of a version.
pub(crate) async fn show(
    app: &App,
    read: &ReadRepository,
    package: &str,
    version: &str,
    event: &mut Event,
) -> Result<Readme> {
    let all = rows(app, read, package, event).await?;
    event.subject.version = version.into();
    let row = row(&all, package, version)?;
    // Artifacts have none.
    let found = repository::readme(app.services(), &read.packages(), package, row, event).await?;
    let cut = found.as_ref().is_some_and(|readme| readme.is_cut);
    let (name, text) = found.map(|readme| (readme.name, readme.text)).unzip();
    let (package, version) = (package.to_owned(), version.to_owned());
    Ok(Readme { repository: read.segment.clone(), package, version, name, text, cut })
}
