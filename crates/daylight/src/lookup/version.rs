//! One version of a package: its files, its declarations, and how clients use it.

use super::known_package::{CallerView, about, latest_is, moment, row, rows};
use crate::app::App;
use crate::error::Result;
use crate::face::VersionUsage;
use crate::formats;
use crate::lookup::read_repository::ReadRepository;
use format::percent::segment;
use front::Request;
use repository::{ServerUrl, VersionDetails, VersionFile as Found};
use telemetry::Event;
use web::{Dependency, Parent, Requires, Version, VersionFile};

/// A version of a package.
pub(crate) async fn show(
    app: &App,
    read: &ReadRepository,
    package: &str,
    version: &str,
    request: &Request,
    event: &mut Event,
) -> Result<Version> {
    let all = rows(app, read, package, event).await?;
    event.subject.version = version.into();
    let mut row = row(&all, package, version)?.clone();
    repository::tell_changes(app.services(), std::slice::from_mut(&mut row), event).await?;
    let details = repository::version_details(app.services(), &read.packages(), package, row, event).await?;
    let VersionDetails { row, files, more_files, declared } = details;
    let url = format!("{}/repository/{}", app.urls.of(request).url(), segment(&read.segment));
    let snippets = match row.standing.is_visible() {
        true => {
            let (repository, number, declared) = (&*read.repository, row.number.as_str(), declared.as_ref());
            (formats::of(repository.format).snippets)(&VersionUsage {
                repository,
                url: &url,
                package,
                number,
                declared,
            })
        }
        false => Vec::new(),
    };
    let view = CallerView::of(app, read, event).await?;
    let facts = declared.as_ref();
    let dependencies = facts.map(|facts| {
        let each = facts.dependencies.iter().cloned().map(|one| Dependency {
            package: one.package,
            versions: one.versions,
            scope: one.scope,
            optional: one.optional,
            classifier: one.classifier,
        });
        each.collect()
    });
    let requires = facts.into_iter().flat_map(|facts| facts.requires.iter().cloned());
    let parent = facts.and_then(|facts| facts.parent.clone());
    Ok(Version {
        repository: read.segment.clone(),
        package: package.to_owned(),
        format: read.repository.format.as_str(),
        line: view.line(&row),
        latest: all.latest,
        latest_is: latest_is(all.latest_is),
        about: facts.map(about),
        parent: parent.map(|(package, version)| Parent { package, version }),
        requires: requires.map(|(name, versions)| Requires { name, versions }).collect(),
        dependencies,
        files: files.into_iter().map(|file| of_file(file, row.stated_sha256.as_deref())).collect(),
        more_files,
        snippets,
    })
}

fn of_file(file: Found, stated_sha256: Option<&str>) -> VersionFile {
    let Found { path, hashes, at } = file;
    let (size_bytes, at) = (hashes.as_ref().map(|hashes| hashes.size_bytes), at.map(moment));
    match hashes {
        Some(hashes) => VersionFile {
            path,
            size_bytes,
            sha256: Some(hashes.sha256.to_string()),
            md5: hashes.md5,
            sha1: Some(hashes.sha1),
            sha512: hashes.sha512,
            at,
        },
        None => {
            let sha256 = stated_sha256.map(str::to_owned);
            VersionFile { path, size_bytes, md5: None, sha1: None, sha256, sha512: None, at }
        }
    }
}
