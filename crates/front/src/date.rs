//! The `Date` header. Its text is made once a second.

use http::HeaderValue;
use std::cell::RefCell;
use telemetry::Millis;

/// The value of the header at `now`.
pub(crate) fn at(now: Millis) -> HeaderValue {
    thread_local! {
        static MADE: RefCell<(i64, HeaderValue)> =
            const { RefCell::new((i64::MIN, HeaderValue::from_static(""))) };
    }
    let second = now.0.div_euclid(1_000);
    MADE.with_borrow_mut(|(made, value)| {
        if *made != second {
            let since = std::time::Duration::from_secs(u64::try_from(second).unwrap_or(0));
            let text = httpdate::fmt_http_date(std::time::UNIX_EPOCH + since);
            (*made, *value) = (second, HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("")));
        }
        value.clone()
    })
}
