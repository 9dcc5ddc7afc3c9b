//! The stored settings of retention.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What of a snapshot's builds a hosted repository of Maven keeps: what satisfies either, and always the newest. Without both: all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Retention {
    /// The newest so many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub builds: Option<u64>,
    /// Those younger than so many days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub days: Option<u64>,
    /// So many days after a hosted repository of Maven has published what a snapshot became, nothing stays of it that was published before
    /// that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released_days: Option<u64>,
}
