//! The replies of a Daylight, by its own count.

use crate::http::Connection;
use crate::process::Server;
use anyhow::{Context, Result};

/// Counts of replies.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Replies {
    pub(crate) all: f64,
    /// The part that pages answered.
    pub(crate) pages: f64,
}

impl Replies {
    /// The replies so far, without those to this function.
    pub(crate) fn of(daylight: &Server) -> Result<Self> {
        let metrics = Connection::open(daylight.address.parse()?)?.call("GET", "/metrics", &[], b"")?;
        let mut replies = Self::default();
        for line in metrics.text().lines().filter(|line| line.starts_with("daylight_requests_total{")) {
            let count: f64 = line.rsplit(' ').next().and_then(|count| count.parse().ok()).context("a count")?;
            if !line.contains("layer=\"none\"") {
                replies.all += count;
            }
            if line.contains("layer=\"page\"") {
                replies.pages += count;
            }
        }
        Ok(replies)
    }
}
