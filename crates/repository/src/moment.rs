//! Moments as clients write them.

mod value;

pub use value::Moment;
pub(crate) use value::{known, shown, some};

use crate::as_of::AsOf;
use crate::error::{Error, Result};
use format::koji::model::EventId;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use store::Seq;
use telemetry::{Event, Millis};

/// Reads `2026-11-01T12:00:00Z`. The zone and the time of day may be missing; the zone is UTC then.
pub fn read(text: &str) -> Result<Millis> {
    let zoned = text.parse::<jiff::Timestamp>();
    let at = zoned.or_else(|_| {
        let civil = text.parse::<DateTime>()?;
        civil.to_zoned(TimeZone::UTC).map(|at| at.timestamp())
    });
    let at = at.map_err(|_| {
        let text = Event::text(text);
        Error::Input(format!("`{text}` is not an ISO 8601 moment, such as `2026-11-01` or `2026-11-01T12:00:00Z`"))
    })?;
    Ok(Millis(at.as_millisecond()))
}

/// Reads the moment of an as-of request: `2026-11-01`, the end of that day in UTC; `2026-11-01T12:00:00Z`; `seq-7`,
/// directly after change 7 of the journal; `koji-18`, as Koji had it at its event 18.
pub fn as_of(text: &str) -> Result<AsOf> {
    let number = |digits: &str| digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let day = |text: &str| text.parse::<Date>().ok().filter(|_| text.len() == "2026-11-01".len());
    if let Some(change) = text.strip_prefix("seq-").and_then(number) {
        return Ok(AsOf::Change(Seq(change)));
    }
    if let Some(event) = text.strip_prefix("koji-").and_then(number) {
        return Ok(AsOf::Koji(EventId(event)));
    }
    if let Some(day) = day(text) {
        let end = day.to_datetime(Time::MAX).to_zoned(TimeZone::UTC);
        let end = end.map_err(|_| Error::Input(format!("`{}` is no day", Event::text(text))))?;
        return Ok(AsOf::Moment(Millis(end.timestamp().as_millisecond())));
    }
    match read(text) {
        Ok(moment) => Ok(AsOf::Moment(moment)),
        Err(_) => Err(Error::Input(format!(
            "`{}` is neither a day (`2026-11-01`), nor a moment (`2026-11-01T12:00:00Z`), nor a change (`seq-7`), nor an event of Koji (`koji-18`)",
            Event::text(text)
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_of_is_the_end_of_a_day_or_a_moment_or_a_change() {
        let moment = |at| AsOf::Moment(Millis(at));
        assert_eq!(as_of("2026-11-01").unwrap(), moment(1_793_577_599_999));
        assert_eq!(as_of("2026-11-01T12:00:00Z").unwrap(), moment(1_793_534_400_000));
        assert_eq!(as_of("2026-11-01T14:00:00+02:00").unwrap(), moment(1_793_534_400_000));
        assert_eq!(as_of("seq-0").unwrap(), AsOf::Change(Seq(0)));
        assert_eq!(as_of("koji-18").unwrap(), AsOf::Koji(EventId(18)));
        for bad in
            ["", "koji-", "koji-x", "seq-", "seq-+1", "seq--1", "2026-13-01", "2026-11", "yesterday", "9999-12-31"]
        {
            assert!(as_of(bad).is_err(), "{bad}");
        }
    }

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
