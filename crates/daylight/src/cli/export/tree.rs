//! Exports the files of a repository that is a tree: each at its path, with the files that its format has beside it.

use super::place::{ExportJob, Placed, download, write};
use crate::cli::api::{Api, REPOSITORIES, decode};
use crate::cli::failure::Failure;
use crate::cli::parallel;
use crate::cli::progress::Bar;
use crate::cli::repository_client::RepositoryConnection;
use data_encoding::HEXLOWER;
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
pub(crate) struct ListedFile {
    pub(crate) path: String,
    sha256: String,
    sha1: String,
    /// Absent if the server has not made it yet.
    md5: Option<String>,
}

/// A written file.
enum Item {
    File(ListedFile),
    /// A document, which the server generates from the files.
    Document(String),
}

/// What a format has beside its files.
pub(crate) struct Beside {
    /// The paths of the documents that the server may have generated from these files.
    pub(crate) documents: fn(&[ListedFile]) -> BTreeSet<String>,
    /// Whether the file at a path has checksums beside it.
    pub(crate) has_sums: fn(&str) -> bool,
}

/// Writes the listed files of a repository into a folder.
pub(crate) fn export(job: &ExportJob<'_>, beside: &Beside) -> anyhow::Result<Vec<Placed>> {
    let ExportJob { api, repository, jobs, folder } = *job;
    let files = list(api, repository.name())?;
    let documents = (beside.documents)(&files);
    let items: Vec<Item> = files.into_iter().map(Item::File).chain(documents.into_iter().map(Item::Document)).collect();
    let (bar, total) = (Bar::new(), items.len() as u64);
    let work = |connection: &mut RepositoryConnection, item: Item| match item {
        Item::File(listed) => file(connection, &listed, folder, beside),
        Item::Document(path) => document(connection, &path, folder),
    };
    let show = |done| bar.show(Progress { done, total, of: "files" });
    let all = parallel::map(jobs, items, || repository.connect(), work, show);
    drop(bar);
    Ok(all?.into_iter().flatten().collect())
}

/// All files of the repository.
fn list(api: &Api, name: &str) -> anyhow::Result<Vec<ListedFile>> {
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

/// Downloads a file, and writes its checksums beside it.
fn file(
    connection: &mut RepositoryConnection,
    listed: &ListedFile,
    folder: &Path,
    beside: &Beside,
) -> anyhow::Result<Vec<Placed>> {
    let ListedFile { path, sha256, sha1, md5 } = listed;
    let placed = download(folder.join(path), sha256, |sink| {
        let headers = connection.fetch(&url(path), sink)?;
        let date = headers.get(LAST_MODIFIED).and_then(|date| date.to_str().ok());
        Ok(date.and_then(|date| httpdate::parse_http_date(date).ok()))
    })?;
    if !(beside.has_sums)(path) || matches!(placed, Placed::Conflict(_)) {
        return Ok(vec![placed]);
    }
    let md5 = match md5 {
        Some(md5) => Some(md5.clone().into_bytes()),
        None => connection.bytes(&url(&format!("{path}.md5")))?,
    };
    let sums = [("sha1", Some(sha1.clone().into_bytes())), ("md5", md5)].into_iter();
    let sums = sums.filter_map(|(ending, sum)| Some((ending, sum?)));
    let sums = sums.map(|(ending, sum)| write(folder.join(format!("{path}.{ending}")), &sum, false));
    let conflicts = sums.filter(|sum| !matches!(sum, Ok(Placed::Written | Placed::Present)));
    [Ok(placed)].into_iter().chain(conflicts).collect()
}

/// Writes the document at a path, if there is one, with its checksums. It replaces that of an earlier export.
fn document(connection: &mut RepositoryConnection, path: &str, folder: &Path) -> anyhow::Result<Vec<Placed>> {
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
