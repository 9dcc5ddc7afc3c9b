//! Everything that can fill up is filled once on purpose. Its figures say so, and name the setting that governs it.

mod caches;
mod connections;
mod pools;
mod upstream_caches;
mod work;

use crate::objects;
use crate::world::{Upstream, World};
use telemetry::{BoundName, CacheName, PoolName, Unit};

/// The figures of a server.
struct Figures(String);

impl Figures {
    fn of(world: &World) -> Self {
        Self(world.admin().get("/metrics").expect(200).text().to_owned())
    }

    /// The value of a series.
    #[track_caller]
    fn value(&self, series: &str) -> f64 {
        let line =
            self.0.lines().find_map(|line| line.strip_prefix("daylight_")?.strip_prefix(series)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("there is no {series}")).parse().unwrap()
    }

    /// Whether there is such a series.
    fn has(&self, series: &str) -> bool {
        self.0
            .lines()
            .any(|line| line.strip_prefix("daylight_").is_some_and(|line| line.starts_with(&format!("{series} "))))
    }

    fn bound(&self, name: BoundName, which: &str) -> Filled {
        let unit = if name.unit() == Unit::Bytes { "_bytes" } else { "" };
        let value = |family: &str| self.value(&format!("{family}{{bound=\"{}\",which=\"{which}\"}}", name.as_str()));
        let [limit, used, peak] = ["limit", "used", "peak"].map(|family| value(&format!("bound_{family}{unit}")));
        Filled { limit, used, peak, rejected: value("bound_rejected_total") }
    }

    /// The label of the bounds of an upstream's host.
    #[track_caller]
    fn number_of(&self, upstream: &Upstream) -> String {
        let series = format!("daylight_upstream_info{{host=\"{}\",number=\"", upstream.address());
        let number = self.0.lines().find_map(|line| line.strip_prefix(&series)?.split('"').next());
        number.unwrap_or_else(|| panic!("the host was not called")).to_owned()
    }

    /// Checks that the figures name this setting for a bound.
    #[track_caller]
    fn governed(&self, name: BoundName, which: &str, setting: &str) -> &Self {
        let name = name.as_str();
        self.value(&format!("bound_info{{bound=\"{name}\",which=\"{which}\",setting=\"{setting}\"}}"));
        self
    }

    #[track_caller]
    fn cache(&self, cache: CacheName) -> Lookups {
        let name = cache.as_str();
        if let Some(setting) = cache.setting() {
            self.value(&format!("cache_info{{cache=\"{name}\",setting=\"{setting}\"}}"));
        }
        let value = |family: &str| self.value(&format!("cache_{family}{{cache=\"{name}\"}}"));
        let missed = |kind: &str| self.value(&format!("cache_misses_total{{cache=\"{name}\",kind=\"{kind}\"}}"));
        Lookups {
            hits: value("hits_total"),
            absent: missed("absent"),
            refused: missed("refused"),
            stale: missed("stale"),
            inserts: value("inserts_total"),
            evictions: value("evictions_total"),
        }
    }

    fn pool(&self, pool: PoolName, family: &str) -> f64 {
        self.value(&format!("pool_{family}{{pool=\"{}\"}}", pool.as_str()))
    }
}

/// The figures of a bound.
#[derive(Debug, Clone, Copy)]
struct Filled {
    limit: f64,
    used: f64,
    peak: f64,
    rejected: f64,
}

/// The figures of a cache.
#[derive(Debug, Clone, Copy)]
struct Lookups {
    hits: f64,
    absent: f64,
    refused: f64,
    stale: f64,
    inserts: f64,
    evictions: f64,
}

/// Whether only `daylight front` has this bound; `front::passing` looks at it there.
pub(crate) fn is_of_applications(bound: BoundName) -> bool {
    bound.as_str().starts_with("app.")
}

#[test]
fn a_server_shows_every_bound_that_is_not_of_a_host_every_cache_and_every_pool() {
    // A queue to a receiver is there only if the receiver is, and what object storage has only if it is set. Nobody listens at these.
    let receivers = "[telemetry]\notlp_url = \"http://127.0.0.1:9\"\n\n\
         [[alerts.to]]\nname = \"ours\"\nkind = \"alertmanager\"\nurl = \"http://127.0.0.1:9\"\n";
    let world = World::start_with_file_and(&format!("{}\n{receivers}", objects::NOWHERE), &[objects::NOWHERE_KEYS]);
    let figures = Figures::of(&world);
    let of_a_host = [BoundName::UpstreamCalls, BoundName::UpstreamKept];
    for bound in BoundName::ALL.iter().filter(|bound| !of_a_host.contains(bound) && !is_of_applications(**bound)) {
        assert!(figures.0.contains(&format!("daylight_bound_info{{bound=\"{}\"", bound.as_str())), "{bound:?}");
    }
    for cache in CacheName::ALL.iter().filter(|cache| !is_of_applications(cache.bound())) {
        figures.cache(*cache);
        let in_bytes = cache.bound().unit() == Unit::Bytes;
        assert_eq!(figures.has(&format!("cache_bytes{{cache=\"{}\"}}", cache.as_str())), in_bytes, "{cache:?}");
    }
    for pool in PoolName::ALL {
        assert!(figures.pool(*pool, "threads") >= 1.0, "{pool:?}");
    }
}
