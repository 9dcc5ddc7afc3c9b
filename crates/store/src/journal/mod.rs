//! The journal: the changes in its rows, its segments, and the truth that is rebuilt from them.

pub(crate) mod change;
pub(crate) mod clock;
pub(crate) mod clock_doubt;
pub(crate) mod entry;
pub(crate) mod opaque_settings;
pub(crate) mod rebuild;
pub(crate) mod recent_rows;
pub(crate) mod record;
pub(crate) mod segments;
pub(crate) mod shipper;
pub(crate) mod token;
