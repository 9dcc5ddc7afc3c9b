//! Requests for each application in front of which the server stands, with its lanes and its backends.

use crate::event::{app_cache, app_page};
use crate::prometheus::metrics_view::OTHER;
use crate::recorder::glance::Glance;
use crate::{Histogram, Layer, MemberSaid, Op, Outcome, Reason};

/// The most applications, lanes of one and backends of one that are counted one by one. Requests for further ones count together.
const EACH_MAX: usize = 100;

/// The layers by which bytes and times are told apart. The first one is also that of the server itself.
pub(crate) const LAYERS: [Layer; 3] = [Layer::App, Layer::AppCache, Layer::AppPages];

/// A list of few things by name.
pub(crate) type ByName<T> = Vec<(Box<str>, T)>;

/// The counts of all applications.
#[derive(Debug, Clone, Default)]
pub(crate) struct Apps(ByName<AppCounts>);

/// The counts of one application.
#[derive(Debug, Clone)]
pub(crate) struct AppCounts {
    /// Requests by the state of the cache ([`crate::AppUse::cache`]); empty: they were refused before the cache was asked.
    pub(crate) by_cache: Vec<(&'static str, u64)>,
    /// Requests by what became of the page that the application wrote ([`crate::AppUse::page`]). Others are not counted here.
    pub(crate) by_page: Vec<(&'static str, u64)>,
    pub(crate) outcomes: [u64; Outcome::COUNT],
    pub(crate) reasons: [u64; Reason::COUNT],
    pub(crate) received_bytes: u64,
    /// Bytes of responses, by [`LAYERS`].
    pub(crate) sent_bytes: [u64; LAYERS.len()],
    /// The times to the first byte, divided as the bytes are.
    pub(crate) first_bytes: [Histogram; LAYERS.len()],
    /// Requests for which a proxy told when it had got them, and the nanoseconds until they arrived here.
    pub(crate) queued_outside: (u64, u64),
    pub(crate) lanes: ByName<LaneCounts>,
    pub(crate) backends: ByName<BackendCounts>,
}

/// The requests of a lane that got a slot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LaneCounts {
    pub(crate) requests: u64,
    /// Nanoseconds in which a slot was taken: from connecting to the last byte of the response.
    pub(crate) busy_nanos: u64,
    /// Nanoseconds in which requests waited for a slot.
    pub(crate) waited_nanos: u64,
}

/// The requests that were sent to a backend.
#[derive(Debug, Clone)]
pub(crate) struct BackendCounts {
    pub(crate) requests: u64,
    pub(crate) failures: [u64; Reason::COUNT],
}

impl Default for AppCounts {
    fn default() -> Self {
        Self {
            by_cache: Vec::new(),
            by_page: Vec::new(),
            outcomes: [0; Outcome::COUNT],
            reasons: [0; Reason::COUNT],
            received_bytes: 0,
            sent_bytes: [0; LAYERS.len()],
            first_bytes: Default::default(),
            queued_outside: (0, 0),
            lanes: Vec::new(),
            backends: Vec::new(),
        }
    }
}

impl Default for BackendCounts {
    fn default() -> Self {
        Self { requests: 0, failures: [0; Reason::COUNT] }
    }
}

/// The counts of that name, which are added if they are new.
fn named<'a, T: Default>(list: &'a mut ByName<T>, name: &str) -> &'a mut T {
    let mut place = list.iter().position(|(known, _)| **known == *name);
    if place.is_none() && list.len() >= EACH_MAX {
        place = list.iter().position(|(known, _)| **known == *OTHER);
    }
    let place = place.unwrap_or_else(|| {
        let name = if list.len() < EACH_MAX { name } else { OTHER };
        list.push((name.into(), T::default()));
        list.len() - 1
    });
    &mut list[place].1
}

/// Adds numbers of the same names.
fn merge_each<T: Default>(mine: &mut ByName<T>, theirs: &ByName<T>, add: impl Fn(&mut T, &T)) {
    theirs.iter().for_each(|(name, counts)| add(named(mine, name), counts));
}

