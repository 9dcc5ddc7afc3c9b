//! Moments as clients write them.

use crate::error::Error;
use telemetry::{Event, Millis};

/// `2026-11-01T12:00:00Z`, or without a zone or a time of day: then in UTC.
pub(crate) fn read(text: &str) -> Result<Millis, Error> {
    let zoned = text.parse::<jiff::Timestamp>();
    let at = zoned.or_else(|_| {
        let civil = text.parse::<jiff::civil::DateTime>()?;
        civil.to_zoned(jiff::tz::TimeZone::UTC).map(|at| at.timestamp())
    });
    let at = at.map_err(|_| Error::Input(format!("`{}` is not an ISO 8601 moment", Event::text(text))))?;
    Ok(Millis(at.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_with_and_without_a_zone() {
        for (text, at) in [
            ("2026-11-01T12:00:00Z", 1_793_534_400_000),
            ("2026-11-01T14:00:00+02:00", 1_793_534_400_000),
            ("2026-11-01T12:00", 1_793_534_400_000),
            ("2026-11-01", 1_793_491_200_000),
        ] {
            assert_eq!(read(text).unwrap(), Millis(at), "{text}");
        }
        assert!(read("tomorrow").is_err());
    }
}
