//! `/api/v1/repositories/NAME/contents`: the files of a repository that is a tree of them.

use super::part;
use crate::access::Caller;
use crate::app::App;
use crate::error::Error;
use format::percent::Form;
use repository::{ListedFile, PageRequest};
use serde_json::{Value, json};
use telemetry::Event;

/// What a query says where it wants what was taken away.
const YES: &str = "true";

fn shown(file: &ListedFile) -> Value {
    let hashes = &file.hashes;
    json!({
        "path": file.path,
        "size_bytes": hashes.size_bytes,
        "md5": hashes.md5,
        "sha1": hashes.sha1,
        "sha256": hashes.sha256,
        "sha512": hashes.sha512,
        "changed": file.changed.to_string(),
    })
}

pub(super) async fn list(
    app: &App,
    (name, path): (&str, &str),
    query: &str,
    event: &mut Event,
) -> Result<Value, Error> {
    let (after, limit) = part::read(query)?;
    let part = PageRequest { path, after: &after, limit };
    let listed = if Form(query).value("removed").as_deref() == Some(YES) {
        app.repositories.removed(name, part, event).await?
    } else {
        app.repositories.contents(name, part, event).await?
    };
    let rows: Vec<Value> = listed.rows.iter().map(shown).collect();
    Ok(json!({ "contents": rows, "next": listed.next }))
}

pub(super) async fn remove(
    app: &App,
    (name, path): (&str, &str),
    who: &Caller,
    event: &mut Event,
) -> Result<Value, Error> {
    let removed = app.repositories.withdraw(name, path, who.actor(), event).await?;
    Ok(json!({ "removed": removed }))
}

pub(super) async fn restore(
    app: &App,
    (name, path): (&str, &str),
    who: &Caller,
    event: &mut Event,
) -> Result<Value, Error> {
    let restored = app.repositories.restore(name, path, who.actor(), event).await?;
    Ok(json!({ "restored": restored }))
}
