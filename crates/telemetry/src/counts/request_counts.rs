//! Requests by the properties that metrics show, with how long they took and how large their bodies were.

use crate::histogram::durations::RoundDurations;
use crate::{Class, Event, Figures, Glance, Layer};
use std::collections::HashMap;

/// The most kinds of requests that are counted one by one. Requests of other kinds count together.
const KINDS_MAX: usize = 4096;

/// What requests with the same figures have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct RequestKind {
    /// The format of the repository; empty if the request is for none.
    pub(crate) format: &'static str,
    pub(crate) layer: Layer,
    /// Empty if no request was read.
    pub(crate) protocol: &'static str,
    /// 0 if there was no reply.
    pub(crate) status: u16,
    /// Empty if no request was read.
    pub(crate) method: &'static str,
    pub(crate) route: Route,
}

impl RequestKind {
    /// Stands for all kinds that are not counted one by one.
    const REST: RequestKind =
        RequestKind { format: "", layer: Layer::None, protocol: "", status: 0, method: "", route: Route::Other };
}

/// The paths that requests with the same figures have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Route {
    /// `/metrics`, `/health/live`, hooks, forms that were refused before they had arrived, and paths that there are not.
    Other,
    /// The admin API, with questions about events.
    Api,
    /// Web pages for people, with those to sign in.
    Page,
    /// The probe of readiness.
    Ready,
    /// Paths of repositories.
    Repository,
    /// Paths of applications in front of which the server stands.
    App,
}

impl Route {
    /// The route of a request, by the format of its repository and its cost class.
    pub(crate) fn of(format: &str, class: Option<Class>) -> Self {
        match class {
            _ if !format.is_empty() => Route::Repository,
            None => Route::Other,
            Some(Class::Apps) => Route::App,
            Some(Class::Admin | Class::Ask) => Route::Api,
            // Calls about the accounts of a repository have its format.
            Some(Class::Web | Class::Accounts) => Route::Page,
            Some(Class::Health) => Route::Ready,
            Some(Class::Forms | Class::Hooks) => Route::Other,
            Some(Class::Small | Class::Downloads | Class::Uploads | Class::DynamicIndex) => Route::Repository,
        }
    }

    /// Its name in metrics.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Route::Other => "(other)",
            Route::Api => "/api/v1/{call}",
            Route::Page => "/",
            Route::Ready => "/health/ready",
            Route::Repository => "/repository/{name}/{path}",
            Route::App => "(application)",
        }
    }
}

impl Event {
    /// The route under which metrics count this request. `format`: the format of its repository, empty if there is no such repository.
    pub fn route(&self, format: &str) -> &'static str {
        let figures = Figures::of(self);
        let for_app = Glance::of(self, &figures).is_for_app();
        let route = if for_app { Route::of("", Some(Class::Apps)) } else { Route::of(format, self.class) };
        route.as_str()
    }
}

/// The figures of requests of one kind.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestCounts {
    pub(crate) durations: RoundDurations,
    pub(crate) received: Sizes,
    pub(crate) sent: Sizes,
}

impl RequestCounts {
    pub(crate) fn merge(&mut self, other: &Self) {
        self.durations.merge(&other.durations);
        self.received.merge(&other.received);
        self.sent.merge(&other.sent);
    }
}

/// Sizes of bodies.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sizes {
    pub(crate) count: u64,
    pub(crate) bytes: u64,
    /// The number of bodies up to the limit of the same index of [`Sizes::LIMITS`] and above the previous limit.
    pub(crate) between: [u64; Sizes::LIMITS.len()],
}

