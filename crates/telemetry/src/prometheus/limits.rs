//! The limits of OpenTelemetry for durations, in seconds. All of them are counted exactly.

use crate::histogram::durations::LIMITS;

/// The limits for durations of HTTP requests and of look-ups of names.
pub(super) const REQUEST: &[&str] =
    &["0.005", "0.01", "0.025", "0.05", "0.075", "0.1", "0.25", "0.5", "0.75", "1", "2.5", "5", "7.5", "10"];
/// The limits for durations of operations of databases.
pub(super) const DATABASE: &[&str] = &["0.001", "0.005", "0.01", "0.05", "0.1", "0.5", "1", "5", "10"];

/// The counts up to the limits of that list.
pub(super) fn only<'a>(
    wanted: &'a [&'static str],
    up_to: impl Iterator<Item = (u64, u64)> + 'a,
) -> impl Iterator<Item = (&'static str, u64)> + 'a {
    let all = LIMITS.iter().zip(up_to).map(|((_, text), (_, count))| (*text, count));
    all.filter(|(text, _)| wanted.contains(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::durations::Durations;

    #[test]
    fn all_limits_of_opentelemetry_are_counted_exactly() {
        for wanted in [REQUEST, DATABASE] {
            let limits: Vec<&str> = only(wanted, Durations::default().up_to()).map(|(text, _)| text).collect();
            assert_eq!(limits, wanted);
        }
    }
}
