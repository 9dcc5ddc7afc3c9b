//! Cost classes: how many requests of a kind may be under way. Too many of one kind are that kind's trouble: they are
//! refused at once, before any work, and the others have their places.
//!
//! An answer that is complete in memory is given before this is asked: it is done when it is begun, so nobody waits.

use crate::access::Scope;
use crate::config;
use crate::error::Error;
use crate::route::{Content, Operation, Route};
use format::gem::call;
use format::gem::path::{self, Question};
use repository::Format;
use std::sync::Arc;
use telemetry::{Bound, BoundName, Recorder, Slot};

/// Questions whether the server is ready, under way at once: they wait only while settings are read again.
const PROBES_MAX: u64 = 64;

/// What a request costs, as far as its URL tells. A closed list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// What is said from memory: roots, readiness; and what there is not.
    Pages,
    /// A file, or what is said of one: one entry is read, one blob opened.
    Downloads,
    /// A change of a repository: bytes come in, are hashed and synced.
    Uploads,
    /// An index that is not in memory: many rows are read and rendered.
    DynamicIndex,
    /// The admin API and accounts.
    Admin,
    /// Whether the server is ready.
    Health,
}

impl Class {
    /// All of them, in the order of declaration.
    pub const ALL: &'static [Class] =
        &[Class::Pages, Class::Downloads, Class::Uploads, Class::DynamicIndex, Class::Admin, Class::Health];
    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();

    /// The name used in metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Class::Pages => "pages",
            Class::Downloads => "downloads",
            Class::Uploads => "uploads",
            Class::DynamicIndex => "dynamic_index",
            Class::Admin => "admin",
            Class::Health => "health",
        }
    }

    /// What its requests are called when there are too many.
    pub fn doc(self) -> &'static str {
        match self {
            Class::Pages => "requests",
            Class::Downloads => "downloads",
            Class::Uploads => "uploads",
            Class::DynamicIndex => "requests for indexes",
            Class::Admin => "requests to the API",
            Class::Health => "probes",
        }
    }

    /// The class of what a URL asks for. `None`: it is below a repository, whose format decides ([`Class::below`]); or it is
    /// answered from memory in the turn in which it is read, so that it waits for nobody and nobody can take its place: a failed
    /// probe would have the server killed, and who sees no metrics mends nothing.
    pub fn of(route: &Route) -> Option<Self> {
        match route {
            Route::Content(_) | Route::Live | Route::Metrics | Route::Welcome => None,
            Route::Ready => Some(Class::Health),
            Route::Admin(_) | Route::Conformance(..) => Some(Class::Admin),
        }
    }

    /// The class of a request for something of a repository of this format.
    pub fn below(url: &Content, operation: Operation, format: Format) -> Self {
        match operation {
            Operation::Account(_) => Class::Admin,
            Operation::Content(Scope::Read) if url.path.is_empty() => Class::Pages,
            Operation::Content(Scope::Read) if format.is_tree() => Class::Downloads,
            Operation::Content(Scope::Read) if call::read(&url.path).is_some() => Class::DynamicIndex,
            Operation::Content(Scope::Read) => Self::of_gems(&url.path),
            Operation::Content(_) => Class::Uploads,
        }
    }

    fn of_gems(path: &str) -> Self {
        match path::read(path) {
            Some(
                Question::Versions
                | Question::Names
                | Question::Info(_)
                | Question::Specs(_)
                | Question::Dependencies(_),
            ) => Class::DynamicIndex,
            Some(Question::Gem(_) | Question::Gemspec(_)) => Class::Downloads,
            Some(Question::Root | Question::Download(_) | Question::Push | Question::Yank) | None => Class::Pages,
        }
    }
}

/// The places of every class.
#[derive(Debug)]
pub struct Classes([Arc<Bound>; Class::COUNT]);

impl Classes {
    /// As many places as the settings say.
    pub fn new(server: &config::Server, recorder: &Recorder) -> Self {
        let places = |class| match class {
            Class::Pages => server.max_pages,
            Class::Downloads => server.max_downloads,
            Class::Uploads => server.max_uploads,
            Class::DynamicIndex => server.max_indexes,
            Class::Admin => server.max_admin,
            Class::Health => PROBES_MAX,
        };
        let bounds = std::array::from_fn(|at| {
            let class = Class::ALL[at];
            Bound::new(BoundName::Requests, class.as_str(), places(class))
        });
        bounds.iter().for_each(|bound| recorder.register(bound.clone()));
        Self(bounds)
    }

    /// A place in `class` until it is dropped; refused at once where there is none.
    pub fn enter(&self, class: Class) -> Result<Slot, Error> {
        self.0[class as usize].enter().map_err(|_| Error::Busy(class))
    }

    /// Requests that may be under way in all classes together.
    pub fn places(&self) -> u64 {
        self.0.iter().map(|bound| bound.capacity()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Method;

    fn class(method: Method, path: &str, format: Format) -> Class {
        match crate::route::read(&method, path).unwrap() {
            Route::Content(url) => Class::below(&url, url.operation(format).unwrap(), format),
            route => Class::of(&route).unwrap(),
        }
    }

    #[test]
    fn the_url_and_the_format_tell_what_a_request_costs() {
        for (path, gem, tree) in [
            ("/health/ready", Class::Health, Class::Health),
            ("/api/v1/tokens", Class::Admin, Class::Admin),
            ("/repository/x/", Class::Pages, Class::Pages),
            ("/repository/x/nothing/here", Class::Pages, Class::Downloads),
            ("/repository/x/versions", Class::DynamicIndex, Class::Downloads),
            ("/repository/x//info/lamp", Class::DynamicIndex, Class::Downloads),
            ("/repository/x/names", Class::DynamicIndex, Class::Downloads),
            ("/repository/x/api/v1/search.json", Class::DynamicIndex, Class::Downloads),
            ("/repository/x/api/v1/dependencies.json", Class::DynamicIndex, Class::Downloads),
            ("/repository/x/specs.4.8.gz", Class::DynamicIndex, Class::Downloads),
            ("/repository/x/gems/lamp-1.0.0.gem", Class::Downloads, Class::Downloads),
            ("/repository/x/quick/Marshal.4.8/lamp-1.0.0.gemspec.rz", Class::Downloads, Class::Downloads),
            ("/repository/x/downloads/lamp-1.0.0.gem", Class::Pages, Class::Downloads),
            ("/repository/x/api/v1/api_key", Class::Admin, Class::Downloads),
        ] {
            assert_eq!(class(Method::GET, path, Format::Gem), gem, "{path}");
            assert_eq!(class(Method::GET, path, Format::Raw), tree, "{path}");
            assert_eq!(class(Method::GET, path, Format::Maven), tree, "{path}");
        }
        for format in [Format::Gem, Format::Raw] {
            assert_eq!(class(Method::POST, "/repository/x/api/v1/gems", format), Class::Uploads);
            assert_eq!(class(Method::DELETE, "/repository/x/api/v1/gems/yank", format), Class::Uploads);
        }
        for path in ["/", "/health/live", "/metrics"] {
            assert_eq!(Class::of(&crate::route::read(&Method::GET, path).unwrap()), None, "{path}");
        }
    }
}
