//! Sizes as people read and set them.

/// An amount of bytes with a unit: `1.5 MiB`.
pub(crate) fn show(bytes: u64) -> String {
    let units = [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / unit as f64),
        None => format!("{bytes} bytes"),
    }
}

/// The next number that has at most four significant bits, so that a setting is not more exact than the estimate: at most 1/8 larger.
pub(super) fn round_up(number: f64) -> u64 {
    let number = number.ceil().clamp(1.0, 1e18) as u64;
    let unit = 1 << number.ilog2().saturating_sub(3);
    number.next_multiple_of(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_a_unit_and_settings_are_round() {
        assert_eq!([700, 1536, 5 << 20].map(show), ["700 bytes", "1.5 KiB", "5.0 MiB"]);
        assert_eq!([1.0, 7.2, 1000.0, 1e9].map(round_up), [1, 8, 1024, 15 << 26]);
        assert_eq!(round_up(70e6), 72 << 20);
    }
}
