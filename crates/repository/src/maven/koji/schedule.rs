//! When looks at a hub are due, and what one leaves for the next.

use crate::maven::koji::look::memory::Memory;
use crate::record::KojiRecord;
use crate::upstream::failure::Failure;
use format::koji::model::BuildId;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};
use store::Origin;
use telemetry::{Millis, lock};

/// The interval between two looks while clients use the repository, in milliseconds.
pub(crate) const LOOK_EVERY_MS: i64 = 60_000;
/// A repository that no client used for this number of milliseconds, 30 days, or since the start, is looked at less
/// often.
pub(crate) const PAUSED_AFTER_MS: i64 = 30 * 86_400_000;
/// The interval for such a repository, in milliseconds: half an hour.
pub(crate) const IDLE_EVERY_MS: i64 = 1_800_000;
/// A build is asked about at most once in this number of milliseconds.
const BUILD_EVERY_MS: i64 = 60_000;
/// After a look failed, a repository without a map is looked at again after this number of milliseconds, whatever its
/// clients ask.
pub(crate) const FIRST_AGAIN_MS: i64 = 10_000;
/// Maximum number of builds that were asked about lately.
const BUILDS_MAX: usize = 10_000;

/// The state of the looks at one hub.
#[derive(Debug, Default)]
pub(crate) struct Following {
    /// The upstream and what the last look left.
    memory: Mutex<Option<(Origin, Memory)>>,
    /// The settings of the last look, whether it succeeded or not. Before the first one since the start: the settings
    /// before they were changed.
    settings: Mutex<Option<KojiRecord>>,
    /// When a client last used the repository; 0: not since the start.
    asked: AtomicI64,
    /// When the time of looks without clients began.
    idle: AtomicI64,
    /// The number of failed looks, and why the last one failed.
    failures: Mutex<Failures>,
    /// The builds that the hub was asked about, and when.
    builds: Mutex<HashMap<BuildId, Millis>>,
}

/// Failed looks.
#[derive(Debug, Default)]
struct Failures {
    count: u64,
    /// The last one, of which upstream and when.
    last: Option<(Failure, Origin, Millis)>,
}

impl Following {
    /// Records that a client uses the repository.
    pub(crate) fn ask(&self, now: Millis) {
        self.asked.fetch_max(now.0, Ordering::Relaxed);
    }

    /// Whether a client used it since then.
    pub(crate) fn was_asked_since(&self, since: Millis) -> bool {
        let asked = self.asked.load(Ordering::Relaxed);
        asked > 0 && asked >= since.0
    }

    /// Whether a repository without clients has to be looked at. At a start the time until the first such look begins.
    pub(crate) fn is_idle_look_due(&self, now: Millis) -> bool {
        let last = self.idle.load(Ordering::Relaxed);
        // After the clock was set back, the time begins again.
        if last > 0 && last <= now.0 && now.0 - last < IDLE_EVERY_MS {
            return false;
        }
        self.idle.store(now.0, Ordering::Relaxed);
        last > 0 && last <= now.0
    }

    /// What the last look left.
    pub(crate) fn memory(&self, origin: Origin) -> Memory {
        let memory = lock(&self.memory).clone();
        memory.filter(|(of, _)| *of == origin).map(|(_, memory)| memory).unwrap_or_default()
    }

    /// Keeps what a look leaves.
    pub(crate) fn remember(&self, origin: Origin, memory: Memory) {
        *lock(&self.memory) = Some((origin, memory));
    }

    /// Discards it: the next look lists each tag again.
    pub(crate) fn forget(&self) {
        *lock(&self.memory) = None;
    }

    /// Records the settings of a look that begins.
    pub(crate) fn begin(&self, record: &KojiRecord) {
        *lock(&self.settings) = Some(record.clone());
    }

    /// Records the settings before a change.
    pub(crate) fn change_settings(&self, before: &KojiRecord) {
        lock(&self.settings).get_or_insert_with(|| before.clone());
    }

    /// Whether the last look had other settings.
    pub(crate) fn has_other_settings(&self, record: &KojiRecord) -> bool {
        lock(&self.settings).as_ref().is_some_and(|last| last != record)
    }

