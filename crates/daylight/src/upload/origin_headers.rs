//! The headers of an upload that claim when and by whom it was published on another server.

use crate::access;
use crate::access::Caller;
use crate::error::{Error, Result};
use http::{HeaderMap, HeaderName};
use repository::OriginClaim;
use std::time::UNIX_EPOCH;
use telemetry::{Event, Millis};

/// When it was published there: a moment of RFC 3339 or an HTTP date.
const PUBLISHED: HeaderName = HeaderName::from_static("daylight-published");
/// Who published it there.
const PUBLISHED_BY: HeaderName = HeaderName::from_static("daylight-published-by");
/// Most bytes of a publisher's name.
const LONGEST_NAME: usize = 256;
/// 1990: no package of today was published before. Tools that leave out dates write 1970 or 1980.
const EARLIEST: Millis = Millis(631_152_000_000);

/// The claim in the headers of an upload. Only an admin may claim it: a publisher could otherwise get around a cooldown.
pub(crate) fn read(headers: &HeaderMap, caller: &Caller) -> Result<Option<OriginClaim>> {
    let (at, by) = (one(headers, &PUBLISHED)?, one(headers, &PUBLISHED_BY)?);
    let Some(at) = at else {
        return by.map_or(Ok(None), |_| Err(wrong("`Daylight-Published-By` needs `Daylight-Published` beside it")));
    };
    if !caller.actor().admin {
        return Err(Error::Access(access::Error::OriginNotAllowed(caller.name().to_owned())));
    }
    Ok(Some(OriginClaim { at: moment(at)?, by: by.map(name).transpose()? }))
}

/// The value of a header that comes once at most.
fn one<'a>(headers: &'a HeaderMap, header: &HeaderName) -> Result<Option<&'a str>> {
    let mut values = headers.get_all(header).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(wrong(&format!("the header `{header}` comes twice")));
    }
    let text = std::str::from_utf8(value.as_bytes()).map_err(|_| wrong(&format!("`{header}` is not UTF-8")))?;
    Ok(Some(text.trim()))
}

fn moment(text: &str) -> Result<Millis> {
    let at = read_moment(text)?;
    match at < EARLIEST {
        true => Err(wrong(&format!(
            "`Daylight-Published` is `{}`, which is before 1990: leave it out where the moment is not known",
            Event::text(text)
        ))),
        false => Ok(at),
    }
}

fn read_moment(text: &str) -> Result<Millis> {
    if let Ok(at) = text.parse::<jiff::Timestamp>() {
        return Ok(Millis(at.as_millisecond()));
    }
    let at = httpdate::parse_http_date(text).ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let at = at.and_then(|at| i64::try_from(at.as_millis()).ok());
    at.map(Millis).ok_or_else(|| {
        wrong(&format!(
            "`Daylight-Published` is `{}`, and neither a moment of RFC 3339 (`2024-05-01T12:00:00Z`) nor an HTTP date",
            Event::text(text)
        ))
    })
}

fn name(text: &str) -> Result<String> {
    match text {
        "" => Err(wrong("`Daylight-Published-By` is empty")),
        _ if text.len() > LONGEST_NAME => {
            Err(wrong(&format!("`Daylight-Published-By` is longer than {LONGEST_NAME} bytes")))
        }
        _ if text.chars().any(char::is_control) => Err(wrong("`Daylight-Published-By` contains a control character")),
        name => Ok(name.to_owned()),
    }
}

fn wrong(text: &str) -> Error {
    Error::Input(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_have_a_zone_or_are_dates_of_http() {
        for text in ["2024-05-01T12:00:00Z", "2024-05-01T14:00:00+02:00", "Wed, 01 May 2024 12:00:00 GMT"] {
            assert_eq!(moment(text).unwrap(), Millis(1_714_564_800_000), "{text}");
        }
        for text in ["", "yesterday", "2024-05-01", "2024-05-01T12:00:00", "1714564800"] {
            assert!(moment(text).unwrap_err().to_string().contains("RFC 3339"), "{text}");
        }
    }

    #[test]
    fn moments_of_another_age_are_refused() {
        for text in [
            "1989-12-31T23:59:59Z",
            "1969-12-31T23:59:59Z",
            "-000044-03-15T12:00:00Z",
            "Tue, 01 Jan 1980 00:00:00 GMT",
            "Thu, 01 Jan 1970 00:00:00 GMT",
        ] {
            assert!(moment(text).unwrap_err().to_string().contains("before 1990"), "{text}");
        }
        assert_eq!(moment("1990-01-01T00:00:00Z").unwrap(), EARLIEST);
    }

    #[test]
    fn a_publisher_has_a_short_name_without_control_characters() {
        assert_eq!(name("Ann Example").unwrap(), "Ann Example");
        for text in ["", "a\u{7}b", "a\u{85}b", &"a".repeat(LONGEST_NAME + 1)] {
            assert!(name(text).is_err(), "{text:?}");
        }
    }
}
