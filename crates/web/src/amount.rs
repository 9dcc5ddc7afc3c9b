//! Sizes as people read them.

/// Bytes in the largest decimal unit that keeps the number above one, with two digits or more.
pub(crate) fn amount(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    let (mut unit, mut scale) = (None, 1_u64);
    for name in UNITS {
        if bytes / scale < 1000 {
            break;
        }
        (unit, scale) = (Some(name), scale * 1000);
    }
    let Some(unit) = unit else { return format!("{bytes} B") };
    let tenths = bytes / (scale / 10);
    match tenths {
        ..100 => format!("{}.{} {unit}", tenths / 10, tenths % 10),
        _ => format!("{} {unit}", tenths / 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_has_two_digits_or_more_and_never_a_thousand() {
        for (bytes, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 kB"),
            (9_999, "9.9 kB"),
            (10_000, "10 kB"),
            (999_999, "999 kB"),
            (1_000_000, "1.0 MB"),
            (12_345_678_901, "12 GB"),
            (u64::MAX, "18446 PB"),
        ] {
            assert_eq!(amount(bytes), text);
        }
    }
}
