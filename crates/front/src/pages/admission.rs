//! What may be a page. Never are: replies to anything but a `GET`, or to a request with a body; other statuses than 200
//! and 404; files and whatever else is not in memory; what says `no-store`, sets a cookie, comes in a coding of its own, or
//! varies by more than credentials and codings; what was asked for by a build; what is too heavy for its shelf; and,
//! as the program takes no stamp for them, lists of names, search, explain, as-of indexes and ropes.

use crate::reply::Body;
use crate::reply::Reply;
use crate::request::Request;
use http::{HeaderMap, Method, StatusCode, header};

/// Whether `request` may be answered by a page.
pub(super) fn may_be_read(request: &Request) -> bool {
    matches!(request.method, Method::GET | Method::HEAD) && request.upload.is_none()
}

/// Whether `reply` to `request`, which may be answered by a page, is of a kind that may become one.
pub(super) fn may_be_kept(request: &Request, reply: &Reply) -> bool {
    request.method == Method::GET
        && matches!(reply.status, StatusCode::OK | StatusCode::NOT_FOUND)
        && matches!(reply.body, Body::Bytes(_))
        && reply.margin.is_zero()
}

/// Whether what a reply says about itself lets it be given to everyone of the same class.
pub(super) fn lets_it_be_kept(headers: &HeaderMap) -> bool {
    const VARY: [&str; 2] = ["authorization", "accept-encoding"];
    let lists = |name, wanted: fn(&str) -> bool| {
        headers
            .get_all(name)
            .iter()
            .all(|line| line.to_str().is_ok_and(|line| line.split(',').all(|word| wanted(word.trim()))))
    };
    lists(header::CACHE_CONTROL, |directive| !directive.eq_ignore_ascii_case("no-store"))
        && lists(header::VARY, |name| VARY.iter().any(|known| name.eq_ignore_ascii_case(known)))
        && !headers.contains_key(header::CONTENT_ENCODING)
        && !headers.contains_key(header::SET_COOKIE)
}
