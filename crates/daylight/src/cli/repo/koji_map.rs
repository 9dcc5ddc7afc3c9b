//! How the map of a Koji repository stands, as `repo show` tells it.

use serde::Deserialize;
use std::collections::BTreeMap;

/// The map, as the API tells it.
#[derive(Debug, Deserialize)]
pub(super) struct KojiMap {
    tags: Vec<String>,
    builds: u64,
    files: u64,
    event: u64,
    looked_at: Option<String>,
    confirmed: Option<String>,
    failure: Option<String>,
    left_out: BTreeMap<String, u64>,
}

impl KojiMap {
    /// Its lines.
    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        let moment = |at: &Option<String>| at.clone().unwrap_or_else(|| "not since the start".into());
        let left_out: Vec<String> = self.left_out.iter().map(|(why, count)| format!("{count} {why}")).collect();
        vec![
            ("map", format!("{} builds with {} files in {} tags", self.builds, self.files, self.tags.len())),
            ("tags with builds", self.tags.join(", ")),
            ("newest event", self.event.to_string()),
            ("map checked", moment(&self.looked_at)),
            ("map confirmed", moment(&self.confirmed)),
            ("map is stale", self.failure.clone().unwrap_or_default()),
            ("left out", left_out.join(", ")),
        ]
    }
}
