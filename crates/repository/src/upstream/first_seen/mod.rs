//! TODO upstream::first_seen

pub(crate) mod observation;
pub(crate) mod record;
pub(crate) mod row;
pub(crate) mod store;
pub(crate) mod units;
