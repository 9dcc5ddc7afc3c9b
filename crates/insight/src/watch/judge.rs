//! Judges whether serving stands still, from sights, four in a second. It knows no clock: a stopped process or a machine
//! without processors makes all times longer, those of the watch as well, and that time is left out.

use super::loops::LoopSight;
use std::time::Duration;

/// The longest time that counts between two looks. The rest was taken from this thread.
const COUNTS_MAX: Duration = Duration::from_millis(500);
/// Requests wait, and for this long none was answered and no byte came or went.
const REQUESTS_AFTER: Duration = Duration::from_secs(10);
/// The same while the process works: something large may be rendered, read or hashed.
const WORKING_AFTER: Duration = Duration::from_secs(60);
/// The share of a processor from which the process works.
const WORKING_SHARE: f64 = 0.5;
/// A loop that answers clients is silent for this long.
pub(super) const LOOP_AFTER: Duration = Duration::from_secs(4);
/// The loop of jobs, for which no client waits but followers of downloads.
const BACK: &str = "back";
/// A probe has no answer for this long.
const PROBE_AFTER: Duration = Duration::from_secs(5);

/// What was seen.
#[derive(Debug, Clone, Default)]
pub(super) struct Sight {
    /// The time since the last look.
    pub(super) elapsed: Duration,
    /// The loops.
    pub(super) loops: Vec<LoopSight>,
    /// Requests for content that have ended since the start.
    pub(super) served: u64,
    /// Bytes that came and went for the open requests.
    pub(super) bytes: u64,
    /// Open requests that wait for the server.
    pub(super) open: u64,
    /// The processor time of the process.
    pub(super) worked: Duration,
    /// A probe is under way.
    pub(super) asking: bool,
    /// Probes that were answered.
    pub(super) answered: u64,
}

/// What stands still, and for how long.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Standstill {
    pub(super) what: String,
    pub(super) time: Duration,
}

/// How long everything has been as it is.
#[derive(Debug, Default)]
pub(super) struct Judge {
    last: Sight,
    requests: Duration,
    /// The processor time of the process when requests began to wait.
    worked: Duration,
    probe: Duration,
    /// The silence of each loop, in the order of the loops.
    loops: Vec<(String, Duration)>,
}

impl Judge {
    /// Judges the present sight. `None`: serving goes on.
    pub(super) fn look(&mut self, sight: Sight) -> Option<Standstill> {
        let counts = sight.elapsed.min(COUNTS_MAX);
        let moved = sight.served != self.last.served || sight.bytes != self.last.bytes;
        if sight.open == 0 || self.last.open == 0 || moved {
            (self.requests, self.worked) = (Duration::ZERO, sight.worked);
        } else {
            self.requests += counts;
        }
        let unanswered = sight.asking && self.last.asking && sight.answered == self.last.answered;
        self.probe = if unanswered { self.probe + counts } else { Duration::ZERO };
        self.loops = sight.loops.iter().map(|one| (one.name.clone(), self.silence(one, counts))).collect();
        let works =
            sight.worked.saturating_sub(self.worked).as_secs_f64() > WORKING_SHARE * self.requests.as_secs_f64();
        let requests_after = if works { WORKING_AFTER } else { REQUESTS_AFTER };
        self.last = sight;
        let still = |what: &str, time: Duration, after: Duration| {
            (time >= after).then(|| Standstill { what: what.to_owned(), time })
        };
        let silent = self.loops.iter().filter(|(name, _)| name != BACK).max_by_key(|(_, silent)| *silent);
        let back = self.loops.iter().find(|(name, _)| name == BACK);
        silent
            .and_then(|(name, silent)| still(name, *silent, LOOP_AFTER))
            .or_else(|| back.and_then(|(name, silent)| still(name, *silent, REQUESTS_AFTER)))
            .or_else(|| still("probe", self.probe, PROBE_AFTER))
            .or_else(|| still("requests", self.requests, requests_after))
    }

