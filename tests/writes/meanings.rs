//! Walks the table of docs/publishing-files.md: what else in a request changes what a write means, and what becomes of it.

use super::{JAR, put, world};
use crate::world::{Answer, Person};
use std::path::Path;
use std::process::Command;

const RANGES: &str = "`Content-Range`, `Range`, `X-Ms-Range`, `OC-Chunked`, `Upload-Offset`, `Upload-Complete: ?0`, `Upload-Incomplete: ?1`";
const CODED: &str =
    "`Content-Encoding` other than `identity`; `X-Amz-Content-Sha256: STREAMING-…`, `X-Amz-Decoded-Content-Length`";
const COPIES: &str = "`X-Amz-Copy-Source`, `X-Amz-Copy-Source-Range`, `X-Goog-Copy-Source`, `X-Ms-Copy-Source`, `X-Copy-From`, \
     `X-Object-Manifest`, `X-Symlink-Target`";
const CONDITIONS: &str = "`If`, `X-Goog-If-Generation-Match`, `X-Goog-If-Metageneration-Match`";
const METHODS: &str = "`X-HTTP-Method-Override`, `X-HTTP-Method`, `X-Method-Override`";
const ARCHIVES: &str = "`X-Explode-Archive: true`, `X-Explode-Archive-Atomic: true`";
const IGNORED: &str = "`If-Range`, `If-Modified-Since`, `Expect` other than `100-continue`, `X-Result-Detail`, `Last-Modified`, \
    `X-Last-Modified`, `X-OC-Mtime`, `OC-Total-Length`, `ETag`, `Content-Disposition`, `Content-Language`, `Content-Location`, `Slug`, \
    `Destination`, `Depth`, `Overwrite`, `X-Amz-Meta-…`, `X-Amz-Acl`, `X-Ms-Blob-Type`, `X-Artifactory-…`";
const DAV: &str = "`PATCH`, `MKCOL`, `COPY`, `MOVE`, `PROPFIND`, `PROPPATCH`, `LOCK`, `UNLOCK`";

/// A request, as a header or a path, and its status. `PATH` is a path that nothing was published at.
type Trial = (&'static str, &'static str, u16);

