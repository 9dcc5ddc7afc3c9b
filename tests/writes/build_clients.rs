//! Clients of Artifactory read the answer to an upload as JSON. The requests were recorded from them: JFrog's build-info-client 2.41.7
//! (its plugins for Gradle, Maven and Jenkins) and dohq-artifactory 1.0.2.

use super::{JAR, md5, put, sha1, sha256, world};
use serde_json::json;

#[test]
fn the_build_client_of_jfrog_gets_what_it_reads_of_an_upload() {
    let world = world();
    let ci = world.person("ci", &["read", "write"], &["releases"]);
    let (by_sha1, by_md5) = (sha1(b"lamp"), md5(b"lamp"));
    let recorded = [
        ("X-Checksum-Sha1", by_sha1.as_str()),
        ("X-Checksum-Md5", &by_md5),
        ("Expect", "100-continue"),
        ("Content-Type", "binary/octet-stream"),
        ("User-Agent", "ArtifactoryBuildClient/2.41.7"),
        ("Accept-Encoding", "gzip,deflate"),
    ];
    for status in [201, 200] {
        let answer = put(&ci, &format!("releases/{JAR}"), &recorded, b"lamp").expect(status);
        assert_eq!(answer.header("content-type"), Some("application/json"));
        let mut said = answer.json();
        let url = format!("{}{JAR}", world.url("releases"));
        let created: jiff::Timestamp = said["created"].as_str().unwrap().parse().unwrap();
        assert!(created <= jiff::Timestamp::now());
        said.as_object_mut().unwrap().remove("created");
        let all = json!({ "md5": by_md5, "sha1": by_sha1, "sha256": sha256(b"lamp") });
        let expected = json!({
            "repo": "releases", "path": format!("/{JAR}"), "createdBy": "ci", "downloadUri": url, "uri": url,
            "mimeType": "application/java-archive", "size": "4", "checksums": all,
            "originalChecksums": { "md5": by_md5, "sha1": by_sha1 },
        });
        assert_eq!(said, expected);
        ci.get(&format!("/repository/releases/{JAR}")).expect(200);
    }
    // It asks for the version first, and goes on without one.
    ci.get("/repository/api/system/version").expect(404);
    // Properties would be lost, so they are refused with the path that is right.
    let refused = put(&ci, &format!("releases/{};build.number=7", JAR.replace("1.0", "2.0")), &recorded, b"lamp");
    let refused = refused.expect(400).json();
    assert!(refused["hint"].as_str().unwrap().contains(&format!("`{}`", JAR.replace("1.0", "2.0"))), "{refused}");
}

#[test]
fn dohq_artifactory_deploys_a_file_and_then_copies_of_it_by_checksum() {
    let world = world();
    let ci = world.person("ci", &["read", "write"], &["tools"]);
    let agent = [("User-Agent", "python-requests/2.34.2"), ("Accept-Encoding", "gzip, deflate"), ("Accept", "*/*")];
    let (by_md5, by_sha1, by_sha256) = (md5(b"lamp"), sha1(b"lamp"), sha256(b"lamp"));
    let deploy = [("X-Checksum-Deploy", "true"), ("Content-Length", "0")];
    let copy = |path: &str, sum: (&str, &str)| put(&ci, path, &[&agent[..], &deploy, &[sum]].concat(), b"");
    copy("tools/lamp", ("X-Checksum-Sha1", &by_sha1)).expect(404);
    let sums = [("X-Checksum-Md5", by_md5.as_str()), ("X-Checksum-Sha1", &by_sha1), ("X-Checksum-Sha256", &by_sha256)];
    put(&ci, "tools/lamp", &[&agent[..], &sums].concat(), b"lamp").expect(201);
    for sum in [("X-Checksum-Sha1", by_sha1.as_str()), ("X-Checksum-Sha256", &by_sha256), ("X-Checksum", &by_sha256)] {
        let said = copy(&format!("tools/{}", sum.0), sum).expect(201).json();
        assert_eq!((&said["size"], &said["checksums"]["md5"]), (&json!("4"), &json!(by_md5)));
        assert_eq!(ci.file("tools", sum.0).expect(200).body, b"lamp");
    }
}

#[test]
fn other_clients_see_no_json_unless_they_ask_for_it() {
    let world = world();
    let admin = world.admin();
    for headers in [&[][..], &[("Accept", "*/*")], &[("Accept", "text/html, application/xhtml+xml")]] {
        let path = format!("tools/{}", headers.first().map_or("plain", |(_, accept)| &accept[..1]));
        let path = path.replace('*', "any");
        assert!(put(&admin, &path, headers, b"lamp").expect(201).body.is_empty());
    }
    let said = put(&admin, "tools/json", &[("Accept", "application/json")], b"lamp").expect(201).json();
    assert_eq!((said["path"].as_str(), said["createdBy"].as_str()), (Some("/json"), Some("admin")));
}
