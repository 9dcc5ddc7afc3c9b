//! How the server is now.

pub(crate) mod metrics;
pub(crate) mod upstream_trouble;