    /// The number of failed looks.
    pub(crate) fn failures(&self) -> u64 {
        lock(&self.failures).count
    }

    /// The failure of the last look at this upstream, if it is later than that number.
    pub(crate) fn failure_after(&self, origin: Origin, failures: u64) -> Option<Failure> {
        let all = lock(&self.failures);
        let last = all.last.as_ref().filter(|(_, of, _)| *of == origin && all.count > failures);
        last.map(|(failure, ..)| failure.clone())
    }

    /// Records a failed look.
    pub(crate) fn fail(&self, failure: Failure, origin: Origin, now: Millis) {
        let mut all = lock(&self.failures);
        (all.count, all.last) = (all.count + 1, Some((failure, origin, now)));
    }

    /// The failure of a look at this upstream that is too recent for another first one: clients that come again and
    /// again do not decide how often a hub is called.
    pub(crate) fn recent_failure(&self, origin: Origin, now: Millis) -> Option<Failure> {
        let all = lock(&self.failures);
        let recent = |at: Millis| at <= now && now.0 - at.0 < FIRST_AGAIN_MS;
        let last = all.last.as_ref().filter(|(_, of, at)| *of == origin && recent(*at));
        last.map(|(failure, ..)| failure.clone())
    }

    /// Whether the hub may be asked about a build now.
    pub(crate) fn may_ask_about(&self, build: BuildId, now: Millis) -> bool {
        let mut builds = lock(&self.builds);
        builds.retain(|_, at| *at <= now && now.0 - at.0 < BUILD_EVERY_MS);
        if builds.contains_key(&build) || builds.len() >= BUILDS_MAX {
            return false;
        }
        builds.insert(build, now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::RepositoryId;
    use telemetry::Reason;

    #[test]
    fn other_settings_need_one_look_also_before_the_first_since_the_start_and_if_it_fails() {
        let record = |tag: &str| KojiRecord {
            hub: String::new(),
            files: String::new(),
            tags: vec![tag.to_owned()],
            inherit: false,
            duplicates: None,
        };
        let following = Following::default();
        assert!(!following.has_other_settings(&record("a")), "nothing was changed since the start");
        following.change_settings(&record("a"));
        following.change_settings(&record("b"));
        assert!(following.has_other_settings(&record("b")) && !following.has_other_settings(&record("a")));
        following.begin(&record("b"));
        assert!(!following.has_other_settings(&record("b")), "it is tried once, and then as usual");
        assert!(following.has_other_settings(&record("c")));
    }

    #[test]
    fn a_build_is_asked_about_once_in_a_minute() {
        let following = Following::default();
        let may = |build, at| following.may_ask_about(BuildId(build), Millis(at));
        assert!(may(1, 0) && !may(1, 59_999) && may(2, 59_999) && may(1, 60_000));
        assert!(may(1, 10), "the clock was set back");
    }

    #[test]
    fn after_a_failed_look_no_client_starts_another_first_one_for_ten_seconds() {
        let following = Following::default();
        let (one, other) = (Origin::of_all(RepositoryId(1), &["a"]), Origin::of_all(RepositoryId(1), &["b"]));
        following.fail(Failure::new(Reason::UpstreamFailed, String::new()), one, Millis(5));
        let is_recent = |of, at| following.recent_failure(of, Millis(at)).is_some();
        assert!(is_recent(one, 5) && is_recent(one, 10_004) && !is_recent(one, 10_005));
        assert!(following.failure_after(one, 0).is_some() && following.failure_after(other, 0).is_none());
        assert!(!is_recent(other, 5) && !is_recent(one, 4), "another upstream, and a clock that was set back");
    }

    #[test]
    fn a_repository_without_clients_is_looked_at_every_half_hour() {
        let (following, at) = (Following::default(), Millis);
        assert!(!following.is_idle_look_due(at(1)) && !following.is_idle_look_due(at(IDLE_EVERY_MS)));
        assert!(following.is_idle_look_due(at(IDLE_EVERY_MS + 1)));
        assert!(!following.was_asked_since(at(0)));
        following.ask(at(5));
        assert!(following.was_asked_since(at(5)) && !following.was_asked_since(at(6)));
    }
}
