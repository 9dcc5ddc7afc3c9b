//! When each request of a recording is sent again, and how many connections that needs.

use super::recording::Recording;
use crate::cli::failure::Failure;
use crate::cli::open_loop::Planned;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

/// The longest replay. A recording with a wrong moment would last for years.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// The moments of the requests, with the recorded distances divided by `speed`.
pub(super) fn plan(recording: &Recording, speed: f64) -> Result<Vec<Planned>, Failure> {
    let time = recording.time().as_secs_f64() / speed;
    if time > LONGEST.as_secs_f64() {
        let text = format!("the replay would take {:.0} hours, and at most 24 are possible", time / 3600.0);
        return Err(Failure::new(text, Some("`--speed` makes it shorter".to_owned())));
    }
    let first = recording.requests.first().map_or(0, |request| request.at);
    let planned = recording.requests.iter().map(|request| {
        let millis = request.at.saturating_sub(first).unsigned_abs() as f64;
        Planned { at: Duration::from_secs_f64(millis / 1000.0 / speed), alone: false }
    });
    Ok(planned.collect())
}

/// How many of the recorded requests were under way at the same time, if they began as planned.
pub(super) fn at_once(recording: &Recording, planned: &[Planned]) -> usize {
    let (mut ends, mut most) = (BinaryHeap::new(), 0);
    for (request, planned) in recording.requests.iter().zip(planned) {
        while ends.peek().is_some_and(|Reverse(end)| *end <= planned.at) {
            ends.pop();
        }
        ends.push(Reverse(planned.at.saturating_add(Duration::from_nanos(request.duration))));
        most = most.max(ends.len());
    }
    most
}

#[cfg(test)]
mod tests {
    use super::super::recording::Against;
    use super::*;

    /// A recording of requests with these moments and durations, in milliseconds.
    fn recording(requests: &[(i64, u64)]) -> Recording {
        let line = |(at, duration): &(i64, u64)| {
            let at = telemetry::Millis(*at);
            format!(
                r#"{{"at":"{at}","kind":"request","method":"GET","path":"/repository/m/a","status":200,"duration_ms":{duration}}}"#
            )
        };
        let lines: Vec<String> = requests.iter().map(line).collect();
        Recording::read(lines.join("\n").as_bytes(), Against { url: "http://here.test", has_token: false }).unwrap()
    }

    #[test]
    fn a_replay_keeps_the_distances_and_is_so_many_times_as_fast() {
        let recording = recording(&[(1_000, 10), (1_500, 10), (4_000, 10)]);
        for speed in [1.0, 2.0, 0.5] {
            let moments: Vec<Duration> = plan(&recording, speed).unwrap().iter().map(|planned| planned.at).collect();
            assert_eq!(moments, [0.0, 0.5, 3.0].map(|seconds| Duration::from_secs_f64(seconds / speed)));
        }
    }

    #[test]
    fn requests_that_overlap_need_a_connection_each_and_more_of_them_when_they_come_faster() {
        let recording = recording(&[(0, 100), (50, 100), (149, 10), (150, 10), (1_000, 10)]);
        let at_once = |speed| at_once(&recording, &plan(&recording, speed).unwrap());
        assert_eq!((at_once(1.0), at_once(1000.0)), (2, 5));
        assert_eq!(super::at_once(&Recording::default(), &[]), 0);
    }

    #[test]
    fn a_recording_of_years_is_refused_unless_it_is_replayed_faster() {
        let recording = recording(&[(0, 1), (400 * 86_400_000, 1)]);
        assert!(plan(&recording, 1.0).unwrap_err().to_string().contains("at most 24"));
        assert_eq!(plan(&recording, 1000.0).unwrap().len(), 2);
    }
}
