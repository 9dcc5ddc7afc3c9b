//! Where a redirect leads, and whether it is followed.

use crate::error::Error;
use crate::target::Target;

/// Redirects followed in one call. Package registries redirect to file stores, some of them through a second host.
pub(crate) const REDIRECTS_MAX: usize = 5;

/// The redirects that are followed. A 300 offers a choice, and a 304 is not a redirect.
pub(crate) fn leads_on(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// Whether a redirect leads to the same path with a slash at the end. Servers mark a folder in this way.
pub(crate) fn is_to_folder(from: &Target, to: &Target) -> bool {
    to.path.path().strip_suffix('/') == Some(from.path.path())
}

/// The target of `location`, relative to `from`.
pub(crate) fn follow(from: &Target, location: Option<&str>) -> Result<Target, Error> {
    let bad = |why| Error::BadRedirect { host: from.authority.clone(), why };
    let location = location.ok_or_else(|| bad("it has no `Location`"))?;
    let location = location.split('#').next().unwrap_or_default().trim();
    let url = resolve(from, location);
    let to = Target::of(&url).map_err(|_| bad("its `Location` is not an HTTP URL"))?;
    if from.origin.tls && !to.origin.tls {
        return Err(bad("it leads from `https` to plain `http`, where the response could be modified in transit"));
    }
    Ok(to)
}

/// Resolves a reference (RFC 3986 5.2), as far as servers use them.
fn resolve(from: &Target, location: &str) -> String {
    let scheme = if from.origin.tls { "https" } else { "http" };
    if location.contains("://") && !location.starts_with('/') {
        return location.to_owned();
    }
    if let Some(rest) = location.strip_prefix("//") {
        return format!("{scheme}://{rest}");
    }
    let folder = match location.starts_with('/') {
        true => "",
        false => from.path.path().rsplit_once('/').map_or("/", |(folder, _)| folder),
    };
    let slash = if location.starts_with('/') { "" } else { "/" };
    format!("{scheme}://{}{folder}{slash}{location}", from.authority)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leads(from: &str, location: &str) -> Result<String, &'static str> {
        let from = Target::of(from).unwrap();
        match follow(&from, Some(location)) {
            Ok(to) => Ok(format!("{} {}", to.authority, to.path)),
            Err(Error::BadRedirect { why, .. }) => Err(why),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn whole_urls_and_parts_of_them_are_followed() {
        let from = "http://a.test:8081/one/two?three";
        for (location, to) in [
            ("http://b.test/x?y=1", "b.test /x?y=1"),
            ("//b.test/x", "b.test /x"),
            ("/x", "a.test:8081 /x"),
            ("x", "a.test:8081 /one/x"),
            ("/x?next=http://c.test/#there", "a.test:8081 /x?next=http://c.test/"),
        ] {
            assert_eq!(leads(from, location).as_deref(), Ok(to), "{location}");
        }
    }

    #[test]
    fn nothing_leads_from_tls_to_where_anybody_may_listen() {
        assert_eq!(leads("http://a.test/", "https://b.test/").as_deref(), Ok("b.test /"));
        assert_eq!(leads("https://a.test/x", "y").as_deref(), Ok("a.test /y"));
        assert!(leads("https://a.test/", "http://a.test/").unwrap_err().contains("plain `http`"));
    }

    proptest::proptest! {
        #[test]
        fn whatever_a_server_says_leads_over_tls_to_a_host_or_nowhere(location in "[a-z:/@#?.%\\[\\]\\\\ \u{e9}]{0,12}") {
            let from = Target::of("https://a.test/one/two").unwrap();
            if let Ok(to) = follow(&from, Some(&location)) {
                assert!(to.origin.tls && !to.authority.is_empty() && !to.authority.contains('@'), "{location:?}");
                let path = to.path.to_string();
                assert!(path.starts_with('/') && !path.contains([' ', '#']), "{location:?}");
            }
        }
    }

    #[test]
    fn what_is_no_url_of_a_web_server_is_not_followed() {
        for location in ["ftp://b.test/", "http://me:hush@b.test/", "http://", "/a b", "file:///etc/passwd"] {
            assert!(leads("http://a.test/", location).is_err(), "{location}");
        }
    }
}
