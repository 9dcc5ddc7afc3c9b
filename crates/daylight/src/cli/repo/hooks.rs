//! How the hooks of a repository go, as `repo show` tells it.

use serde::Deserialize;

/// The figures of hooks, as the API tells them.
#[derive(Debug, Deserialize)]
pub(super) struct HookFigures {
    taken: u64,
    refused: u64,
    lost: u64,
    waiting: u64,
    last: Option<String>,
    last_seen: Option<String>,
    lag_ms: Option<u64>,
}

impl HookFigures {
    /// Their lines. A repository that never had a hook has none.
    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        let some = |figure: u64| if figure > 0 { figure.to_string() } else { String::new() };
        let lag = self.lag_ms.map(|ms| format!("{}.{:03} s", ms / 1_000, ms % 1_000));
        vec![
            ("hooks accepted", some(self.taken)),
            ("hooks refused", some(self.refused)),
            ("hooks lost", some(self.lost)),
            ("hooks waiting", some(self.waiting)),
            ("last hook", self.last.clone().unwrap_or_default()),
            ("last hook seen upstream", self.last_seen.clone().unwrap_or_default()),
            ("lag of the last hook", lag.unwrap_or_default()),
        ]
    }
}
