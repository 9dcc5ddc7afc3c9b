//! When each version of an upstream was first seen. The journal records it, and cooldowns count from it.

pub(crate) mod age_key;
pub(crate) mod collected;
pub(crate) mod followed_rows;
pub(crate) mod history;
pub(crate) mod observation;
pub(crate) mod record;
pub(crate) mod row;
pub(crate) mod sights;
pub(crate) mod store;
pub(crate) mod units;