/// The rows of the table, each with requests of its kind.
const ROWS: &[(&str, &[Trial])] = &[
    (
        RANGES,
        &[
            ("Content-Range: bytes 5-9/10", "PUT PATH", 400),
            ("Content-Range: bytes 0-3/4", "PUT PATH", 400),
            ("Content-Range: lines 1-2", "POST PUSH", 400),
            ("Range: bytes=5-9", "PUT PATH", 400),
            ("X-Ms-Range: bytes=0-3", "PUT PATH", 400),
            ("OC-Chunked: 1", "PUT PATH", 400),
            ("Upload-Offset: 0", "PUT PATH", 400),
            ("Upload-Complete: ?0", "PUT PATH", 400),
            ("Upload-Complete: ?1", "PUT PATH", 201),
            ("Upload-Incomplete: ?1", "PUT PATH", 400),
        ],
    ),
    (
        CODED,
        &[
            ("Content-Encoding: gzip", "PUT PATH", 400),
            ("Content-Encoding: aws-chunked", "PUT PATH", 400),
            ("Content-Encoding: gzip", "POST PUSH", 400),
            ("Content-Encoding: identity", "PUT PATH", 201),
            ("X-Amz-Content-Sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER", "PUT PATH", 400),
            ("X-Amz-Decoded-Content-Length: 4", "PUT PATH", 400),
        ],
    ),
    (
        COPIES,
        &[
            ("X-Amz-Copy-Source: /tools/other", "PUT PATH", 400),
            ("X-Amz-Copy-Source-Range: bytes=0-1", "PUT PATH", 400),
            ("X-Goog-Copy-Source: a/b", "PUT PATH", 400),
            ("X-Ms-Copy-Source: http://a/b", "PUT PATH", 400),
            ("X-Copy-From: a/b", "PUT PATH", 400),
            ("X-Object-Manifest: a/b", "PUT PATH", 400),
            ("X-Symlink-Target: a/b", "PUT PATH", 400),
        ],
    ),
    (
        CONDITIONS,
        &[
            ("If: ([\"a\"])", "PUT PATH", 400),
            ("X-Goog-If-Generation-Match: 0", "PUT PATH", 400),
            ("X-Goog-If-Metageneration-Match: 1", "DELETE THERE", 400),
        ],
    ),
    (
        METHODS,
        &[
            ("X-HTTP-Method-Override: DELETE", "PUT PATH", 400),
            ("X-HTTP-Method: MERGE", "PUT PATH", 400),
            ("X-Method-Override: PATCH", "PUT PATH", 400),
            ("X-HTTP-Method-Override: PUT", "DELETE THERE", 400),
        ],
    ),
    (
        ARCHIVES,
        &[
            ("X-Explode-Archive: true", "PUT PATH", 400),
            ("X-Explode-Archive-Atomic: true", "PUT PATH", 400),
            ("X-Explode-Archive: false", "PUT PATH", 201),
        ],
    ),
    (
        "`Content-Type: multipart/…`",
        &[
            ("Content-Type: multipart/form-data; boundary=b", "PUT PATH", 400),
            ("Content-Type: Multipart/byteranges; boundary=b", "PUT PATH", 400),
            ("Content-Type: application/x-www-form-urlencoded", "PUT PATH", 201),
        ],
    ),
    (
        "`Trailer` with the name of a digest",
        &[("Trailer: X-Trace, Repr-Digest", "PUT PATH", 400), ("Trailer: X-Trace", "PUT PATH", 201)],
    ),
    ("`X-Checksum-Deploy: false`", &[("X-Checksum-Deploy: false", "PUT PATH", 201)]),
    ("another value of `X-Checksum-Deploy`", &[("X-Checksum-Deploy: 1", "PUT PATH", 400)]),
    (
        "`;name=value` in the path",
        &[
            ("", "PUT PATH;build.number=7", 400),
            ("", "PUT PATH;build.name=a%2Cb;build.number=7", 400),
            ("", "PUT folder;x=1/PATH", 400),
            ("", "PUT /repository/releases/org/example/lamp/9/lamp-9.jar;x=1", 400),
            ("", "PUT PATH;v.zip", 201),
        ],
    ),
    (
        "`;name=value` after the name of the repository",
        &[
            ("", "PUT /repository/tools;build.number=7/lamp", 400),
            ("", "GET /repository/tools;build.number=7/there", 400),
            ("", "POST /repository/gems-private;x=1/api/v1/gems", 400),
        ],
    ),
    (
        "a slash at the end of the path",
        &[("", "PUT PATH/", 400), ("", "PUT PATH/folder/", 400), ("", "DELETE THERE/", 400)],
    ),
    ("slashes in a row", &[("", "PUT double//PATH", 201)]),
    (
        "a query",
        &[
            ("", "PUT PATH?partNumber=1&uploadId=a", 400),
            ("", "PUT PATH?append", 400),
            ("", "DELETE THERE?tagging", 400),
            ("", "PUT PATH?", 201),
        ],
    ),
    (
        "`%2F`, `%5C`, `%00`, `.` and `..` in the path",
        &[
            ("", "PUT PATH%2Fa", 404),
            ("", "PUT PATH%5Ca", 404),
            ("", "PUT PATH%00", 404),
            ("", "PUT a/../PATH", 404),
            ("", "PUT ./PATH", 404),
        ],
    ),
    ("`#` in the path, not escaped", &[("", "PUT PATH#fragment", 201), ("", "PUT PATH%23fragment", 201)]),
    ("`Transfer-Encoding` other than one `chunked`", &[("Transfer-Encoding: gzip, chunked", "PUT PATH", 501)]),
    ("`Expect: 100-continue`", &[("Expect: 100-continue", "PUT PATH", 201)]),
    (
        IGNORED,
        &[
            ("If-Range: \"a\"", "PUT PATH", 201),
            ("If-Modified-Since: Wed, 01 Jan 2020 00:00:00 GMT", "PUT PATH", 201),
            ("Expect: 200-ok", "PUT PATH", 201),
            ("X-Result-Detail: full", "PUT PATH", 201),
            ("Last-Modified: Wed, 01 Jan 2020 00:00:00 GMT", "PUT PATH", 201),
            ("X-Last-Modified: 1577836800000", "PUT PATH", 201),
            ("X-OC-Mtime: 1577836800", "PUT PATH", 201),
            ("OC-Total-Length: 4", "PUT PATH", 201),
            ("ETag: \"a\"", "PUT PATH", 201),
            ("Content-Disposition: attachment; filename=other", "PUT PATH", 201),
            ("Content-Language: de", "PUT PATH", 201),
            ("Content-Location: /other", "PUT PATH", 201),
            ("Slug: other", "PUT PATH", 201),
            ("Destination: /other", "PUT PATH", 201),
            ("Depth: 0", "PUT PATH", 201),
            ("Overwrite: F", "PUT PATH", 201),
            ("X-Amz-Meta-Name: a", "PUT PATH", 201),
            ("X-Amz-Acl: private", "PUT PATH", 201),
            ("X-Ms-Blob-Type: BlockBlob", "PUT PATH", 201),
            ("X-Artifactory-Override-Base-Url: http://a", "PUT PATH", 201),
        ],
    ),
    (
        "`POST` to a path, with a form or without",
        &[("Content-Type: multipart/form-data; boundary=b", "POST PATH", 405), ("", "POST PATH", 405)],
    ),
    (
        DAV,
        &[
            ("Content-Range: bytes 5-9/10", "PATCH PATH", 405),
            ("", "MKCOL PATH", 405),
            ("Destination: /repository/tools/other", "COPY THERE", 405),
            ("Destination: /repository/tools/other", "MOVE THERE", 405),
            ("Depth: 1", "PROPFIND THERE", 405),
            ("", "PROPPATCH THERE", 405),
            ("", "LOCK THERE", 405),
            ("", "UNLOCK THERE", 405),
        ],
    ),
    ("`NAME@MOMENT` for the repository", &[("", "PUT /repository/tools@2026-01-01/lamp", 405)]),
    (
        "`${…}` in the path, `LATEST`, `RELEASE` or a range as the version (Maven)",
        &[
            ("", "PUT /repository/releases/org/example/lamp/$%7Brevision%7D/lamp-$%7Brevision%7D.jar", 400),
            ("", "PUT /repository/releases/org/$%7Bname%7D/1.0/$%7Bname%7D-1.0.jar", 400),
            ("", "PUT /repository/releases/org/example/lamp/1-$%7Bx%7D-SNAPSHOT/lamp-1-$%7Bx%7D-SNAPSHOT.jar", 400),
            ("", "PUT /repository/releases/org/example/lamp/LATEST/lamp-LATEST.jar", 400),
            ("", "PUT /repository/releases/org/example/lamp/RELEASE/lamp-RELEASE.pom", 400),
            ("", "PUT /repository/releases/org/example/lamp/[1.0,2.0)/lamp-[1.0,2.0).jar", 400),
            ("", "PUT /repository/releases/org/example/lamp/LATEST/lamp-LATEST.jar.sha1", 400),
            ("", "PUT /repository/releases/org/example/lamp/Angel.RELEASE/lamp-Angel.RELEASE.jar", 201),
            ("", "PUT /repository/tools/$%7Brevision%7D/LATEST", 201),
        ],
    ),
];

