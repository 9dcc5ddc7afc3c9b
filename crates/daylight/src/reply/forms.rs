//! Replies to forms: the form once more, and the way on.

use crate::error::Error;
use crate::reply::status;
use front::Reply;
use http::StatusCode;
use http::header::{self, HeaderValue};

/// A browser shows no window for a scheme that it does not know, so people see the page.
const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer realm=\"Daylight\"");

/// The page with a form once more, with the status of the error that it shows.
pub(crate) fn form_again(mut page: Reply, error: &Error) -> Reply {
    page.status = status::of(error);
    if page.status == StatusCode::UNAUTHORIZED {
        page.headers.insert(header::WWW_AUTHENTICATE, CHALLENGE);
    }
    page
}

/// Sends a browser to a path of this server with GET, and sets a cookie.
pub(crate) fn go_to(path: &str, cookie: &str) -> Reply {
    let mut reply = Reply::new(StatusCode::SEE_OTHER);
    let headers = &mut reply.headers;
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    super::put(headers, header::LOCATION, path.to_owned());
    super::put(headers, header::SET_COOKIE, cookie.to_owned());
    reply
}
