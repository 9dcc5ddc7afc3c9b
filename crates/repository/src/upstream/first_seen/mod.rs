//! When each version of an upstream was first seen, kept in the journal: a cooldown counts from then.

pub(crate) mod age_key;
pub(crate) mod history;
pub(crate) mod observation;
pub(crate) mod record;
pub(crate) mod row;
pub(crate) mod store;
pub(crate) mod units;
