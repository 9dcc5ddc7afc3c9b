//! An application that writes its pages, a memcached and a front.

use crate::front::program::Front;
use crate::world::{Answer, Memcached, Rails, eventually};
use serde_json::{Value, json};

/// What browsers send.
pub(super) const BROWSER: &str = "gzip, deflate, br";

/// A front of one application with one memcached.
pub(super) struct Shop {
    pub(super) memcached: Memcached,
    pub(super) rails: Rails,
    pub(super) front: Front,
}

impl Shop {
    /// With these settings of the application and these lines of `[app.pages]`, which begin with its format.
    pub(super) fn start(settings: Value, pages: &str) -> Self {
        let memcached = Memcached::start();
        let rails = Rails::start(settings);
        rails.set(json!({ "memcached": [memcached.authority()] }));
        let front = front(&rails, &[&memcached.url()], pages, &[]);
        Self { memcached, rails, front }
    }

    /// Entries of response_bank with keys as Debian's Ruby has them.
    pub(super) fn response_bank(pages: &str) -> Self {
        Self::start(json!({ "form": 1 }), &format!("format = \"response_bank\"\n{pages}"))
    }

    /// A GET request of a browser.
    #[track_caller]
    pub(super) fn get(&self, target: &str) -> Answer {
        get(&self.front, target, &[])
    }

    /// The same, with more headers.
    #[track_caller]
    pub(super) fn get_with(&self, target: &str, headers: &[(&str, &str)]) -> Answer {
        get(&self.front, target, headers)
    }

    /// Has the application write a page. Returns its answer.
    #[track_caller]
    pub(super) fn written(&self, target: &str) -> Answer {
        let told = self.get(target);
        assert_eq!(told.header("x-cache"), Some("miss"), "{target}: {:?}", told.headers);
        told
    }

    /// The key of a page for a browser, and the tag of its version.
    pub(super) fn key(&self, target: &str) -> (String, String) {
        self.rails.keys(&[target], BROWSER).remove(0)
    }

    /// How many requests reached the application.
    pub(super) fn asked(&self) -> usize {
        self.rails.requests().len()
    }
}

/// A front of this application with pages on these servers. It waits for them as long as a busy machine takes, unless `pages` says otherwise.
pub(super) fn front(rails: &Rails, servers: &[&str], pages: &str, variables: &[(&str, &str)]) -> Front {
    let (to, servers) = (rails.url(), json!(servers));
    let app = format!("[[app]]\nname = \"shop\"\nlisten = \"127.0.0.1:0\"\nto = \"{to}\"\n");
    let timeout = if pages.contains("timeout_ms") { "" } else { "timeout_ms = 10000\n" };
    Front::start(&[], &format!("{app}[app.pages]\n{timeout}servers = {servers}\n{pages}\n"), variables)
}

/// A GET request of a browser with these headers, too.
#[track_caller]
pub(super) fn get(front: &Front, target: &str, headers: &[(&str, &str)]) -> Answer {
    let all = [&[("Host", "shop.example"), ("Accept-Encoding", BROWSER)], headers].concat();
    front.ask("GET", target, &all, b"")
}

/// Asserts that the front answered from a page, and for this reason: `page`, `page-tolerated` ...
#[track_caller]
pub(super) fn from_page(answer: Answer, detail: &str) -> Answer {
    let status = answer.header("cache-status").unwrap_or_default();
    assert_eq!(status, format!("daylight; hit; detail={detail}"), "{:?}", answer.headers);
    answer
}

/// How many requests ended with this outcome, as the API tells.
pub(super) fn outcome(front: &Front, name: &str) -> u64 {
    let apps = front.admin().get("/api/v1/apps").expect(200).json();
    apps["apps"][0]["pages"]["requests"][name].as_u64().unwrap_or_default()
}

/// Waits until so many requests have ended with this outcome.
#[track_caller]
pub(super) fn await_outcome(front: &Front, name: &str, count: u64) {
    eventually(|| match outcome(front, name) {
        found if found == count => Ok(()),
        found => Err(format!("{found} requests ended with `{name}`, not {count}")),
    });
}
