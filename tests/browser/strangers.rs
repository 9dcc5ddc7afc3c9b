//! Text that strangers published is shown as text, whatever it looks like: no page runs it, and no attribute ends early.

use super::base;
use crate::world::{FIRST, Gem, World, browser};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Text that ends an attribute, an element or a string of a script, and then runs something.
const CORPUS: &[&str] = &[
    "\"><probe-me data-probe onclick=alert(1)>",
    "'><img src=x onerror=alert(1) data-probe>",
    "</title></pre></code><script>alert(1)</script>",
    "javascript:alert(1)",
    "\" autofocus onfocus=alert(1) data-probe=\"",
    "<svg/onload=alert(1)>",
    "{{7*7}}${alert(1)}<!--",
    "&lt;probe-me&gt;&#x3c;probe-me data-probe&#x3e;",
];

fn percent(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn pom(version: &str, text: &str) -> String {
    let text = xml(text);
    format!(
        "<project><modelVersion>4.0.0</modelVersion><groupId>com.acme</groupId><artifactId>lamp</artifactId>\
         <version>{version}</version><name>{text}</name><description>{text}</description><url>{text}</url>\
         <licenses><license><name>{text}</name><url>{text}</url></license></licenses>\
         <developers><developer><name>{text}</name></developer></developers>\
         <dependencies><dependency><groupId>{text}</groupId><artifactId>{text}</artifactId><version>{text}</version>\
         <scope>{text}</scope></dependency></dependencies></project>"
    )
}

/// A server with the corpus in every place that takes it, and its pages.
fn published() -> (World, Vec<Value>) {
    let world = World::start();
    let admin = world.admin();
    world.tree("tools", "raw");
    let (mut pages, mut signed_in) = (vec![json!({ "path": "/" })], Vec::new());
    let mut page = |path: String| pages.push(json!({ "path": path }));
    for (number, text) in CORPUS.iter().enumerate() {
        let version = format!("1.{number}");
        let by = [("Daylight-Published", "2026-02-03T09:30:00Z"), ("Daylight-Published-By", *text)];
        let gem = Gem::new("lamp", &version).says(text);
        admin.ask("POST", &format!("/repository/{FIRST}/api/v1/gems"), &by, &gem.bytes()).expect(200);
        page(format!("/packages/gems-private/lamp/{version}"));
        let path = format!("/repository/maven-releases/com/acme/lamp/{version}/lamp-{version}.pom");
        admin.ask("PUT", &path, &by, pom(&version, text).as_bytes()).expect(201);
        page(format!("/packages/maven-releases/com.acme:lamp/{version}"));
        // Some of these are no paths of files, and are refused.
        let status = admin.ask("PUT", &format!("/repository/tools/files/{}", percent(text)), &[], b"x").status;
        assert!(matches!(status, 201 | 400 | 404), "{text}: {status}");
        let token = json!({ "name": text, "owner": text, "scopes": ["read"], "repositories": [] });
        let made = admin.post_json("/api/v1/tokens", &token);
        assert!(matches!(made.status, 201 | 400), "{text}: {}", made.status);
        if made.status == 201 {
            // Each page tells who is signed in.
            let secret = made.json()["secret"].clone();
            signed_in.push(json!({ "path": "/?", "secret": secret }));
        }
        let agent = [("User-Agent", *text)];
        world.anon().ask("GET", &format!("/repository/{FIRST}/info/lamp"), &agent, b"").expect(200);
        for path in ["/", "/repository/", "/packages/gems/", "/packages/gems/lamp/", "/repository/tools/"] {
            page(format!("{path}{}", percent(text)));
        }
        for path in [
            "/search?q=",
            "/browse/tools/?after=",
            "/browse/tools/",
            "/packages/gems/lamp?after=",
            "/sign-in?to=",
            "/explain?repository=",
            "/explain?repository=gems&path=",
        ] {
            page(format!("{path}{}", percent(text)));
        }
    }
    for path in ["/browse/tools/files/", "/browse/gems-private/", "/packages/gems-private", "/search?q=lamp"] {
        page(path.to_owned());
    }
    page("/packages/gems-private/lamp".to_owned());
    page("/packages/maven-releases/com.acme:lamp".to_owned());
    pages.extend(signed_in);
    (world, pages)
}

#[test]
fn text_of_strangers_is_shown_and_never_run() {
    let (world, pages) = published();
    let read = browser("strangers.js", json!({ "base": base(&world), "pages": pages, "corpus": CORPUS }));
    let read = read.as_array().unwrap();
    assert_eq!(read.len(), pages.len());
    let mut shown = BTreeSet::new();
    for page in read {
        assert_eq!((&page["markup"], &page["seen"]), (&json!([]), &json!([])), "{page:#}");
        assert!(page["status"].as_u64().unwrap() < 500, "{page:#}");
        shown.extend(page["shown"].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()));
    }
    let missing: Vec<_> = CORPUS.iter().filter(|text| !shown.contains(**text)).collect();
    assert!(missing.is_empty(), "no page shows {missing:?}, so nothing is shown about them");
    // A path of a file has no angle bracket and no double quote, so one text is the name of a file. A search may have any.
    for (kind, least) in [("/browse/tools/files/", 1), ("/search?q=%22%3E", 1)] {
        let shown = |page: &&Value| page["path"].as_str().unwrap().starts_with(kind);
        let shown = read.iter().find(shown).unwrap()["shown"].as_array().unwrap();
        assert!(shown.len() >= least, "{kind}: {shown:?}");
    }
    let of_tokens: Vec<_> = read.iter().filter(|page| page["path"] == "/?").collect();
    assert!(!of_tokens.is_empty(), "no token has a name of the corpus");
    for page in of_tokens {
        assert!(!page["shown"].as_array().unwrap().is_empty(), "{page:#}");
    }
    // Of a version, its page shows the text that its package has about itself.
    for kind in ["/packages/gems-private/lamp/1.", "/packages/maven-releases/com.acme:lamp/1."] {
        for page in read.iter().filter(|page| page["path"].as_str().unwrap().starts_with(kind)) {
            assert!(!page["shown"].as_array().unwrap().is_empty(), "{page:#}");
        }
    }
}
