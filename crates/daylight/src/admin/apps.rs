//! `/api/v1/apps`: the applications in front of which the server stands, and the removal of stored responses.

use crate::app::App;
use crate::error::{Error, Result};
use crate::lookup::served_apps;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The most URLs, and the most tags, of one purge.
const NAMED_MAX: usize = 1_000;

/// The body of a POST for a purge.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct PurgeApp {
    /// URLs, or paths with their queries for every host.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    urls: Vec<String>,
    /// Tags, as the application sends them in `Surrogate-Key` and `Cache-Tag`.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    tags: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PurgedApp {
    /// How many stored responses were dropped.
    responses: u64,
}

pub(super) fn list(app: &App) -> Value {
    json!(served_apps::list(app))
}

pub(super) fn purge(app: &App, name: &str, body: PurgeApp) -> Result<Value> {
    let PurgeApp { urls, tags } = body;
    if urls.is_empty() && tags.is_empty() {
        return Err(Error::Input("a purge names `urls` or `tags`, and this one names none".to_owned()));
    }
    if urls.len().max(tags.len()) > NAMED_MAX {
        return Err(Error::Input(format!("a purge names at most {NAMED_MAX} URLs and {NAMED_MAX} tags")));
    }
    let dropped = app.apps.get().and_then(|apps| apps.purge(name, &urls, &tags));
    let responses = dropped.ok_or_else(|| Error::NoSuchApp(name.to_owned()))?;
    Ok(json!(PurgedApp { responses }))
}
