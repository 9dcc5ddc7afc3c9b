//! What a look at an upstream's `/versions` came to.

use crate::gem::upstream::index::{HeldBack, UpstreamFile};
use crate::gem::upstream::listing::Lines;
use crate::upstream::failure::Failure;
use format::gem::upstream::Difference;
use telemetry::Reason;

/// What came.
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
    /// The whole file was fetched as often as it may be. It is looked at again later.
    Later,
}

/// Why a file is not believed.
pub(crate) fn invalid(why: &str) -> Failure {
    Failure::new(Reason::UpstreamInvalid, format!("the upstream's `/versions` is refused: {why}"))
}
