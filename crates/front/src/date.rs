//! The `Date` header. Its text is made once a second.

use http::HeaderValue;
use std::cell::RefCell;
use std::time::{Duration, UNIX_EPOCH};
use telemetry::Millis;

/// The length of the text (RFC 9110, 5.6.7).
pub(crate) const LEN: usize = 29;

/// The header of one second.
struct Date {
    second: i64,
    text: [u8; LEN],
    value: HeaderValue,
}

/// The text of the header at `now`.
pub(crate) fn text(now: Millis) -> [u8; LEN] {
    at(now, |date| date.text)
}

/// The value of the header at `now`.
pub(crate) fn value(now: Millis) -> HeaderValue {
    at(now, |date| date.value.clone())
}

fn at<T>(now: Millis, read: impl FnOnce(&Date) -> T) -> T {
    const NONE: Date = Date { second: i64::MIN, text: [b' '; LEN], value: HeaderValue::from_static("") };
    thread_local!(static MADE: RefCell<Date> = const { RefCell::new(NONE) });
    let second = now.0.div_euclid(1_000);
    MADE.with_borrow_mut(|date| {
        if date.second != second {
            let since = Duration::from_secs(u64::try_from(second).unwrap_or(0));
            let text = httpdate::fmt_http_date(UNIX_EPOCH + since);
            let value = HeaderValue::from_str(&text).unwrap_or(NONE.value);
            *date = Date { second, text: text.as_bytes().first_chunk().copied().unwrap_or(NONE.text), value };
        }
        read(date)
    })
}
