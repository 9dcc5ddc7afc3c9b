//! Which clients accept gzip (RFC 9110, 12.5.3).

use crate::conditional::asks_for_range;
use crate::request::Request;
use http::{HeaderMap, header};

/// Whether the reply to `request` is the gzip representation. Ranges are always of identity: clients append them to
/// decoded bytes.
pub fn takes_gzip(request: &Request) -> bool {
    accepts_gzip(|| codings(&request.headers)) && !asks_for_range(&request.headers)
}

fn codings(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok())
}

/// Whether the client that sent these lines of `Accept-Encoding` accepts gzip (RFC 9110, 12.5.3). No line at all
/// means identity.
pub(crate) fn accepts_gzip<'a, L: Iterator<Item = &'a str>>(lines: impl Fn() -> L) -> bool {
    let weight = |wanted: &[&str]| {
        lines().flat_map(|line| line.split(',')).find_map(|coding| {
            let mut parts = coding.split(';').map(str::trim);
            let name = parts.next().unwrap_or_default();
            let refused = parts.any(|part| part.strip_prefix("q=").is_some_and(is_zero));
            wanted.iter().any(|wanted| name.eq_ignore_ascii_case(wanted)).then_some(!refused)
        })
    };
    weight(&["gzip", "x-gzip"]).or_else(|| weight(&["*"])).unwrap_or(false)
}

fn is_zero(weight: &str) -> bool {
    weight.bytes().all(|byte| matches!(byte, b'0' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn gzip_is_given_to_those_who_say_that_they_take_it() {
        let said = |lines: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(header::ACCEPT_ENCODING, HeaderValue::from_static(line));
            }
            accepts_gzip(|| codings(&headers))
        };
        for yes in [
            &["gzip"][..],
            &["gzip;q=1.0,deflate;q=0.6,identity;q=0.3"],
            &["br, GZIP ; q=0.5"],
            &["br", "x-gzip"],
            &["*"],
            &["br;q=0, *;q=0.1"],
        ] {
            assert!(said(yes), "{yes:?}");
        }
        for no in [&[][..], &[""], &["identity"], &["gzip;q=0"], &["gzip; q=0.000, *"], &["*;q=0"], &["gzipped"]] {
            assert!(!said(no), "{no:?}");
        }
    }
}
