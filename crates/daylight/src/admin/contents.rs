//! `/api/v1/repositories/NAME/contents`: the files of a Maven or raw repository, and the versions of hosted gems.

use super::frees::with_frees;
use super::kept_names::with_kept_names;
use crate::access::Caller;
use crate::app::App;
use crate::error::Error;
use crate::lookup::pagination::{self, PageQuery};
use format::percent::Form;
use repository::{ListedFile, PageRequest};
use serde_json::{Value, json};
use telemetry::Event;

/// The value of `removed` in a query for deleted files.
const YES: &str = "true";

fn to_json(file: &ListedFile) -> Value {
    let hashes = &file.hashes;
    let mut shown = json!({
        "path": file.path,
        "size_bytes": hashes.size_bytes,
        "md5": hashes.md5,
        "sha1": hashes.sha1,
        "sha256": hashes.sha256,
        "sha512": hashes.sha512,
        "changed": file.changed.to_string(),
    });
    if let Some(origin) = &file.origin {
        shown["origin"] = json!({ "at": origin.at.to_string(), "by": origin.by, "claimed_by": origin.claimed_by });
    }
    if let Some(version) = &file.version {
        shown["name"] = json!(version.name);
        shown["version"] = json!(version.number);
        shown["platform"] = json!(version.platform);
        shown["published"] = json!(version.published.to_string());
        shown["by"] = json!(version.by);
        shown["yanked"] = json!(version.yanked);
    }
    shown
}

pub(super) async fn list(app: &App, name: &str, path: &str, query: &str, event: &mut Event) -> Result<Value, Error> {
    let PageQuery { after, limit } = pagination::read(query)?;
    let page = PageRequest { path, after: &after, limit };
    let page = if Form(query).value("removed").as_deref() == Some(YES) {
        app.repositories.removed(name, page, event).await?
    } else {
        app.repositories.contents(name, page, event).await?
    };
    let rows: Vec<Value> = page.rows.iter().map(to_json).collect();
    Ok(json!({ "contents": rows, "next": page.next }))
}

pub(super) async fn remove(
    app: &App,
    name: &str,
    path: &str,
    caller: &Caller,
    event: &mut Event,
) -> Result<Value, Error> {
    let removed = app.repositories.withdraw(name, path, caller.actor(), event).await?;
    Ok(with_kept_names(with_frees(json!({ "removed": removed.files }), removed.frees), &removed.kept_names))
}

pub(super) async fn restore(
    app: &App,
    name: &str,
    path: &str,
    caller: &Caller,
    event: &mut Event,
) -> Result<Value, Error> {
    let restored = app.repositories.restore(name, path, caller.actor(), event).await?;
    Ok(json!({ "restored": restored }))
}