    fn silence(&self, now: &LoopSight, counts: Duration) -> Duration {
        let before = self.last.loops.iter().find(|one| one.name == now.name);
        if before.is_none_or(|before| before.beats != now.beats) || now.beats == 0 {
            return Duration::ZERO;
        }
        let silent =
            self.loops.iter().find(|(name, _)| *name == now.name).map_or(Duration::ZERO, |(_, silent)| *silent);
        if now.is_starved { silent } else { silent + counts }
    }
}

#[cfg(test)]
mod tests {
    use super::super::loops::EVERY;
    use super::*;

    fn at(beats: u64, change: impl FnOnce(&mut Sight)) -> Sight {
        let loops = vec![LoopSight { name: "core-0".to_owned(), beats, is_starved: false }];
        let mut sight = Sight { elapsed: EVERY, loops, ..Sight::default() };
        change(&mut sight);
        sight
    }

    /// The number of looks until something stands still, and what that is.
    fn looks(most: u64, mut sight: impl FnMut(u64) -> Sight) -> Option<(u64, Standstill)> {
        let mut judge = Judge::default();
        (0..most).find_map(|look| Some((look, judge.look(sight(look))?)))
    }

    #[test]
    fn requests_that_wait_stand_still_after_ten_seconds_without_an_answer_and_without_a_byte() {
        let (look, still) = looks(100, |look| at(look, |sight| sight.open = 3)).unwrap();
        assert_eq!((look, &*still.what, still.time), (40, "requests", REQUESTS_AFTER));
        for moves in [
            (|sight: &mut Sight, look| sight.served = look / 39) as fn(&mut Sight, u64),
            |sight, look| sight.bytes = look / 39,
            |sight, look| sight.open = u64::from(look % 39 > 0),
        ] {
            let moving = |look| {
                at(look, |sight| {
                    sight.open = 3;
                    moves(sight, look);
                })
            };
            assert_eq!(looks(1000, moving), None);
        }
    }

    #[test]
    fn a_process_that_works_may_take_a_minute() {
        let works = |look: u64| at(look, |sight| (sight.open, sight.worked) = (1, Duration::from_millis(130 * look)));
        assert_eq!(looks(1000, works).unwrap().0, 240);
        let idles = |look: u64| at(look, |sight| (sight.open, sight.worked) = (1, Duration::from_millis(100 * look)));
        assert_eq!(looks(1000, idles).unwrap().0, 40);
    }

    #[test]
    fn a_loop_stands_still_after_two_seconds_unless_it_has_no_processor() {
        let (look, still) = looks(100, |_| at(7, |_| {})).unwrap();
        assert_eq!((look, &*still.what, still.time), (16, "core-0", LOOP_AFTER));
        assert_eq!(looks(100, |_| at(7, |sight| sight.loops[0].is_starved = true)), None);
        assert_eq!(looks(100, |_| at(0, |_| {})), None, "it has not begun");
        assert_eq!(looks(100, |look| at(1 + look / 7, |_| {})), None);
    }

    #[test]
    fn a_probe_has_five_seconds() {
        let (look, still) = looks(100, |look| at(look, |sight| sight.asking = true)).unwrap();
        assert_eq!((look, &*still.what, still.time), (20, "probe", PROBE_AFTER));
        let answered = |look: u64| at(look, |sight| (sight.asking, sight.answered) = (true, look / 19));
        assert_eq!(looks(1000, answered), None);
    }

    #[test]
    fn a_process_that_was_stopped_for_twenty_seconds_did_not_stand_still() {
        let mut judge = Judge::default();
        let sight = |seconds| {
            at(7, |sight| {
                (sight.open, sight.asking, sight.elapsed) = (1, true, Duration::from_secs_f64(seconds));
            })
        };
        assert_eq!((0..4).find_map(|_| judge.look(sight(0.25))), None);
        assert_eq!(judge.look(sight(20.0)), None);
        assert_eq!(judge.look(sight(0.25)), None);
    }
}
