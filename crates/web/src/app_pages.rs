//! The pages that an application writes into memcached or Valkey, on the page about it and in the API.

use crate::amount::amount;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// The pages that an application writes, since the start of the server.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct AppPages {
    /// Their form: `response_bank`, `cacheable` or `hc1`.
    pub format: String,
    /// Requests by what became of their pages: `hit`, `hit_tolerated`, `hit_stale` and `hit_error` were answered with one, all others by the
    /// application. Only what occurred.
    #[serde(serialize_with = "by_name")]
    #[schemars(with = "BTreeMap<String, u64>")]
    pub requests: Vec<PageRequests>,
    /// Bytes of the pages in memory.
    pub bytes: u64,
    /// The most such bytes.
    pub max_bytes: u64,
    /// The servers that keep them, in the order of the settings.
    pub servers: Vec<AppPageServer>,
}

/// Requests of whose pages the same became.
#[derive(Debug, Clone, Default)]
pub struct PageRequests {
    /// Its name.
    pub outcome: String,
    /// Its meaning, for people.
    pub meaning: String,
    /// Whether a page was sent.
    pub is_hit: bool,
    /// How many requests.
    pub requests: u64,
}

/// A server that keeps the pages of an application.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct AppPageServer {
    /// Its URL.
    pub url: String,
    /// Whether it is asked.
    pub up: bool,
    /// Its last failure, in words.
    pub trouble: Option<String>,
    /// Open connections.
    pub connections: u64,
    /// Reads in progress.
    pub busy: u64,
}

fn by_name<S: Serializer>(requests: &[PageRequests], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(requests.iter().map(|one| (&one.outcome, one.requests)))
}

impl AppPages {
    /// The part of the requests that were answered with a page, in words.
    pub fn hit_share(&self) -> String {
        let all: u64 = self.requests.iter().map(|one| one.requests).sum();
        let hits: u64 = self.requests.iter().filter(|one| one.is_hit).map(|one| one.requests).sum();
        match all {
            0 => "no requests yet".to_owned(),
            all => format!("{:.1} % of {all} requests were answered with a page", hits as f64 / all as f64 * 100.0),
        }
    }

    /// Their size in memory, in words.
    pub fn size(&self) -> String {
        match self.max_bytes {
            0 => "none is kept in memory".to_owned(),
            most => format!("{} of {} in memory", amount(self.bytes), amount(most)),
        }
    }

    /// What became of them: pages that were sent first, then by the number of requests.
    pub fn outcomes(&self) -> Vec<&PageRequests> {
        let mut all: Vec<&PageRequests> = self.requests.iter().collect();
        all.sort_by_key(|one| (!one.is_hit, std::cmp::Reverse(one.requests)));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests(outcome: &str, requests: u64) -> PageRequests {
        PageRequests { outcome: outcome.into(), meaning: String::new(), is_hit: outcome.starts_with("hit"), requests }
    }

    #[test]
    fn the_share_counts_every_kind_of_page_that_was_sent() {
        let mut pages = AppPages::default();
        assert_eq!((&*pages.hit_share(), &*pages.size()), ("no requests yet", "none is kept in memory"));
        pages.requests =
            vec![requests("miss", 9), requests("timeout", 11), requests("hit", 3), requests("hit_stale", 57)];
        (pages.bytes, pages.max_bytes) = (1_500, 32_000_000);
        assert_eq!(pages.hit_share(), "75.0 % of 80 requests were answered with a page");
        assert_eq!(pages.size(), "1.5 kB of 32 MB in memory");
        let names: Vec<&str> = pages.outcomes().iter().map(|one| one.outcome.as_str()).collect();
        assert_eq!(names, ["hit_stale", "hit", "timeout", "miss"]);
    }

    #[test]
    fn the_api_has_the_requests_as_an_object() {
        let server = AppPageServer { url: "memcached://a:1".into(), up: true, ..AppPageServer::default() };
        let pages = AppPages {
            format: "hc1".into(),
            requests: vec![requests("miss", 9)],
            servers: vec![server],
            ..AppPages::default()
        };
        let expected = serde_json::json!({
            "format": "hc1", "requests": {"miss": 9}, "bytes": 0, "max_bytes": 0,
            "servers": [{"url": "memcached://a:1", "up": true, "trouble": null, "connections": 0, "busy": 0}],
        });
        assert_eq!(serde_json::to_value(pages).unwrap(), expected);
    }
}
