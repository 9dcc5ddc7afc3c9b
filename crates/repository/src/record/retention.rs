//! The stored settings of retention.

use serde::{Deserialize, Serialize};

/// The retention of the builds of a snapshot. The newest build is always kept. Another one is kept if the first or the
/// second setting keeps it. The third setting removes builds regardless of the other two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Retention {
    /// This many of the newest builds are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub builds: Option<u64>,
    /// Builds younger than this many days are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days: Option<u64>,
    /// All builds are removed this many days after the release that followed them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released_days: Option<u64>,
}
