//! The stored settings of retention.

use serde::{Deserialize, Serialize};

/// Which builds of a repeatedly published version are kept. A build is kept if it satisfies the first or the second setting, and the
/// newest is always kept. The third one removes builds whatever the others keep.
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
