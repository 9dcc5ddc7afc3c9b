//! The applications in front of which a server stands: the values of the API and of the page.

use crate::amount::amount;
use crate::app_pages::AppPages;
use crate::shell::Shell;
use askama::Template;
use schemars::JsonSchema;
use serde::Serialize;

/// The applications that this process serves.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Apps {
    /// In the order of the settings. Empty: the server is no front.
    pub apps: Vec<App>,
}

/// An application.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct App {
    /// Its name.
    pub name: String,
    /// The URL at which its clients connect.
    pub url: String,
    /// Its host names. Empty: every host that no other application of the URL has.
    pub hosts: Vec<String>,
    /// Its command is starting, and has not opened its port yet.
    pub starting: bool,
    /// How many requests its backends work on at once, all lanes together.
    pub slots: u64,
    /// Its lanes in the order of the settings, and last the slots that no lane has.
    pub lanes: Vec<AppLane>,
    /// Its backends.
    pub backends: Vec<AppBackend>,
    /// Open WebSockets and event streams, which hold no slot.
    pub streams: u64,
    /// Bytes of uploads and responses in anonymous files.
    pub spool_bytes: u64,
    /// The most such bytes.
    pub spool_max_bytes: u64,
    /// Its stored responses, since the start of the server. Null: it stores none.
    pub cache: Option<StoredResponses>,
    /// The pages that it writes into memcached or Valkey. Null: it writes none.
    pub pages: Option<AppPages>,
}

/// A lane of an application.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct AppLane {
    /// Its paths. Empty: all other requests.
    pub paths: Vec<String>,
    /// How many requests backends work on at once.
    pub slots: u64,
    /// How many they work on now.
    pub busy: u64,
    /// How many requests wait for a slot.
    pub waiting: u64,
}

/// A backend of an application.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct AppBackend {
    /// Its URL.
    pub url: String,
    /// Whether it gets requests.
    pub up: bool,
    /// Why it gets none, or its last failure, in words.
    pub trouble: Option<String>,
    /// The requests that it works on.
    pub busy: u64,
    /// Its open connections, idle ones too.
    pub connections: u64,
}

/// The stored responses of an application.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
pub struct StoredResponses {
    /// Their bytes.
    pub bytes: u64,
    /// The most such bytes.
    pub max_bytes: u64,
    /// How many there are.
    pub responses: u64,
    /// Lookups that were answered with one.
    pub hits: u64,
    /// All lookups.
    pub lookups: u64,
}

/// A path whose requests took long.
#[derive(Debug, Clone, Default)]
pub struct SlowPath {
    /// The application.
    pub app: String,
    /// The path, without the query.
    pub path: String,
    /// Requests for it.
    pub requests: u64,
    /// 95 % of them had the first byte of their response within this time, in milliseconds.
    pub p95_ms: f64,
    /// The longest of these times, in milliseconds.
    pub max_ms: f64,
}

/// The page.
#[derive(Debug, Template)]
#[template(path = "apps.html")]
pub struct AppsPage<'a> {
    /// The parts around it.
    pub shell: &'a Shell,
    /// The applications.
    pub apps: &'a Apps,
    /// The paths of the last five minutes that took longest, the slowest first. `None`: it is not known.
    pub slow: Option<&'a [SlowPath]>,
    /// Requests in progress that are not answered at once.
    pub open: u64,
}

impl AppLane {
    /// Its paths in words.
    pub fn name(&self) -> String {
        if self.paths.is_empty() { "all other paths".to_owned() } else { self.paths.join(" ") }
    }
}

impl App {
    /// Its hosts in words.
    pub fn host_names(&self) -> String {
        if self.hosts.is_empty() { "any host".to_owned() } else { self.hosts.join(", ") }
    }

    /// The state of its spool in words.
    pub fn spool(&self) -> String {
        format!("{} of {}", amount(self.spool_bytes), amount(self.spool_max_bytes))
    }
}

impl StoredResponses {
    /// The part of the lookups that were answered, in words.
    pub fn hit_share(&self) -> String {
        match self.lookups {
            0 => "no lookups yet".to_owned(),
            lookups => {
                let share = self.hits as f64 / lookups as f64 * 100.0;
                format!("{share:.1} % of {lookups} lookups were answered with a stored response")
            }
        }
    }

    /// Its size in words.
    pub fn size(&self) -> String {
        format!("{} responses in {} of {}", self.responses, amount(self.bytes), amount(self.max_bytes))
    }
}

impl SlowPath {
    /// A time as people read it.
    fn time(millis: &f64) -> String {
        match millis {
            ..10.0 => format!("{millis:.1} ms"),
            ..1_000.0 => format!("{millis:.0} ms"),
            _ => format!("{:.1} s", millis / 1_000.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AppPageServer, Links, PageRequests, html};

    #[test]
    fn the_page_shows_each_part_and_escapes_it() {
        let odd = || "<b>\"&'".to_owned();
        let lane = AppLane { paths: vec![odd()], slots: 2, busy: 1, waiting: 7 };
        let backend = AppBackend { url: odd(), up: false, trouble: Some(odd()), busy: 3, connections: 4 };
        let cache = StoredResponses { bytes: 2_000, max_bytes: 5_000_000, responses: 9, hits: 1, lookups: 4 };
        let server = AppPageServer { url: odd(), trouble: Some(odd()), ..AppPageServer::default() };
        let requests = PageRequests { outcome: odd(), meaning: odd(), is_hit: true, requests: 3 };
        let (requests, servers) = (vec![requests], vec![server]);
        let pages = AppPages { format: odd(), requests, bytes: 1, max_bytes: 2, servers };
        let app = App {
            name: odd(),
            url: odd(),
            hosts: vec![odd()],
            starting: true,
            lanes: vec![lane, AppLane::default()],
            backends: vec![backend],
            cache: Some(cache),
            pages: Some(pages),
            ..App::default()
        };
        let apps = Apps { apps: vec![app, App::default()] };
        let slow = [SlowPath { app: odd(), path: odd(), requests: 5, p95_ms: 1.25, max_ms: 12_340.0 }];
        let shell = Shell::new("t", Links::new("http://here.test"));
        let page = html(&AppsPage { shell: &shell, apps: &apps, slow: Some(&slow), open: 6 }).unwrap();
        assert!(!page.contains("<b>") && page.matches("&#60;b&#62;").count() >= 13, "{page}");
        for text in [
            "25.0 % of 4 lookups",
            "9 responses in 2.0 kB of 5.0 MB",
            "100.0 % of 3 requests were answered with a page",
            "1 B of 2 B in memory",
            "all other paths",
            "any host",
            "1.2 ms",
            "12.3 s",
        ] {
            assert!(page.contains(text), "{text}: {page}");
        }
    }
}
