//! Pages that depend on headers of the request.

use super::super::shop::from_page;
use super::writers::{Application, HOST, KINDS, entry, front, get, lasting, written};
use crate::world::Memcached;
use format::page::hc1::{self, Entry};
use serde_json::json;

#[test]
fn each_variant_of_a_page_is_served_to_its_clients_only() {
    for kind in KINDS {
        let memcached = Memcached::start();
        let mut page = lasting([600, 0, 0], "");
        page["headers"]["Vary"] = "Accept-Language, Accept-Encoding".into();
        page["bodies"] = json!({ "de": "Lampen", "en": "lamps", "": "?" });
        let mut application = Application::start(kind, &memcached.authority(), "catalog", &json!({ "/lamps": page }));
        let front = front(application.url(), &memcached.url(), &[]);
        let speaking = |language: &'static str| [("Accept-Language", language)];
        written(&front, "/lamps", &speaking("de"));
        written(&front, "/lamps", &speaking("en"));
        written(&front, "/lamps", &[]);
        assert_eq!(entry(&memcached, &hc1::key(HOST, "/lamps")), Entry::Vary(vec!["accept-language".into()]));
        application.stop();
        for _ in 0..2 {
            for (language, body) in [("de", "Lampen"), ("en", "lamps"), (" de ", "Lampen"), ("", "?")] {
                let told = from_page(get(&front, "/lamps", &speaking(language)), "page").expect(200);
                let vary = told.header("vary").unwrap_or_default().to_ascii_lowercase();
                assert_eq!((told.text(), vary.contains("accept-language")), (body, true), "{kind:?} {language}");
            }
            assert_eq!(from_page(get(&front, "/lamps", &[]), "page").text(), "?");
            get(&front, "/lamps", &speaking("fr")).expect(502);
            get(&front, "/lamps", &speaking("de, en")).expect(502);
        }
    }
}
