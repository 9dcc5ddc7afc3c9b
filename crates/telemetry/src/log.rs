//! The process log and the access log.
