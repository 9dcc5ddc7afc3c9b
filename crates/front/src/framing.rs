//! Requests that two servers in a row could read differently: refused, because what one of them takes for a body the
//! other may take for somebody's next request. hyper refuses most of them; this is the rest.

use http::request::Parts;
use http::{StatusCode, Version, header};

/// Why a request is not to be answered: the status, and a sentence for the client.
pub(crate) fn doubt(head: &Parts) -> Option<(StatusCode, &'static str)> {
    if head.version > Version::HTTP_11 {
        return None; // frames have lengths, and an authority takes the place of `Host`
    }
    let mut hosts = head.headers.get_all(header::HOST).iter();
    // RFC 9112, 3.2: exactly one. HTTP/1.0 knew none.
    if (hosts.next().is_none() && head.version == Version::HTTP_11) || hosts.next().is_some() {
        return Some((StatusCode::BAD_REQUEST, "a request names one `Host`\n"));
    }
    let mut codings = head.headers.get_all(header::TRANSFER_ENCODING).iter();
    // RFC 9112, 6.1: chunked, once. Nobody compresses a body on its way here.
    match (codings.next(), codings.next()) {
        (None, _) => None,
        (Some(coding), None) if coding.as_bytes().eq_ignore_ascii_case(b"chunked") => None,
        _ => Some((StatusCode::NOT_IMPLEMENTED, "the only `Transfer-Encoding` here is one `chunked`\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    fn doubted(headers: &[(&str, &str)], version: Version) -> Option<u16> {
        let mut request = Request::builder().version(version);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        doubt(&request.body(()).unwrap().into_parts().0).map(|(status, _)| status.as_u16())
    }

    #[test]
    fn a_request_names_one_host_unless_it_is_older_or_newer_than_that_rule() {
        assert_eq!(doubted(&[("host", "a")], Version::HTTP_11), None);
        assert_eq!(doubted(&[], Version::HTTP_11), Some(400));
        assert_eq!(doubted(&[("host", "a"), ("host", "a")], Version::HTTP_11), Some(400));
        assert_eq!(doubted(&[], Version::HTTP_10), None);
        assert_eq!(doubted(&[], Version::HTTP_2), None);
    }

    #[test]
    fn the_only_coding_of_a_transfer_is_chunked_and_once() {
        let coded = |codings: &[&str]| {
            let mut headers = vec![("host", "a")];
            headers.extend(codings.iter().map(|coding| ("transfer-encoding", *coding)));
            doubted(&headers, Version::HTTP_11)
        };
        assert_eq!(coded(&["chunked"]), None);
        assert_eq!(coded(&["Chunked"]), None);
        for codings in [&["gzip, chunked"][..], &["chunked, chunked"], &["chunked", "chunked"], &["", "chunked"]] {
            assert_eq!(coded(codings), Some(501), "{codings:?}");
        }
    }
}
