//! The state of applications, for operators.

/// The state of an application.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AppView {
    /// Its name.
    pub name: String,
    /// Its host names; empty: every host that no other application has.
    pub hosts: Vec<String>,
    /// Its command is starting, and has not opened its port yet.
    pub starting: bool,
    /// How many requests its backends work on at once, all lanes together.
    pub slots: usize,
    /// Its lanes, in the order of the settings, and last the slots that no lane has.
    pub lanes: Vec<LaneView>,
    /// Its backends, in the order of the settings.
    pub backends: Vec<BackendView>,
    /// Open WebSockets and event streams.
    pub streams: u64,
    /// Bytes of uploads and responses in anonymous files.
    pub spool_bytes: u64,
    /// The most such bytes.
    pub spool_max_bytes: u64,
    /// Its stored responses. `None`: it stores none.
    pub cache: Option<CacheView>,
    /// The pages that it writes. `None`: it writes none.
    pub pages: Option<PagesView>,
}

/// The state of a lane.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaneView {
    /// Its paths. Empty: the slots that no lane has.
    pub paths: Vec<String>,
    /// How many requests backends work on at once.
    pub slots: usize,
    /// How many they work on now.
    pub busy: u64,
    /// How many requests wait for a slot.
    pub waiting: u64,
}

/// The state of a backend.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BackendView {
    /// Its URL.
    pub url: String,
    /// Whether it gets requests.
    pub up: bool,
    /// Why it gets none, or its last failure, in words.
    pub trouble: Option<String>,
    /// The requests that it works on.
    pub busy: u64,
    /// Its open connections, idle ones too. WebSockets and event streams are counted apart.
    pub connections: u64,
}

/// The state of a cache, since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheView {
    /// Bytes of the stored responses.
    pub bytes: u64,
    /// The most such bytes.
    pub max_bytes: u64,
    /// How many responses are stored.
    pub responses: u64,
    /// Lookups that were answered with a stored response.
    pub hits: u64,
    /// All lookups.
    pub lookups: u64,
}

/// The state of the pages that an application writes, since the start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PagesView {
    /// Their form, as in the settings.
    pub format: &'static str,
    /// Requests by what became of them, as [`telemetry::AppUse::page`] names it. Only what occurred.
    pub requests: Vec<(&'static str, u64)>,
    /// Bytes of the pages in memory.
    pub bytes: u64,
    /// The most such bytes.
    pub max_bytes: u64,
    /// The servers that keep them, in the order of the settings.
    pub servers: Vec<PageServerView>,
}

/// The state of a server that keeps pages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageServerView {
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
