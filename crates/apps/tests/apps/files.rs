//! Files that the application names are sent by the front.

use crate::origin::{Origin, with};
use crate::responses::pattern;
use crate::running_apps::{RunningApps, shop};
use apps::AppOptions;
use std::path::Path;
use telemetry::Reason;

const LEN: usize = 300_007;

/// An application that names files below `folder` where it may.
fn naming(folder: &Path) -> Origin {
    let folder = folder.to_str().unwrap().to_owned();
    Origin::replying(move |request| {
        let name = request.path().trim_start_matches('/');
        match request.header("x-sendfile-type") {
            Some("X-Sendfile") => {
                with(&format!("x-sendfile: {folder}/{name}\r\netag: \"v1\"\r\ncontent-type: a/b\r\n"), "")
            }
            _ if request.path() == "/always" => with(&format!("x-sendfile: {folder}/gone\r\n"), ""),
            _ => with("", "the bytes themselves"),
        }
    })
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    #[expect(clippy::disallowed_methods, reason = "a test makes its files")]
    std::fs::write(folder.path().join("file"), pattern(LEN)).unwrap();
    folder
}

#[test]
fn a_file_in_a_root_is_sent_with_ranges_and_conditions() {
    let folder = folder();
    let origin = naming(folder.path());
    let roots = vec![folder.path().to_str().unwrap().to_owned()];
    let apps = RunningApps::of(vec![AppOptions { sendfile_roots: roots, ..shop(&origin) }]);
    let mut client = apps.client();
    let answer = client.get("/file");
    assert!(answer.status == 200 && answer.body == pattern(LEN), "{}", answer.head);
    assert_eq!((answer.header("x-sendfile"), answer.header("content-type")), (None, Some("a/b")));
    assert_eq!((answer.header("etag"), answer.header("accept-ranges")), (Some("\"v1\""), Some("bytes")));
    assert!(answer.header("last-modified").is_some());
    let ask = |lines: &str| format!("GET /file HTTP/1.1\r\nHost: a\r\n{lines}\r\n");
    let answer = client.ask(&ask("Range: bytes=100000-100009\r\n"));
    assert!(answer.status == 206 && answer.body == pattern(LEN)[100_000..100_010], "{}", answer.head);
    assert_eq!(client.ask(&ask("If-None-Match: \"v1\"\r\n")).status, 304);
    client.send("HEAD /file HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(client.head().header("content-length"), Some(LEN.to_string().as_str()));
    assert_eq!(apps.busy(), 0);
}

#[test]
fn a_file_that_is_gone_is_left_to_the_application() {
    let folder = folder();
    let origin = naming(folder.path());
    let roots = vec![folder.path().to_str().unwrap().to_owned()];
    let apps = RunningApps::of(vec![AppOptions { sendfile_roots: roots, ..shop(&origin) }]);
    let mut client = apps.client();
    for path in ["/gone", "/../../etc/passwd"] {
        let answer = client.get(path);
        assert_eq!((answer.status, answer.text()), (200, "the bytes themselves"), "{path}");
        assert_eq!(apps.event().members.len(), 2);
    }
    assert_eq!(client.get("/always").status, 502, "it names a file that nobody offered to send");
    assert_eq!(apps.event().reason, Some(Reason::AppInvalid));
    let requests = origin.received().len();
    let answer = client.ask("POST /gone HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
    assert_eq!((answer.status, answer.header("x-sendfile")), (502, None));
    assert_eq!(origin.received().len(), requests + 1, "a POST is not sent twice");
}

#[test]
fn without_roots_no_file_is_read() {
    let folder = folder();
    let named = format!("x-sendfile: {}/file\r\n", folder.path().display());
    let origin = Origin::replying(move |_| with(&named, ""));
    let apps = RunningApps::before(&origin);
    let answer = apps.client().ask("GET / HTTP/1.1\r\nHost: a\r\nX-Sendfile-Type: X-Sendfile\r\n\r\n");
    assert!(answer.body.is_empty() && answer.header("x-sendfile").is_some(), "{}", answer.head);
    assert_eq!(origin.received()[0].header("x-sendfile-type"), None);
}
