//! Decides which replies may become pages. The following never do: replies to anything but a `GET`, or to a request
//! with a body; a status other than 200 and 404; files and other bodies outside memory; replies with `no-store`, a
//! cookie or a coding of their own, or that vary by more than credentials and codings; and replies heavier than the
//! cache allows. The program takes no stamp for lists of names, search, explain, as-of indexes and ropes, so these do
//! not become pages either.

use crate::reply::Body;
use crate::reply::Reply;
use crate::reply::UnchangedDates;
use crate::request::Request;
use http::{HeaderMap, Method, StatusCode, header};

/// Whether a page may answer `request`.
pub(super) fn may_be_read(request: &Request) -> bool {
    matches!(request.method, Method::GET | Method::HEAD) && request.upload.is_none()
}

/// Whether `reply` is of a kind that may become a page. `request` is one that a page may answer.
pub(super) fn may_be_kept(request: &Request, reply: &Reply) -> bool {
    request.method == Method::GET
        && matches!(reply.status, StatusCode::OK | StatusCode::NOT_FOUND)
        && matches!(reply.body, Body::Bytes(_))
        && reply.unchanged == UnchangedDates::NotBefore
}

/// Whether the headers of a reply allow giving it to every client of the same access class.
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
