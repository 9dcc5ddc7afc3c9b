//! Texts that strangers store: on no page do they become markup, a script, or a link that runs one.

use crate::world::{FIRST, World, hex};
use flate2::{Compression, GzBuilder};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::io::Write as _;

const CORPUS: &[&str] = &[
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "'><svg/onload=alert(1)>",
    "</pre><iframe srcdoc='<script>alert(1)</script>'>",
    "javascript:alert(1)",
    "JaVaScRiPt://%0aalert(1)",
    "data:text/html,<script>alert(1)</script>",
    "https://example.test/\" onmouseover=\"alert(1)",
    "{{7*7}}${7*7}<%= 7*7 %>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "</title><script>alert(1)</script>",
];

/// The page without quoted attribute values and without text: only markup is left.
fn markup(html: &str) -> String {
    html.split('<').skip(1).map(|rest| format!("<{}", rest.split('>').next().unwrap())).collect::<Vec<_>>().join("\n")
}

fn assert_harmless(html: &str, with: &str) {
    // The program's own script is a file of the server.
    let tags =
        markup(html).lines().filter(|tag| !tag.starts_with("<script src=\"/assets/")).collect::<Vec<_>>().join("\n");
    for tag in ["<script", "<img", "<svg", "<iframe", "<base", "<object"] {
        assert!(!tags.contains(tag), "{with}: {tag}\n{html}");
    }
    for line in tags.lines() {
        let attributes = line.split('"').step_by(2).collect::<String>().to_ascii_lowercase();
        assert!(!attributes.contains(" on") && !attributes.contains("style"), "{with}: {line}");
        let lower = line.to_ascii_lowercase();
        assert!(!lower.contains("href=\"javascript:") && !lower.contains("href=\"data:text"), "{with}: {line}");
    }
}

/// A gem whose texts are all this one.
fn gem(text: &str, version: usize) -> Vec<u8> {
    let text = serde_json::to_string(text).unwrap();
    let any = "!ruby/object:Gem::Requirement\n  requirements:\n  - - \">=\"\n    - !ruby/object:Gem::Version\n      version: '0'\n";
    let metadata = format!(
        "--- !ruby/object:Gem::Specification\nname: lamp\nversion: !ruby/object:Gem::Version\n  version: '1.{version}'\n\
         platform: ruby\nauthors:\n- {text}\nbindir: bin\ncert_chain: []\ndate: 2026-01-01 00:00:00.000000000 Z\n\
         dependencies: []\ndescription: {text}\nemail: {text}\nexecutables: []\nextensions: []\nextra_rdoc_files: []\n\
         files: []\nhomepage: {text}\nlicenses:\n- {text}\nmetadata: {{}}\nrequire_paths:\n- lib\n\
         required_ruby_version: {any}required_rubygems_version: {any}requirements: []\nrubygems_version: 3.3.15\n\
         specification_version: 4\nsummary: {text}\ntest_files: []\n"
    );
    let gzip = |bytes: &[u8]| {
        let mut writer = GzBuilder::new().mtime(0).write(Vec::new(), Compression::fast());
        writer.write_all(bytes).unwrap();
        writer.finish().unwrap()
    };
    let tar = |members: &[(&str, &[u8])]| {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, bytes) in members {
            let mut header = tar::Header::new_ustar();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o444);
            builder.append_data(&mut header, name, *bytes).unwrap();
        }
        builder.into_inner().unwrap()
    };
    let (metadata, data) = (gzip(metadata.as_bytes()), gzip(&tar(&[])));
    let sum = |bytes: &[u8]| hex(&Sha256::digest(bytes));
    let sums = format!("---\nSHA256:\n  metadata.gz: {}\n  data.tar.gz: {}\n", sum(&metadata), sum(&data));
    tar(&[("metadata.gz", &metadata), ("data.tar.gz", &data), ("checksums.yaml.gz", &gzip(sums.as_bytes()))])
}

#[test]
fn descriptions_authors_licences_and_home_pages_of_gems_stay_text() {
    let world = World::start();
    let connection = &mut world.admin().connect().unwrap();
    for (at, hostile) in CORPUS.iter().enumerate() {
        let pushed = world.admin().push_on(connection, FIRST, &gem(hostile, at)).unwrap();
        if pushed.status != 200 {
            continue; // some home pages are refused
        }
        let version = world.anon().get(&format!("/api/v1/packages/{FIRST}/lamp/1.{at}")).expect(200).json();
        assert_eq!(version["about"]["authors"], json!([hostile]));
        for path in [format!("/packages/{FIRST}/lamp/1.{at}"), format!("/packages/{FIRST}/lamp")] {
            let page = world.anon().get(&path).expect(200);
            assert_harmless(page.text(), hostile);
            assert!(page.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
        }
    }
}

#[test]
fn texts_of_poms_names_of_files_and_of_tokens_stay_text() {
    let world = World::start();
    world.tree("ours", "maven");
    for (at, hostile) in CORPUS.iter().enumerate() {
        let xml = hostile.replace('&', "&amp;").replace('<', "&lt;");
        let pom = format!(
            "<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId><artifactId>lamp</artifactId>\
             <version>1.{at}</version><name>{xml}</name><description>{xml}</description><url>{xml}</url>\
             <packaging>{xml}</packaging><licenses><license><name>{xml}</name></license></licenses>\
             <developers><developer><name>{xml}</name></developer></developers><dependencies><dependency>\
             <groupId>{xml}</groupId><artifactId>{xml}</artifactId><version>{xml}</version><scope>{xml}</scope>\
             <classifier>{xml}</classifier></dependency></dependencies></project>"
        );
        let token = json!({ "name": format!("robot{at}<i>'\""), "owner": "robot", "scopes": ["write"] });
        let made = world.admin().post_json("/api/v1/tokens", &token);
        let by = if made.status == 201 { world.holder(made.json()["secret"].as_str().unwrap()) } else { world.admin() };
        by.put("ours", &format!("org/example/lamp/1.{at}/lamp-1.{at}.pom"), pom.as_bytes()).expect(201);
        let odd = format!("/repository/ours/org/example/lamp/1.{at}/lamp-1.{at}-%3Cb%3E%22'x.jar");
        world.admin().ask("PUT", &odd, &[], b"jar");
        let version = world.anon().get(&format!("/api/v1/packages/ours/org.example:lamp/1.{at}")).expect(200).json();
        assert_eq!(version["about"]["summary"], *hostile, "{version:#}");
        for path in [format!("/packages/ours/org.example:lamp/1.{at}"), "/packages/ours/org.example:lamp".into()] {
            assert_harmless(world.anon().get(&path).expect(200).text(), hostile);
        }
    }
    let page = world.anon().get("/packages/ours/org.example:lamp/1.7").expect(200).text().to_owned();
    assert!(!page.contains("href=\"https://example.test/"), "a link with a quote is no link: {page}");
}

#[test]
fn hostile_names_in_urls_are_errors_without_markup() {
    let world = World::start();
    for hostile in ["%3Cscript%3E", "%22%3E%3Cb%3E", "..", "a%2Fb", "%00", "%ff", "x%0d%0aSet-Cookie:a=b"] {
        for path in [
            format!("/packages/{FIRST}/{hostile}"),
            format!("/packages/{hostile}/lamp"),
            format!("/packages/{FIRST}/lamp/{hostile}"),
        ] {
            let answer = world.anon().get(&path);
            assert!((400..500).contains(&answer.status), "{path}: {}", answer.status);
            assert!(answer.header("set-cookie").is_none());
            assert_ne!(answer.header("content-type"), Some("text/html; charset=utf-8"), "{}", answer.text());
        }
    }
}