impl Apps {
    /// Counts a request for an application.
    pub(crate) fn add(&mut self, event: &Glance<'_>) {
        named(&mut self.0, event.repository).add(event);
    }

    /// All of them, by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(Box<str>, AppCounts)> {
        self.0.iter()
    }

    /// Adds those of another table.
    pub(crate) fn merge(&mut self, other: &Self) {
        merge_each(&mut self.0, &other.0, AppCounts::merge);
    }
}

impl AppCounts {
    fn add(&mut self, event: &Glance<'_>) {
        let figures = event.figures;
        count(&mut self.by_cache, app_cache(figures.layer, event.more), 1);
        let page = app_page(figures.layer, event.more);
        if !page.is_empty() {
            count(&mut self.by_page, page, 1);
        }
        self.outcomes[figures.outcome.unwrap_or(Outcome::Failed) as usize] += 1;
        if let Some(reason) = figures.reason {
            self.reasons[reason as usize] += 1;
        }
        let layer = LAYERS.iter().position(|layer| *layer == figures.layer).unwrap_or_default();
        self.received_bytes += figures.bytes_in;
        self.sent_bytes[layer] += figures.bytes_out;
        if figures.status != 0 {
            self.first_bytes[layer].record(figures.first_byte);
        }
        if let Some(more) = event.more.filter(|more| more.queued_outside > 0) {
            self.queued_outside.0 += 1;
            self.queued_outside.1 += more.queued_outside;
        }
        if let Some(used) = event.more.and_then(|more| more.app.as_deref()) {
            let nanos = |wanted: &[Op]| -> u64 {
                event.ops.iter().filter(|(op, _)| wanted.contains(op)).map(|(_, tally)| tally.nanos).sum()
            };
            let (busy, waited) = (nanos(&[Op::AppConnect, Op::AppAnswer, Op::AppBody]), nanos(&[Op::AppWait]));
            if busy > 0 || waited > 0 {
                let requests = u64::from(busy > 0);
                named(&mut self.lanes, &used.lane).add(&LaneCounts {
                    requests,
                    busy_nanos: busy,
                    waited_nanos: waited,
                });
            }
        }
        for member in event.members.iter().filter(|member| member.said != MemberSaid::NotAsked) {
            let backend = named(&mut self.backends, &member.member);
            backend.requests += 1;
            if let Some(reason) = member.reason {
                backend.failures[reason as usize] += 1;
            }
        }
    }

    fn merge(&mut self, other: &Self) {
        other.by_cache.iter().for_each(|(state, requests)| count(&mut self.by_cache, state, *requests));
        other.by_page.iter().for_each(|(page, requests)| count(&mut self.by_page, page, *requests));
        super::add_each(&mut self.outcomes, &other.outcomes);
        super::add_each(&mut self.reasons, &other.reasons);
        self.received_bytes += other.received_bytes;
        super::add_each(&mut self.sent_bytes, &other.sent_bytes);
        self.first_bytes.iter_mut().zip(&other.first_bytes).for_each(|(mine, theirs)| mine.merge(theirs));
        self.queued_outside.0 += other.queued_outside.0;
        self.queued_outside.1 += other.queued_outside.1;
        merge_each(&mut self.lanes, &other.lanes, LaneCounts::add);
        merge_each(&mut self.backends, &other.backends, |mine, theirs| {
            mine.requests += theirs.requests;
            super::add_each(&mut mine.failures, &theirs.failures);
        });
    }
}

