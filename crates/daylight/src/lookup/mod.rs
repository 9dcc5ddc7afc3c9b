//! What both the web pages and the API look up: values of the crate `web`, for a caller who may read them.

pub(crate) mod ask_events;
pub(crate) mod browse;
pub(crate) mod cells;
pub(crate) mod difference;
pub(crate) mod downloads;
pub(crate) mod event;
pub(crate) mod explain;
pub(crate) mod explained;
pub(crate) mod findings;
mod known_package;
pub(crate) mod package;
pub(crate) mod packages;
pub(crate) mod pagination;
pub(crate) mod read_repository;
pub(crate) mod readme;
pub(crate) mod search;
pub(crate) mod served_apps;
pub(crate) mod version;