impl Sizes {
    /// From 1 KiB to 1 GiB, each four times the previous one, in bytes and as text.
    pub(crate) const LIMITS: [(u64, &'static str); 11] = [
        (1 << 10, "1024"),
        (1 << 12, "4096"),
        (1 << 14, "16384"),
        (1 << 16, "65536"),
        (1 << 18, "262144"),
        (1 << 20, "1048576"),
        (1 << 22, "4194304"),
        (1 << 24, "16777216"),
        (1 << 26, "67108864"),
        (1 << 28, "268435456"),
        (1 << 30, "1073741824"),
    ];

    fn record(&mut self, bytes: u64) {
        self.count += 1;
        self.bytes += bytes;
        // The number of bits of the next smaller size tells between which powers of four a size is.
        let bits = u64::BITS - bytes.saturating_sub(1).leading_zeros();
        if let Some(between) = self.between.get_mut((bits.saturating_sub(9) / 2) as usize) {
            *between += 1;
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.bytes += other.bytes;
        self.between.iter_mut().zip(&other.between).for_each(|(mine, theirs)| *mine += theirs);
    }
}

/// The figures of all requests.
#[derive(Debug, Clone, Default)]
pub(crate) struct Requests {
    places: HashMap<RequestKind, usize>,
    counts: Vec<(RequestKind, RequestCounts)>,
    /// The place of the last request: the next one is often of the same kind.
    last: usize,
}

impl Requests {
    /// Counts a request. `limit` is the index of the first limit that its duration does not exceed.
    pub(crate) fn add(&mut self, kind: RequestKind, limit: usize, nanos: u64, received: u64, sent: u64) {
        let counts = self.counts_mut(kind);
        counts.durations.record(nanos, limit);
        counts.received.record(received);
        counts.sent.record(sent);
    }

    fn counts_mut(&mut self, kind: RequestKind) -> &mut RequestCounts {
        if self.counts.get(self.last).is_none_or(|(last, _)| *last != kind) {
            self.last = match self.places.get(&kind) {
                Some(place) => *place,
                None => self.new_place(kind),
            };
        }
        &mut self.counts[self.last].1
    }

    /// A place for a kind without one. If there are too many kinds, it is that of all others.
    fn new_place(&mut self, kind: RequestKind) -> usize {
        let kind = if self.counts.len() < KINDS_MAX { kind } else { RequestKind::REST };
        let (next, counts) = (self.counts.len(), &mut self.counts);
        *self.places.entry(kind).or_insert_with(|| {
            counts.push((kind, RequestCounts::default()));
            next
        })
    }

    /// All kinds with their figures.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(RequestKind, RequestCounts)> {
        self.counts.iter()
    }

    /// Adds the figures of others.
    pub(crate) fn merge(&mut self, other: &Requests) {
        for (kind, theirs) in &other.counts {
            self.counts_mut(*kind).merge(theirs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_of_exactly_a_limit_counts_up_to_that_limit_and_a_larger_one_does_not() {
        for (place, (limit, text)) in Sizes::LIMITS.into_iter().enumerate() {
            assert_eq!(text, limit.to_string());
            let mut sizes = Sizes::default();
            [limit, limit + 1, limit - 1].iter().for_each(|size| sizes.record(*size));
            assert_eq!(sizes.between[place], 2, "{limit}");
            assert_eq!(sizes.between.get(place + 1).copied().unwrap_or(1), 1, "{limit}");
        }
        let mut sizes = Sizes::default();
        [0, 1, u64::MAX >> 1].iter().for_each(|size| sizes.record(*size));
        assert_eq!((sizes.between[0], sizes.between.iter().sum::<u64>()), (2, 2));
    }

    #[test]
    fn kinds_beyond_the_limit_count_together_and_two_tables_add_up() {
        let kind = |status| RequestKind { status, method: "GET", ..RequestKind::REST };
        let (mut one, mut other) = (Requests::default(), Requests::default());
        for status in 0..KINDS_MAX as u16 + 7 {
            one.add(kind(status), 3, 5, 1, 2);
            other.add(kind(status), usize::MAX, 5, 1, 2);
            other.add(kind(status), 4, 5, 1, 2);
        }
        one.merge(&other);
        let of = |wanted: RequestKind| one.iter().find(|(kind, _)| *kind == wanted).unwrap().1.clone();
        let durations = of(kind(9)).durations;
        assert_eq!((durations.count, durations.nanos, of(kind(9)).sent.bytes), (3, 15, 6));
        let up_to: Vec<u64> = durations.up_to().map(|(_, count)| count).collect();
        assert_eq!(up_to[2..6], [0, 1, 2, 2]);
        assert_eq!(of(RequestKind::REST).durations.count, 21);
        assert_eq!(one.counts.len(), KINDS_MAX + 1);
    }

    #[test]
    fn a_request_that_was_refused_has_the_route_of_its_class() {
        assert_eq!(Route::of("gem", Some(Class::Downloads)), Route::Repository);
        assert_eq!(Route::of("", Some(Class::Downloads)), Route::Repository);
        assert_eq!([Route::of("", Some(Class::Admin)), Route::of("", None)], [Route::Api, Route::Other]);
        assert_eq!(Route::of("", Some(Class::Apps)), Route::App);
        assert_eq!([Class::Web, Class::Accounts].map(|class| Route::of("", Some(class)).as_str()), ["/"; 2]);
        assert_eq!([Class::Ask, Class::Hooks].map(|class| Route::of("", Some(class))), [Route::Api, Route::Other]);
        assert_eq!(Route::of("gem", Some(Class::Accounts)), Route::Repository);
    }
}
