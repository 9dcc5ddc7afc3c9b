//! Which clients are browsers in which a person opens a URL. They are shown errors as web pages, so a page with an error is for other
//! clients.

use crate::request::Request;
use http::header;

/// Whether `request` is from a browser that opens a URL.
pub fn opens_pages(request: &Request) -> bool {
    let agent = request.headers.get(header::USER_AGENT).map(|agent| agent.as_bytes());
    is_browser(agent, || request.headers.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok()))
}

/// Whether a client with this `User-Agent` and these lines of `Accept` is one. The name of every browser begins with `Mozilla/`. The
/// lines alone do not tell: Java's own client accepts `text/html` in each request.
pub(crate) fn is_browser<'a, L: Iterator<Item = &'a str>>(agent: Option<&[u8]>, accepts: impl Fn() -> L) -> bool {
    let takes = |line: &str| line.split([',', ';']).any(|media| media.trim().eq_ignore_ascii_case("text/html"));
    agent.is_some_and(|agent| agent.starts_with(b"Mozilla/")) && accepts().any(takes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_opens_pages_and_no_tool_does() {
        let chromium = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";
        for (agent, accept, is) in [
            ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/156.0.0.0 Safari/537.36", chromium, true),
            ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "text/html, */*", true),
            // A script or an image of a page.
            ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "*/*", false),
            ("Java/17.0.18", "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", false),
            ("curl/8.0", "text/html", false),
            ("bundler/2.5", "*/*", false),
        ] {
            assert_eq!(is_browser(Some(agent.as_bytes()), || [accept].into_iter()), is, "{agent} {accept}");
        }
        assert!(!is_browser(None, || [chromium].into_iter()));
    }
}
