//! Requests that try to get something into a stored response that others then get (cache poisoning), or to have a personal page stored
//! under the name of a file (cache deception).

use crate::cache::{FRESH, cached};
use crate::origin::{Origin, ok, with};

/// All that an application might repeat of a request.
const REPEATED: [&str; 9] = [
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-forwarded-port",
    "x-forwarded-prefix",
    "x-original-url",
    "x-rewrite-url",
    "x-host",
    "forwarded",
    "x_forwarded_host",
];

/// Header lines with which a client tries to change the page of others.
const FORGED: [&str; 12] = [
    "X-Forwarded-Host: evil\r\n",
    "X-Forwarded-Proto: https\r\n",
    "X-Forwarded-Port: 1\r\nX_Forwarded_Host: evil\r\n",
    "X-Forwarded-Prefix: /evil\r\nForwarded: host=evil\r\n",
    "X-Original-URL: /evil\r\nX-Rewrite-URL: /evil\r\n",
    "X-Host: evil\r\n",
    "Connection: x-forwarded-host, host\r\n",
    "X-HTTP-Method-Override: POST\r\n",
    "X-Method-Override: DELETE\r\n",
    "X-HTTP-Method: PUT\r\n",
    "Range: bytes=0-3\r\n",
    "Accept_Language: evil\r\n",
];

/// Names of one page, to applications that take some characters for others.
const NAMES: [&str; 9] = [
    "/account",
    "/account/",
    "//account",
    "/account/x.css",
    "/account;x.css",
    "/account%2fx.css",
    "/account%00.css",
    "/account%3fx.css",
    "/account?x.css",
];

fn get(path: &str, lines: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: a\r\n{lines}\r\n")
}

#[test]
fn nothing_that_is_not_in_the_key_gets_into_a_stored_response() {
    let origin = Origin::replying(|request| {
        let repeated = REPEATED.map(|name| request.header(name).unwrap_or("-").to_owned()).join(" ");
        let language = request.header("accept_language").or_else(|| request.header("accept-language")).unwrap_or("-");
        let body = String::from_utf8_lossy(&request.body);
        let lines = format!("{FRESH}vary: accept-language\r\n");
        with(&lines, &format!("{} {repeated} {language} {body}", request.line))
    });
    let apps = cached(&origin);
    let forged = FORGED.iter().map(|lines| get("PATH", lines));
    let with_body = get("PATH", "Content-Length: 4\r\n") + "evil";
    for (n, request) in forged.chain([with_body]).enumerate() {
        let path = format!("/{n}");
        assert_eq!(apps.client().ask(&request.replace("PATH", &path)).status, 200, "{request}");
        for _ in 0..2 {
            let honest = apps.client().ask(&get(&path, ""));
            assert_eq!(honest.text(), format!("GET {path} HTTP/1.1 a http - - - - - - - - "), "{request}");
        }
    }
}

#[test]
fn urls_that_an_application_may_take_for_the_same_one_have_responses_of_their_own() {
    let origin = Origin::replying(|request| with(FRESH, &format!("{} {:?}", request.path(), request.header("host"))));
    let apps = cached(&origin);
    for says in ["daylight; fwd=uri-miss; stored", "daylight; hit"] {
        for name in NAMES {
            let answer = apps.client().ask(&get(name, ""));
            assert_eq!((answer.text(), answer.header("cache-status")), (&*format!("{name} Some(\"a\")"), Some(says)));
        }
        let other = apps.client().ask("GET /account HTTP/1.1\r\nHost: evil\r\n\r\n");
        assert_eq!((other.text(), other.header("cache-status")), ("/account Some(\"evil\")", Some(says)));
    }
}

#[test]
fn a_personal_page_is_not_stored_under_the_name_of_a_file() {
    // The application takes all of them for `/account`, and says nothing about caches, or that the page is private.
    let origin = Origin::replying(|request| match request.header("cookie") {
        None => ok("please sign in"),
        Some(_) if request.path().contains('x') => with("cache-control: max-age=0, private\r\n", "secret"),
        Some(_) => with("etag: \"e\"\r\nlast-modified: Sun, 01 Nov 2020 12:00:00 GMT\r\n", "secret"),
    });
    let apps = cached(&origin);
    for name in NAMES {
        assert_eq!(apps.client().ask(&get(name, "Cookie: session=1\r\n")).text(), "secret");
        assert_eq!(apps.client().ask(&get(name, "")).text(), "please sign in", "{name}");
    }
}

#[test]
fn an_error_about_one_request_is_not_stored_for_others() {
    let origin = Origin::replying(|request| match request.header("x") {
        Some(oversized) if oversized.len() > 1000 => {
            format!("HTTP/1.1 431 Request Header Fields Too Large\r\n{FRESH}content-length: 0\r\n\r\n")
        }
        Some(_) => "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n".to_owned(),
        None => with(FRESH, "body"),
    });
    let apps = cached(&origin);
    for (n, (value, status)) in [("x".repeat(8000), 431), ("broken".to_owned(), 400)].into_iter().enumerate() {
        let path = format!("/{n}");
        assert_eq!(apps.client().ask(&get(&path, &format!("X: {value}\r\n"))).status, status);
        assert_eq!(apps.client().ask(&get(&path, "")).text(), "body");
    }
}
