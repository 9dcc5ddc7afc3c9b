//! Cost classes: limits of the concurrent requests of each kind. If there are too many of one kind, further ones are
//! refused with 503 before any work, and requests of other kinds are not affected. One client, and one token, gets only
//! a share of each class.
//!
//! A page needs no place: the front answers it at once.

use crate::config;
use crate::error::{Error, Result};
use crate::route::{Admin, AdminVerb, OwnVerb, Route, SiteUrl};
use crate::upload::small_bodies::{Holder, SmallBodies, SmallBody};
use repository::ClassPlace;
use repository::Cost;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use telemetry::{Bound, BoundName, By, Class, KeyedBound, KeyedSlot, Metric, Recorder, Slot};

/// Maximum number of hooks that are answered at once. Each has at most 64 KiB of body in memory, which has arrived.
const HOOKS_MAX: u64 = 64;
/// Maximum number of concurrent readiness probes. They wait only while settings are read again.
const PROBES_MAX: u64 = 64;

/// The number of places of a class, and the setting that has it, where there is one. `None`: the class has no places here, because the
/// lanes of an application limit its requests.
fn places(class: Class, server: &config::Server) -> Option<(u64, Option<&'static str>)> {
    Some(match class {
        Class::Small => (server.max_pages, Some("server.max_pages")),
        Class::Downloads => (server.max_downloads, Some("server.max_downloads")),
        Class::Uploads => (server.max_uploads, Some("server.max_uploads")),
        Class::DynamicIndex => (server.max_indexes, Some("server.max_indexes")),
        Class::Admin => (server.max_admin, Some("server.max_admin")),
        Class::Web => (server.max_web, Some("server.max_web")),
        Class::Ask => (server.max_asks, Some("server.max_asks")),
        Class::Accounts => (server.max_accounts, Some("server.max_accounts")),
        Class::Forms => (server.max_forms, Some("server.max_forms")),
        Class::Hooks => (HOOKS_MAX, None),
        Class::Health => (PROBES_MAX, None),
        Class::Apps => return None,
    })
}

/// The classes that have places here.
fn classes_with_places(server: &config::Server) -> Vec<Class> {
    Class::ALL.iter().copied().filter(|class| places(*class, server).is_some()).collect()
}

/// The class of a URL. `None`: the path is below a repository, whose format decides ([`Cost`]); or the request is
/// answered from memory at once and needs no place. Health probes and metrics are such requests: a failed probe
/// could make a supervisor kill the server.
pub fn of_route(route: &Route) -> Option<Class> {
    match route {
        Route::Content(_) | Route::Live | Route::Metrics => None,
        Route::Ready => Some(Class::Health),
        Route::Hook(_) => Some(Class::Hooks),
        // They take their places when their forms have arrived.
        Route::Site(SiteUrl::SignInSent | SiteUrl::SignOut) => None,
        Route::Site(SiteUrl::Ask) => Some(Class::Ask),
        Route::Site(_) => Some(Class::Web),
        Route::Admin(Admin { verb: AdminVerb::Own(OwnVerb::Ask), .. }) => Some(Class::Ask),
        Route::Admin(Admin { verb: AdminVerb::Repository(_), .. }) => Some(Class::Web),
        // It takes its place itself, and returns it while it waits for upstreams.
        Route::Admin(Admin { verb: AdminVerb::Own(OwnVerb::Names), .. }) => None,
        Route::Admin(_) | Route::Conformance(..) => Some(Class::Admin),
    }
}

/// The class of a question, by the cost that its format states.
pub fn of_cost(cost: Cost) -> Class {
    match cost {
        Cost::Page => Class::Small,
        Cost::Download => Class::Downloads,
        Cost::Upload => Class::Uploads,
        Cost::Index => Class::DynamicIndex,
        Cost::Account => Class::Accounts,
    }
}

/// How many of so many places one client or one token may hold.
pub fn each(places: u64, server: &config::Server) -> u64 {
    (places * server.client_share_percent).div_ceil(100)
}

/// A place in a class. Dropping it returns the place.
#[derive(Debug)]
pub struct Permit {
    _class: Slot,
    _client: Option<KeyedSlot<Holder>>,
    _token: Option<KeyedSlot<Holder>>,
}

impl ClassPlace for Permit {}

