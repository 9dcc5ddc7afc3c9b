//! How large a pool would have to be, from how much of it was wanted at once.

use telemetry::Histogram;

/// The part of the seconds in which a pool is full that the size is enough for. The rest are its busiest ones.
const SECONDS: f64 = 0.95;

/// The places that leave nearly no wait. `demands`: what was in use and what was waited for, in each second in which all places were taken.
/// Clients that wait send no further requests, so this and not the rate of arrival tells how much is wanted. Arrivals vary by the square
/// root of their number, so twice that is added (square-root staffing; Halfin and Whitt, 1981).
pub(super) fn places(capacity: u64, demands: &Histogram) -> u64 {
    ample(demands.quantile(SECONDS) as f64).max(capacity + 1)
}

/// The places for a demand on average, with a reserve.
pub(super) fn ample(wanted: f64) -> u64 {
    (wanted + 2.0 * wanted.sqrt()).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_is_what_was_wanted_in_nearly_all_seconds_and_a_reserve() {
        let pool = |wanted: &[u64]| {
            let mut demands = Histogram::default();
            wanted.iter().for_each(|wanted| demands.record(*wanted));
            places(2, &demands)
        };
        assert_eq!((pool(&[64; 10]), pool(&[9; 100]), pool(&[])), (79, 15, 3));
    }
}
