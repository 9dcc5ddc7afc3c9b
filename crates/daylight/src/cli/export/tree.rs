//! Exports the files of a Maven or raw repository: each at its path, and for Maven with the checksums and the metadata
//! that clients and other servers expect beside them.

use super::place::{Placed, download, write};
use crate::cli::api::{Api, REPOSITORIES, decode};
use crate::cli::failure::Failure;
use crate::cli::parallel;
use crate::cli::progress::Bar;
use crate::cli::repository_client::{RepositoryClient, RepositoryConnection};
use data_encoding::HEXLOWER;
use format::maven::path::{self, Kind, METADATA, signature_of};
use format::percent::segment;
use format::tree;
use http::header::LAST_MODIFIED;
use md5::Md5;
use serde::Deserialize;
use sha1::{Digest as _, Sha1};
use std::collections::BTreeSet;
use std::path::Path;
use store::Progress;

/// A page of the list of files.
#[derive(Debug, Deserialize)]
struct Contents {
    contents: Vec<ListedFile>,
    next: Option<String>,
}

/// A file that the server lists.
#[derive(Debug, Deserialize)]
struct ListedFile {
    path: String,
    sha256: String,
    sha1: String,
    md5: String,
}

/// A written file.
enum Item {
    File(ListedFile),
    /// Metadata, which the server generates from the files.
    Metadata(String),
}

/// Writes the listed files of a repository into a folder. `maven`: with checksums and metadata.
pub(super) fn export(
    api: &Api,
    repository: &RepositoryClient,
    jobs: usize,
    folder: &Path,
    maven: bool,
) -> Result<Vec<Placed>, anyhow::Error> {
    let files = list(api, repository.name())?;
    let metadata = if maven { metadata(&files) } else { BTreeSet::new() };
    let items: Vec<Item> = files.into_iter().map(Item::File).chain(metadata.into_iter().map(Item::Metadata)).collect();
    let (bar, total) = (Bar::new(), items.len() as u64);
    let work = |connection: &mut RepositoryConnection, item: Item| match item {
        Item::File(listed) => file(connection, &listed, folder, maven),
        Item::Metadata(path) => document(connection, &path, folder),
    };
    let show = |done| bar.show(Progress { done, total, of: "files" });
    let all = parallel::map(jobs, items, || repository.connect(), work, show);
    drop(bar);
    Ok(all?.into_iter().flatten().collect())
}

/// All files of the repository.
fn list(api: &Api, name: &str) -> Result<Vec<ListedFile>, anyhow::Error> {
    let mut files = Vec::new();
    api.pages(&format!("{REPOSITORIES}/{}/contents", segment(name)), |answer| {
        let page: Contents = decode(answer)?;
        for file in page.contents {
            // A path that leads out of the folder would write anywhere.
            tree::check_raw(&file.path)
                .map_err(|why| Failure::new(format!("the server lists a bad path: {why}"), None))?;
            files.push(file);
        }
        Ok(page.next)
    })?;
    Ok(files)
}

/// The paths of the metadata for these files. Only groups with plugins have metadata.
fn metadata(files: &[ListedFile]) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    for file in files {
        let Some(Kind::Artifact(artifact)) = path::read(&file.path).map(|read| read.kind) else { continue };
        let package = format!("{}/{}", artifact.group, artifact.artifact);
        let snapshot = artifact.snapshot().then(|| format!("{package}/{}", artifact.version));
        let folders = [artifact.group.to_owned(), package].into_iter().chain(snapshot);
        paths.extend(folders.map(|folder| format!("{folder}/{METADATA}")));
    }
    paths
}

/// Downloads a file, and writes its checksums beside it.
fn file(
    connection: &mut RepositoryConnection,
    listed: &ListedFile,
    folder: &Path,
    maven: bool,
) -> Result<Vec<Placed>, anyhow::Error> {
    let ListedFile { path, sha256, sha1, md5 } = listed;
    let placed = download(folder.join(path), sha256, |sink| {
        let headers = connection.fetch(&url(path), sink)?;
        let date = headers.get(LAST_MODIFIED).and_then(|date| date.to_str().ok());
        Ok(date.and_then(|date| httpdate::parse_http_date(date).ok()))
    })?;
    // Clients publish no checksums of signatures.
    let sums = maven && signature_of(path).is_none() && !matches!(placed, Placed::Conflict(_));
    let sums = [("sha1", sha1), ("md5", md5)].into_iter().filter(|_| sums);
    let sums = sums.map(|(ending, sum)| write(folder.join(format!("{path}.{ending}")), sum.as_bytes(), false));
    let conflicts = sums.filter(|sum| !matches!(sum, Ok(Placed::Written | Placed::Present)));
    [Ok(placed)].into_iter().chain(conflicts).collect()
}

/// Writes the metadata at a path, if there is any, with its checksums. It replaces that of an earlier export.
fn document(connection: &mut RepositoryConnection, path: &str, folder: &Path) -> Result<Vec<Placed>, anyhow::Error> {
    let Some(bytes) = connection.bytes(&url(path))? else { return Ok(Vec::new()) };
    let sums = [("sha1", HEXLOWER.encode(&Sha1::digest(&bytes))), ("md5", HEXLOWER.encode(&Md5::digest(&bytes)))];
    for (ending, sum) in sums {
        write(folder.join(format!("{path}.{ending}")), sum.as_bytes(), true)?;
    }
    Ok(vec![write(folder.join(path), &bytes, true)?])
}

/// A path as part of a URL.
fn url(path: &str) -> String {
    path.split('/').map(segment).collect::<Vec<_>>().join("/")
}