fn ask(admin: &Person, trial: &Trial, number: usize) -> (String, Answer) {
    let (header, request, _) = trial;
    let (method, path) = request.split_once(' ').unwrap();
    let here = format!("trial-{number}");
    let path = match path {
        "PUSH" => "/repository/gems-private/api/v1/gems".to_owned(),
        "THERE" => "/repository/tools/there".to_owned(),
        path if path.starts_with('/') => path.to_owned(),
        path => format!("/repository/tools/{}", path.replace("PATH", &here)),
    };
    let header = header.split_once(": ");
    (here, admin.ask(method, &path, header.as_slice(), b"lamp"))
}

#[test]
fn whatever_else_changes_what_a_write_means_is_decided_as_the_table_says() {
    let world = world();
    let admin = world.admin();
    admin.put("tools", "there", b"there").expect(201);
    let files = || admin.get("/api/v1/repositories/tools").expect(200).json()["holds"]["files"].as_u64().unwrap();
    let mut number = 0;
    for (row, trials) in ROWS {
        for trial in *trials {
            number += 1;
            let before = files();
            let (here, answer) = ask(&admin, trial, number);
            assert_eq!(answer.status, trial.2, "{row}: {trial:?}\n{}", answer.text());
            let stored = u64::from(answer.status == 201 && !trial.1.contains("/releases/"));
            assert_eq!(files() - before, stored, "{row}: {trial:?}");
            if answer.status == 400 {
                assert!(
                    answer.text().contains("hint\":") || answer.text().contains("hint:"),
                    "{trial:?}: {}",
                    answer.text()
                );
                world.anon().file("tools", &here).expect(404);
            }
        }
    }
    assert_eq!(world.anon().file("tools", "there").expect(200).body, b"there");
    // The path that is right is in the hint.
    let refused = put(&admin, "tools/a/lamp.zip;build.number=7;build.name=x", &[], b"lamp").expect(400).json();
    assert!(refused["hint"].as_str().unwrap().contains("`a/lamp.zip`"), "{refused}");
    let refused = put(&admin, &format!("releases;build.number=7/{JAR}"), &[], b"lamp").expect(400);
    assert!(refused.text().contains(&format!("`/repository/releases/{JAR}`")), "{}", refused.text());
}

