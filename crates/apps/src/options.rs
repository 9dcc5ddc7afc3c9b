//! The settings of an application.

use client::Secret;
use format::page::key::KeyRule;
use std::path::PathBuf;
use std::time::Duration;

telemetry::closed_list! {
    /// Rules for the responses of a known kind of application.
    pub enum Preset {
        /// Files of the asset pipeline of Rails whose names have a digest may be kept, although the application says nothing of it.
        RailsAssets = "rails-assets",
    }
}

/// The settings of an application.
#[derive(Debug, Clone)]
pub struct AppOptions {
    /// Its name in events, metrics and calls.
    pub name: String,
    /// The host names of its requests, without ports: `example.com`, or `*.example.com` for any name below. Empty: every host that no
    /// other application of the address has.
    pub hosts: Vec<String>,
    /// The URLs of its backends.
    pub to: Vec<String>,
    /// How many requests its backends work on at once, all lanes together.
    pub slots: usize,
    /// The lanes, in their order.
    pub lanes: Vec<LaneOptions>,
    /// The path that tells the health of a backend by its status: 2xx and 3xx are healthy. `None`: only requests tell.
    pub health: Option<String>,
    /// The most bytes of stored responses. 0 stores none.
    pub cache_bytes: u64,
    /// The most bytes of uploads and responses in anonymous files.
    pub spool_bytes: u64,
    /// Where the anonymous files are.
    pub spool_folder: PathBuf,
    /// Rules for the responses of a known kind of application.
    pub preset: Option<Preset>,
    /// The folders whose files the application may have sent: `/FOLDER`, or `URI=/FOLDER` for `X-Accel-Redirect: URI/...`.
    pub sendfile_roots: Vec<String>,
    /// The application is just starting: requests wait this long for its first backend, from now on.
    pub starts_within: Option<Duration>,
    /// How long a backend has from the last byte of a request to the head of its response.
    pub answer_within: Duration,
    /// How long a backend may send nothing within a response. Event streams may be silent longer.
    pub body_idle: Duration,
    /// The pages that it writes into memcached or Valkey. `None`: it writes none.
    pub pages: Option<PagesOptions>,
}

impl AppOptions {
    /// The defaults for an application of this name. Its backends are still to be named.
    pub fn of(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            hosts: Vec::new(),
            to: Vec::new(),
            slots: 64,
            lanes: Vec::new(),
            health: None,
            cache_bytes: 64 << 20,
            spool_bytes: 1 << 30,
            spool_folder: PathBuf::from("/var/tmp"),
            preset: None,
            sendfile_roots: Vec::new(),
            starts_within: None,
            answer_within: Duration::from_secs(60),
            body_idle: Duration::from_secs(60),
            pages: None,
        }
    }

    /// The most bytes of responses that HTTP allows to be stored.
    pub(crate) fn response_bytes(&self) -> u64 {
        self.cache_bytes - self.page_bytes()
    }

    /// The most bytes of pages in memory, of an application that writes pages.
    pub(crate) fn page_bytes(&self) -> u64 {
        if self.pages.is_some() { self.cache_bytes / 2 } else { 0 }
    }
}

telemetry::closed_list! {
    /// The form in which an application writes its pages.
    pub enum PageFormat {
        /// Entries of response_bank, from 1.3 on.
        ResponseBank = "response_bank",
        /// Entries of cacheable, the ancestor of response_bank, and of response_bank up to 1.2.
        Cacheable = "cacheable",
        /// The format HC1.
        Hc1 = "hc1",
    }
}

/// The pages that an application writes into memcached or Valkey.
#[derive(Debug, Clone)]
pub struct PagesOptions {
    /// Their form.
    pub format: PageFormat,
    /// The URLs of the servers that keep them: several of memcached, or one of Redis or Valkey.
    pub servers: Vec<String>,
    /// How their keys may be made, tried at once. Plays no part in HC1.
    pub keys: Vec<KeyRule>,
    /// The namespace of the application's store; a `:` is put after it.
    pub namespace: String,
    /// How old an entry may be that is not, or not surely, the present version.
    pub tolerance: Duration,
    /// How long a request waits for a server.
    pub timeout: Duration,
    /// The most bytes of a value, and of its decoded body.
    pub value_bytes: usize,
    /// `USER:PASSWORD`, or a password alone, for the servers.
    pub credentials: Option<Secret>,
    /// Requests with one of these cookies go to the application.
    pub bypass_cookies: Vec<String>,
}

impl PagesOptions {
    /// The defaults for pages of this form.
    pub fn of(format: PageFormat) -> Self {
        let keys = match format {
            PageFormat::ResponseBank => vec![KeyRule::Typed, KeyRule::Inspected34, KeyRule::Inspected33],
            PageFormat::Cacheable => vec![KeyRule::Bare],
            PageFormat::Hc1 => Vec::new(),
        };
        Self {
            format,
            servers: Vec::new(),
            keys,
            namespace: String::new(),
            tolerance: Duration::ZERO,
            timeout: Duration::from_millis(50),
            value_bytes: 4 << 20,
            credentials: None,
            bypass_cookies: Vec::new(),
        }
    }
}

/// A lane: requests for these paths have slots of their own.
#[derive(Debug, Clone)]
pub struct LaneOptions {
    /// Globs: `*` is any part of one segment, `**` any number of segments.
    pub paths: Vec<String>,
    /// Its part of the slots of the application.
    pub slots: usize,
}

/// An application cannot be used with these settings.
#[derive(Debug, thiserror::Error)]
#[error("the application `{app}` cannot be used: {what}")]
pub struct BadApp {
    /// Its name.
    pub app: String,
    /// The problem.
    pub what: String,
    /// What to do.
    pub hint: &'static str,
}
