//! The result of a look at an upstream's `/versions`.

use crate::gem::upstream::index::{HeldBack, UpstreamFile};
use crate::gem::upstream::listing::Lines;
use crate::upstream::failure::Failure;
use format::gem::upstream::Difference;
use telemetry::Reason;

/// The result.
pub(crate) enum Looked {
    Unchanged(UpstreamFile),
    /// Lines that our log gains.
    Lines {
        difference: Difference,
        from: Lines,
        file: UpstreamFile,
    },
    /// The first file.
    First {
        text: Vec<u8>,
        from: Lines,
        file: UpstreamFile,
    },
    HeldBack(Option<HeldBack>, UpstreamFile),
    /// The whole file was transferred too often. The next look is later.
    Later,
}

/// The failure for a file that is not accepted.
pub(crate) fn invalid(why: &str) -> Failure {
    Failure::new(Reason::UpstreamInvalid, format!("the upstream's `/versions` is refused: {why}"))
}
