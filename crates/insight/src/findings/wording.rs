//! Figures as sentences have them.

use crate::signals::window::Window;

/// Seconds: `340 s`, `2.4 s`, `0.08 s`.
pub(crate) fn seconds(seconds: f64) -> String {
    let digits = match seconds.abs() {
        few if few < 1.0 => 2,
        some if some < 10.0 => 1,
        _ => 0,
    };
    format!("{seconds:.digits$} s")
}

/// A time that may be long: `45 s`, `12 min`, `3 h`.
pub(crate) fn time(seconds: f64) -> String {
    match seconds {
        short if short < 120.0 => format!("{short:.0} s"),
        some if some < 7200.0 => format!("{:.0} min", some / 60.0),
        long => format!("{:.0} h", long / 3600.0),
    }
}

/// A share of 0 to 1: `91 %`.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent >= 10.0 || percent == 0.0 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}

/// The length of a window: `five minutes`, or less while the server is young.
pub(crate) fn length(window: &Window) -> String {
    if window.seconds() < 290.0 { time(window.seconds()) } else { "five minutes".to_owned() }
}

/// Three digits after the point, as the API has them.
pub(crate) fn round(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

/// A number with the noun that it counts: `1 call`, `2 calls`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_as_many_digits_as_people_read() {
        assert_eq!([0.084, 2.44, 340.2].map(seconds), ["0.08 s", "2.4 s", "340 s"]);
        assert_eq!([45.0, 700.0, 11_000.0].map(time), ["45 s", "12 min", "3 h"]);
        assert_eq!([0.914, 0.015, 0.0].map(percent), ["91 %", "1.5 %", "0 %"]);
        assert_eq!([1, 2].map(|n| count(n, "call")), ["1 call", "2 calls"]);
    }
}
