//! The difference of two versions of a package: their dependencies, and their files.

use super::known_package::{row, rows};
use crate::app::App;
use crate::error::{Error, Result};
use crate::lookup::read_repository::ReadRepository;
use format::percent::Form;
use repository::{DeclaredFacts, VersionDetails};
use telemetry::Event;
use web::{Changed, Difference};

/// The most differing files that are told.
const TOLD: usize = 1000;

/// The versions that a query compares: both, or none.
pub(crate) fn versions_in(query: &str) -> Option<(String, String)> {
    let value = |name| Form(query).value(name).map(|text| text.trim().to_owned());
    Some((value("from")?, value("to")?))
}

/// The same for the versions in the query of a call.
pub(crate) async fn of_query(
    app: &App,
    read: &ReadRepository,
    package: &str,
    query: &str,
    event: &mut Event,
) -> Result<Difference> {
    let Some((from, to)) = versions_in(query) else {
        return Err(Error::Input("`from` and `to` are the versions to compare".into()));
    };
    show(app, read, package, (&from, &to), event).await
}

/// The difference of two versions.
pub(crate) async fn show(
    app: &App,
    read: &ReadRepository,
    package: &str,
    (from, to): (&str, &str),
    event: &mut Event,
) -> Result<Difference> {
    let all = rows(app, read, package, event).await?;
    let (first, second) = (row(&all, package, from)?.clone(), row(&all, package, to)?.clone());
    let ask = read.packages();
    let first = repository::version_details(app.services(), &ask, package, first, event).await?;
    let second = repository::version_details(app.services(), &ask, package, second, event).await?;
    let needs = first.declared.as_ref().zip(second.declared.as_ref());
    let dependencies = needs.map(|(from, to)| Changed::of(dependencies(from), dependencies(to)).0);
    let mut more_files = false;
    let mut list = async |of: &VersionDetails| {
        let found = repository::compared_files(app.services(), &ask, package, of, event).await?;
        Ok::<_, Error>(found.map(|found| {
            more_files |= found.is_cut;
            let files = found.files.into_iter();
            files.map(|file| (file.name, file.size_bytes.to_string(), file.sha256)).collect::<Vec<_>>()
        }))
    };
    let (one, other) = (list(&first).await?, list(&second).await?);
    let (mut files, mut same_files) = (None, 0);
    if let (Some(from), Some(to)) = (one, other) {
        let (mut changed, same) = Changed::of(from, to);
        more_files |= changed.len() > TOLD;
        changed.truncate(TOLD);
        (files, same_files) = (Some(changed), same);
    }
    let (from, to) = (from.to_owned(), to.to_owned());
    let (repository, package) = (read.segment.clone(), package.to_owned());
    Ok(Difference { repository, package, from, to, dependencies, files, same_files, more_files })
}

/// The dependencies by name and scope, with their requirements.
fn dependencies(of: &DeclaredFacts) -> Vec<(String, String, String)> {
    let one = |one: &repository::DeclaredDependency| {
        let classifier = one.classifier.as_ref().map(|classifier| format!(" ({classifier})")).unwrap_or_default();
        let optional = if one.optional { ", optional" } else { "" };
        (format!("{}{classifier}, {}{optional}", one.package, one.scope), one.versions.clone(), one.versions.clone())
    };
    of.dependencies.iter().map(one).collect()
}
