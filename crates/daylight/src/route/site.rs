//! The URLs of web pages for people. `web::Links` writes them, and a test compares the two.

use super::not_allowed;
use crate::error::Result;
use http::Method;

/// A web page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SiteUrl {
    /// `/`.
    Home,
    /// `/packages/NAME`: the repository as the URL names it.
    Packages(String),
    /// `/packages/NAME/PACKAGE`: the repository as the URL names it, and the package.
    Package(String, String),
    /// `/packages/NAME/PACKAGE/VERSION`.
    Version(String, String, String),
    /// `/assets/NAME`: a stylesheet or a script.
    Asset(String),
    /// `/explain`.
    Explain,
    /// `/events/ID`: the event of an answer.
    Event(String),
    /// `/ask?q=`: a question about events, with its answer.
    Ask,
    /// `/sign-in`: the form.
    SignIn,
    /// `/sign-in`: the form that somebody sent.
    SignInSent,
    /// `/sign-out`.
    SignOut,
    /// `/search?q=`: packages and files of all repositories.
    Search,
    /// `/opensearch.xml`: the description of the search for browsers.
    OpenSearch,
    /// `/browse/NAME[@MOMENT]/PATH`: one level of the content of a repository.
    Browse {
        /// The name, with the moment.
        segment: String,
        /// The path; empty: the root.
        path: String,
    },
}

/// Reads the segments of a path that is not below a repository, the API or a hook. `None`: no page has it.
pub(super) fn read(method: &Method, segments: &[&str]) -> Option<Result<SiteUrl>> {
    let read = matches!(*method, Method::GET | Method::HEAD);
    let url = match segments {
        [] => SiteUrl::Home,
        ["packages", name] => SiteUrl::Packages((*name).to_owned()),
        ["packages", name, package] => SiteUrl::Package((*name).to_owned(), (*package).to_owned()),
        ["packages", name, package, version] => {
            SiteUrl::Version((*name).to_owned(), (*package).to_owned(), (*version).to_owned())
        }
        ["assets", name] => SiteUrl::Asset((*name).to_owned()),
        ["explain"] => SiteUrl::Explain,
        ["events", id] => SiteUrl::Event((*id).to_owned()),
        ["ask"] => SiteUrl::Ask,
        ["sign-in"] if *method == Method::POST => return Some(Ok(SiteUrl::SignInSent)),
        ["sign-in"] if !read => return Some(Err(not_allowed(method, "GET, HEAD, POST"))),
        ["sign-in"] => SiteUrl::SignIn,
        ["sign-out"] if *method == Method::POST => return Some(Ok(SiteUrl::SignOut)),
        ["sign-out"] => return Some(Err(not_allowed(method, "POST"))),
        ["search"] => SiteUrl::Search,
        ["opensearch.xml"] => SiteUrl::OpenSearch,
        ["browse", segment, path @ ..] => SiteUrl::Browse { segment: (*segment).to_owned(), path: path.join("/") },
        _ => return None,
    };
    Some(if read { Ok(url) } else { Err(not_allowed(method, "GET, HEAD")) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::{self, Route};
    use web::Links;

    #[test]
    fn each_link_of_a_page_is_read_as_that_page() {
        let links = Links::new("http://here.test");
        let read = |url: String| route::read(&Method::GET, url.split('?').next().unwrap()).unwrap();
        assert_eq!(read(links.home()), Route::Site(SiteUrl::Home));
        let (name, package, version) = ("gems@seq-7", "org.example:lamp", "1.0-java");
        assert_eq!(read(links.packages(name)), Route::Site(SiteUrl::Packages(name.into())));
        assert_eq!(read(links.packages_after(name, package)), Route::Site(SiteUrl::Packages(name.into())));
        let page = SiteUrl::Package(name.into(), package.into());
        assert_eq!(read(links.dependents_after(name, package, package)), Route::Site(page.clone()));
        assert_eq!(read(links.package(name, package)), Route::Site(page.clone()));
        assert_eq!(read(links.downloads(name, package)), Route::Site(page.clone()));
        assert_eq!(read(links.difference(name, package, version, "2.0")), Route::Site(page.clone()));
        assert_eq!(read(links.package_after(name, package, version)), Route::Site(page));
        let page = SiteUrl::Version(name.into(), package.into(), version.into());
        assert_eq!(read(links.readme(name, package, version)), Route::Site(page.clone()));
        assert_eq!(read(links.version(name, package, version)), Route::Site(page));
        assert_eq!(read(links.metrics()), Route::Metrics);
        assert_eq!(read(links.explain("maven", "a/b")), Route::Site(SiteUrl::Explain));
        assert_eq!(read(links.event("0123456789abcdef")), Route::Site(SiteUrl::Event("0123456789abcdef".into())));
        assert_eq!(
            [links.ask(""), links.ask("count by path")].map(read),
            [SiteUrl::Ask, SiteUrl::Ask].map(Route::Site)
        );
        assert_eq!(read(links.sign_in()), Route::Site(SiteUrl::SignIn));
        let sent = |url: String| route::read(&Method::POST, &url).unwrap();
        assert_eq!(sent(links.sign_in()), Route::Site(SiteUrl::SignInSent));
        assert_eq!(sent(links.sign_out()), Route::Site(SiteUrl::SignOut));
        assert_eq!(read(links.explain_form()), Route::Site(SiteUrl::Explain));
        assert_eq!(read(links.asset("style-0.css")), Route::Site(SiteUrl::Asset("style-0.css".into())));
        assert_eq!(read(links.search("a b&c")), Route::Site(SiteUrl::Search));
        assert_eq!(read(links.search_after("a", Some("b"), "c")), Route::Site(SiteUrl::Search));
        assert_eq!(read(links.opensearch()), Route::Site(SiteUrl::OpenSearch));
        let browse = |path: &str| Route::Site(SiteUrl::Browse { segment: "maven@seq-7".into(), path: path.into() });
        assert_eq!(read(links.browse("maven@seq-7", "")), browse(""));
        assert_eq!(read(links.browse("maven@seq-7", "org/a b")), browse("org/a b"));
        assert_eq!(read(links.browse_after("maven@seq-7", "org", "x/y")), browse("org"));
    }
}
