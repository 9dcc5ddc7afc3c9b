//! Cost classes: how many requests of a kind may be under way. Too many of one kind are that kind's trouble: they are
//! refused at once, before any work, and the others have their places.
//!
//! An answer that is complete in memory is given before this is asked: it is done when it is begun, so nobody waits.

use crate::access::Scope;
use crate::config;
use crate::error::Error;
use crate::route::Route;
use format::gem::call;
use format::gem::path::{self, Question};
use std::sync::Arc;
use telemetry::{Bound, BoundName, Recorder, Slot};

/// What a request costs, as far as its URL tells. A closed list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// What is said from memory: roots, the front page, health; and what there is not.
    Pages,
    /// A file, or what is said of one: one entry is read, one blob opened.
    Downloads,
    /// A change of a repository: bytes come in, are hashed and synced.
    Uploads,
    /// An index that is not in memory: many rows are read and rendered.
    DynamicIndex,
    /// The admin API, accounts and metrics.
    Admin,
}

impl Class {
    /// All of them, in the order of declaration.
    pub const ALL: &'static [Class] =
        &[Class::Pages, Class::Downloads, Class::Uploads, Class::DynamicIndex, Class::Admin];
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
        }
    }

    /// The class of what a URL asks for.
    pub fn of(route: &Route) -> Self {
        match route {
            Route::Live | Route::Ready | Route::Welcome => Class::Pages,
            Route::Admin(_) | Route::Account(_) | Route::Conformance(..) | Route::Metrics => Class::Admin,
            Route::Content(url) if url.scope != Scope::Read => Class::Uploads,
            Route::Content(url) if call::read(&url.path).is_some() => Class::DynamicIndex,
            Route::Content(url) => match path::read(&url.path) {
                Some(
                    Question::Versions
                    | Question::Names
                    | Question::Info(_)
                    | Question::Specs(_)
                    | Question::Dependencies(_),
                ) => Class::DynamicIndex,
                Some(Question::Gem(_) | Question::Gemspec(_)) => Class::Downloads,
                Some(Question::Root | Question::Download(_) | Question::Push | Question::Yank) => Class::Pages,
                // Which format the repository has is not known yet; of a tree it is a file.
                None => Class::Downloads,
            },
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

    fn class(method: Method, path: &str) -> Class {
        Class::of(&crate::route::read(&method, path).unwrap())
    }

    #[test]
    fn the_url_tells_what_a_request_costs() {
        for (path, expected) in [
            ("/", Class::Pages),
            ("/health/ready", Class::Pages),
            ("/repository/gems/", Class::Pages),
            ("/repository/gems/nothing/here", Class::Downloads),
            ("/repository/gems/versions", Class::DynamicIndex),
            ("/repository/gems//info/lamp", Class::DynamicIndex),
            ("/repository/gems/names", Class::DynamicIndex),
            ("/repository/gems/api/v1/search.json", Class::DynamicIndex),
            ("/repository/gems/api/v1/dependencies.json", Class::DynamicIndex),
            ("/repository/gems/specs.4.8.gz", Class::DynamicIndex),
            ("/repository/gems/gems/lamp-1.0.0.gem", Class::Downloads),
            ("/repository/gems/quick/Marshal.4.8/lamp-1.0.0.gemspec.rz", Class::Downloads),
            ("/repository/gems/downloads/lamp-1.0.0.gem", Class::Pages),
            ("/metrics", Class::Admin),
            ("/api/v1/tokens", Class::Admin),
            ("/repository/gems/api/v1/api_key", Class::Admin),
        ] {
            assert_eq!(class(Method::GET, path), expected, "{path}");
        }
        assert_eq!(class(Method::POST, "/repository/gems/api/v1/gems"), Class::Uploads);
        assert_eq!(class(Method::DELETE, "/repository/gems/api/v1/gems/yank"), Class::Uploads);
    }
}