/// curl continues an upload with `-C`: it sends the rest of the file with `Content-Range`.
#[test]
fn an_upload_that_curl_continues_is_refused_and_the_whole_one_is_taken() {
    let world = world();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), b"light").unwrap();
    let url = format!("{}lamp", world.url("tools"));
    let curl = |more: &[&str]| {
        let mut curl = Command::new("curl");
        curl.args(["-sS", "-w", "%{http_code}", "-H", &format!("Authorization: {}", world.admin().secret()), "-T"]);
        let said = curl.arg(file.path()).args(more).arg(&url).output().unwrap();
        String::from_utf8(said.stdout).unwrap()
    };
    let said = curl(&["-C", "2"]);
    assert!(said.ends_with("400") && said.contains("whole files"), "{said}");
    world.anon().file("tools", "lamp").expect(404);
    assert_eq!(curl(&[]), "201");
    assert_eq!(world.anon().file("tools", "lamp").expect(200).body, b"light");
}

#[test]
fn the_table_of_the_documentation_has_these_rows_and_their_answers() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().join("docs/publishing-files.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, table) = page.split_once("| in a write | answer | meaning |\n|---|---|---|\n").unwrap();
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    let cells = rows.map(|row| {
        let mut cells = row.trim_matches('|').split(" | ").map(str::trim);
        (cells.next().unwrap().to_owned(), cells.next().unwrap().parse::<u16>().unwrap())
    });
    let told: Vec<(String, u16)> = cells.collect();
    let tried: Vec<(String, u16)> = ROWS.iter().map(|(row, trials)| ((*row).to_owned(), trials[0].2)).collect();
    assert_eq!(told, tried);
}
