//! What both the web pages and the API look up.

pub(crate) mod read_repository;
