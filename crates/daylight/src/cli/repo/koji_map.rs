//! How the map of a Koji repository stands, as `repo show` tells it.

use serde::Deserialize;
use std::collections::BTreeMap;

/// The map, as the API tells it.
#[derive(Debug, Deserialize)]
pub(super) struct KojiMap {
    tags: Vec<String>,
    #[serde(default)]
    without_tags: Vec<String>,
    builds: u64,
    files: u64,
    event: u64,
    looked_at: Option<String>,
    confirmed: Option<String>,
    failure: Option<String>,
    left_out: BTreeMap<String, u64>,
}

/// The lines of a hub that has no map, with the failure of the last look.
pub(super) fn none(failure: Option<&str>) -> Vec<(&'static str, String)> {
    let read = "none: the hub was not read yet; the first request reads it";
    let failed = "none: no look at the hub has succeeded yet";
    let map = failure.map_or(read, |_| failed).to_owned();
    vec![("map", map), ("last look failed", failure.unwrap_or_default().to_owned())]
}

impl KojiMap {
    /// Its lines.
    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        let moment = |at: &Option<String>| at.clone().unwrap_or_else(|| "not since the start".into());
        let left_out: Vec<String> = self.left_out.iter().map(|(why, count)| format!("{count} {why}")).collect();
        vec![
            ("builds", self.builds.to_string()),
            ("files of builds", self.files.to_string()),
            ("tags with builds", self.tags.join(", ")),
            ("patterns without a tag", self.without_tags.join(", ")),
            ("newest event", self.event.to_string()),
            ("map checked", moment(&self.looked_at)),
            ("map confirmed", moment(&self.confirmed)),
            ("map is stale", self.failure.clone().unwrap_or_default()),
            ("left out", left_out.join(", ")),
        ]
    }
}