/// The places of every class.
#[derive(Debug)]
pub struct Classes {
    all: [Arc<Bound>; Class::COUNT],
    each: [Arc<KeyedBound<Holder>>; Class::COUNT],
    bodies: Arc<SmallBodies>,
    /// The number of requests that got a place.
    entered: Arc<[AtomicU64; Class::COUNT]>,
}

impl Classes {
    /// The classes with the limits of the settings.
    pub fn new(server: &config::Server, recorder: &Recorder) -> Self {
        // A class without places here has bounds that admit nothing, and that nobody sees.
        let places_of = |class| places(class, server).unwrap_or((0, None));
        let all: [_; Class::COUNT] = std::array::from_fn(|at| {
            let (class, (most, setting)) = (Class::ALL[at], places_of(Class::ALL[at]));
            let bound = Bound::new(BoundName::Requests, class.as_str(), most);
            setting.into_iter().for_each(|setting| bound.set_setting(setting));
            bound
        });
        let each: [_; Class::COUNT] = std::array::from_fn(|at| {
            let (class, (most, _)) = (Class::ALL[at], places_of(Class::ALL[at]));
            KeyedBound::of(BoundName::ClientRequests, class.as_str(), each(most, server))
        });
        for class in classes_with_places(server) {
            recorder.register(all[class as usize].clone());
            recorder.register(each[class as usize].bound().clone());
        }
        let entered: Arc<[AtomicU64; Class::COUNT]> = Arc::default();
        let metric = Metric::counter("class_requests_total", "Requests that got a place in their cost class");
        let (counts, counted) = (entered.clone(), classes_with_places(server));
        recorder.figures(metric, By::Label("class"), move || {
            let count = |class: &Class| counts[*class as usize].load(Relaxed) as f64;
            counted.iter().map(|class| (class.as_str().to_owned(), count(class))).collect()
        });
        let bodies = SmallBodies::new(all[Class::Forms as usize].clone());
        Self { all, each, bodies, entered }
    }

    /// Takes a place in `class` for a request of this client with this token, if it has a valid one. Fails at once if
    /// the class is full, or if the client or the token has its share already.
    pub fn enter(&self, class: Class, client: IpAddr, token: Option<u64>) -> Result<Permit> {
        let (all, each) = (&self.all[class as usize], &self.each[class as usize]);
        // The share of the client comes first, so that a refused client takes no place from others, not even for a
        // moment.
        let (client, token) = (Holder::Client(front::client(client)), token.map(Holder::Token));
        let held = |holder| each.enter(holder).map_err(|_| Error::BusyForOne { what: class.doc() });
        let has_share_limit = each.bound().capacity() < all.capacity();
        let _client = has_share_limit.then(|| held(client)).transpose()?;
        let _token = token.filter(|_| has_share_limit).map(held).transpose()?;
        let busy = |_| Error::Busy { what: class.doc(), setting: all.setting() };
        let _class = all.enter().map_err(busy)?;
        self.entered[class as usize].fetch_add(1, Relaxed);
        Ok(Permit { _class, _client, _token })
    }

    /// A small body of this client with this token begins to arrive.
    pub(crate) fn receive(&self, client: IpAddr, token: Option<u64>) -> SmallBody {
        self.entered[Class::Forms as usize].fetch_add(1, Relaxed);
        self.bodies.begin(Holder::Client(front::client(client)), token.map(Holder::Token))
    }

    /// The places of a class that are taken.
    pub fn used(&self, class: Class) -> u32 {
        u32::try_from(self.all[class as usize].used()).unwrap_or(u32::MAX)
    }

    /// Maximum number of concurrent requests in all classes together.
    pub fn places(&self) -> u64 {
        self.all.iter().map(|bound| bound.capacity()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Method;

    #[test]
    fn calls_of_the_api_and_probes_have_classes_and_what_is_in_memory_has_none() {
        let class = |path| of_route(&crate::route::read(&Method::GET, path).unwrap());
        assert_eq!(class("/health/ready"), Some(Class::Health));
        assert_eq!(class("/api/v1/tokens"), Some(Class::Admin));
        assert_eq!(of_route(&crate::route::read(&Method::POST, "/api/v1/ask").unwrap()), Some(Class::Ask));
        for path in ["/", "/packages/gems/lamp", "/api/v1/packages/gems/lamp"] {
            assert_eq!(class(path), Some(Class::Web), "{path}");
        }
        for path in ["/health/live", "/metrics", "/repository/x/versions"] {
            assert_eq!(class(path), None, "{path}");
        }
    }
}
