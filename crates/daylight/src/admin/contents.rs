//! `/api/v1/repositories/NAME/contents`: the files of a Maven or raw repository, and the versions of hosted gems.

use super::frees::Freed;
use crate::access::Caller;
use crate::app::App;
use crate::error::Result;
use crate::lookup::pagination::{self, PageQuery};
use format::percent::Form;
use repository::moment::Moment;
use repository::{KeptName, ListedFile, ListedVersion, PageRequest, RemovedFiles};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use store::{EntryOrigin, Hashes};
use telemetry::Event;

/// The value of `removed` in a query for deleted files.
const YES: &str = "true";

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Contents {
    contents: Vec<File>,
    /// What to give as `after` for the next part, which may be empty; null: this was the last.
    next: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct File {
    path: String,
    #[serde(flatten)]
    version: Option<ListedVersion>,
    size_bytes: u64,
    /// Absent while nobody has needed it: a cached file gets it within an hour, or at the first request for its checksum.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    md5: Option<String>,
    sha1: String,
    sha256: String,
    /// Absent as long as `md5`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    sha512: Option<String>,
    /// When it was published, fetched, given an origin or deleted.
    changed: Moment,
    /// Its publication on another server before it came here, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "FileOrigin")]
    origin: Option<FileOrigin>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FileOrigin {
    /// When it was published there.
    at: Moment,
    /// Who published it there.
    by: Option<String>,
    /// The name of the token that said so.
    claimed_by: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Removed {
    /// Names of which nothing is left, and which stay with the repository all the same: the group asks no upstream for them.
    #[schemars(length(max = 100))]
    kept_names: Vec<KeptName>,
    /// How many files.
    removed: u64,
    #[serde(flatten)]
    frees: Freed,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Restored {
    /// How many files.
    restored: u64,
}

impl From<ListedFile> for File {
    fn from(ListedFile { path, hashes, changed, origin, version }: ListedFile) -> Self {
        let Hashes { sha256, sha512, sha1, md5, size_bytes } = hashes;
        let origin = origin.map(|origin| {
            let EntryOrigin { at, by, claimed_by } = *origin;
            FileOrigin { at: Moment(at), by, claimed_by }
        });
        let (sha256, changed) = (sha256.to_string(), Moment(changed));
        Self { path, version, size_bytes, md5, sha1, sha256, sha512, changed, origin }
    }
}

pub(super) async fn list(app: &App, name: &str, path: &str, query: &str, event: &mut Event) -> Result<Value> {
    let PageQuery { after, limit } = pagination::read(query)?;
    let page = PageRequest { path, after: &after, limit };
    let page = if Form(query).value("removed").as_deref() == Some(YES) {
        app.repositories.removed(name, page, event).await?
    } else {
        app.repositories.contents(name, page, event).await?
    };
    Ok(json!(Contents { contents: page.rows.into_iter().map(File::from).collect(), next: page.next }))
}

pub(super) async fn remove(app: &App, name: &str, path: &str, caller: &Caller, event: &mut Event) -> Result<Value> {
    let RemovedFiles { files, frees, kept_names } =
        app.repositories.withdraw(name, path, caller.actor(), event).await?;
    Ok(json!(Removed { kept_names, removed: files, frees: frees.into() }))
}

pub(super) async fn restore(app: &App, name: &str, path: &str, caller: &Caller, event: &mut Event) -> Result<Value> {
    let restored = app.repositories.restore(name, path, caller.actor(), event).await?;
    Ok(json!(Restored { restored }))
}