/// Counts requests of a state.
fn count(list: &mut Vec<(&'static str, u64)>, state: &'static str, requests: u64) {
    match list.iter_mut().find(|(known, _)| *known == state) {
        Some((_, count)) => *count += requests,
        None => list.push((state, requests)),
    }
}

impl LaneCounts {
    fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.busy_nanos += other.busy_nanos;
        self.waited_nanos += other.waited_nanos;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AppUse, Class, Event, Figures, MemberRecord, Millis, Tick};

    fn passed(app: &str, lane: &str, backend: &str, reason: Option<Reason>) -> Event {
        let mut event = *Event::request(Millis(1), Tick(0));
        event.subject.repository = app.into();
        (event.layer, event.class, event.status) = (Layer::App, Some(Class::Apps), 200);
        (event.bytes_in, event.bytes_out, event.first_byte, event.reason) = (3, 10, 5, reason);
        [Op::AppWait, Op::AppConnect, Op::AppAnswer, Op::AppBody].iter().for_each(|op| event.add(*op, 7));
        let said = if reason.is_some() { MemberSaid::Timeout } else { MemberSaid::Hit };
        event.absorb(MemberRecord::new(backend, said, reason));
        event.more_mut().queued_outside = 4;
        event.more_mut().app = Some(Box::new(AppUse { lane: lane.into(), cache: "fwd=miss", ..AppUse::default() }));
        event
    }

    fn seen(apps: &mut Apps, event: &Event) {
        apps.add(&Glance::of(event, &Figures::of(event)));
    }

    #[test]
    fn a_hit_counts_without_a_lane_and_a_silent_backend_by_its_name() {
        let mut apps = Apps::default();
        let mut old = passed("shop", "/reports/**", "http://a", None);
        old.more_mut().app.as_mut().unwrap().page = "old";
        seen(&mut apps, &old);
        seen(&mut apps, &passed("shop", "/reports/**", "http://b", Some(Reason::AppSilent)));
        let mut hit = *Event::request(Millis(1), Tick(0));
        hit.subject.repository = "shop".into();
        (hit.layer, hit.status, hit.bytes_out) = (Layer::AppCache, 200, 100);
        seen(&mut apps, &hit);
        (hit.layer, hit.bytes_out) = (Layer::AppPages, 50);
        seen(&mut apps, &hit);
        let (name, shop) = &apps.0[0];
        assert_eq!((&**name, apps.0.len()), ("shop", 1));
        assert_eq!(shop.by_cache, [("fwd=miss", 2), ("hit", 2)]);
        assert_eq!((shop.received_bytes, shop.sent_bytes, shop.queued_outside), (6, [20, 100, 50], (2, 8)));
        assert_eq!(shop.first_bytes.each_ref().map(Histogram::count), [2, 1, 1]);
        assert_eq!(shop.by_page, [("old", 1), ("hit", 1)]);
        assert_eq!(shop.lanes, [("/reports/**".into(), LaneCounts { requests: 2, busy_nanos: 42, waited_nanos: 14 })]);
        let silent = |at: usize| (&*shop.backends[at].0, shop.backends[at].1.failures[Reason::AppSilent as usize]);
        assert_eq!([silent(0), silent(1)], [("http://a", 0), ("http://b", 1)]);
        assert_eq!(shop.reasons[Reason::AppSilent as usize], 1);
    }

    #[test]
    fn lanes_beyond_the_limit_count_together_and_two_tables_add_up() {
        let (mut one, mut other) = (Apps::default(), Apps::default());
        for number in 0..EACH_MAX + 5 {
            seen(&mut one, &passed("shop", &format!("/{number}"), "http://a", None));
        }
        seen(&mut other, &passed("blog", "", "http://a", None));
        seen(&mut other, &passed("shop", "/3", "http://a", None));
        one.merge(&other);
        let of = |app: &str| one.iter().find(|(name, _)| **name == *app).map(|(_, counts)| counts).unwrap();
        let lane = |name: &str| of("shop").lanes.iter().find(|(lane, _)| **lane == *name).unwrap().1.requests;
        assert_eq!((lane("/3"), lane(OTHER), of("shop").lanes.len()), (2, 5, EACH_MAX + 1));
        assert_eq!((of("shop").backends[0].1.requests, of("blog").by_cache[0].1), ((EACH_MAX + 6) as u64, 1));
        assert_eq!(of("shop").first_bytes[0].count(), (EACH_MAX + 6) as u64);
    }
}
