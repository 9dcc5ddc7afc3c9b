//! An upload whose headers name other bytes is refused, and nothing is stored.

use super::{JAR, declarations, put, world};
use crate::world::Gem;

#[test]
fn an_upload_whose_headers_name_other_bytes_is_refused_in_every_format() {
    let world = world();
    let (admin, anyone) = (world.admin(), world.anon());
    let gem = Gem::new("lamp", "1.0").bytes();
    let push = "gems-private/api/v1/gems";
    for (header, wrong) in declarations(b"other bytes") {
        for at in ["tools/lamp.zip".to_owned(), format!("releases/{JAR}")] {
            let refused = put(&admin, &at, &[(header, &wrong)], b"lamp").expect(400);
            assert_eq!(refused.header("content-type"), Some("application/problem+json"), "{header}");
            let problem = refused.json();
            assert_eq!(problem["type"], "about:blank#checksum_differs", "{header}");
            let detail = problem["detail"].as_str().unwrap();
            assert!(detail.to_lowercase().contains(&format!("`{}`", header.to_lowercase())), "{detail}");
            anyone.get(&format!("/repository/{at}")).expect(404);
        }
        let refused = admin.ask("POST", &format!("/repository/{push}"), &[(header, &wrong)], &gem).expect(400);
        assert_eq!(refused.header("content-type"), Some("application/problem+json"), "{header}");
        anyone.file("gems-private", "gems/lamp-1.0.gem").expect(404);
    }
    // A wrong one beside a right one, and one that cannot be read.
    let right = declarations(b"lamp");
    let both = [("X-Checksum-Sha1", right[1].1.as_str()), ("X-Checksum-Md5", &"0".repeat(32))];
    put(&admin, "tools/lamp.zip", &both, b"lamp").expect(400);
    for (header, value) in [
        ("X-Checksum-Sha1", "unknown"),
        ("Content-MD5", "bGFtcA=="),
        ("Repr-Digest", "sha-256=lamp"),
        ("Digest", "SHA="),
    ] {
        let refused = put(&admin, "tools/lamp.zip", &[(header, value)], b"lamp").expect(400);
        assert!(refused.json()["detail"].as_str().unwrap().contains(value), "{}", refused.text());
    }
    anyone.file("tools", "lamp.zip").expect(404);
    // All of them, right, and an algorithm that is not known here.
    let all: Vec<_> = right.iter().map(|(header, value)| (*header, value.as_str())).collect();
    put(&admin, "tools/lamp.zip", &[&all[..], &[("Digest", "UNIXsum=1")]].concat(), b"lamp").expect(201);
    put(&admin, &format!("releases/{JAR}"), &all, b"lamp").expect(201);
    let right = declarations(&gem);
    let all: Vec<_> = right.iter().map(|(header, value)| (*header, value.as_str())).collect();
    admin.ask("POST", &format!("/repository/{push}"), &all, &gem).expect(200);
    // An empty body is bytes, too.
    put(&admin, "tools/empty", &[("X-Checksum-Sha1", &super::sha1(b"lamp"))], b"").expect(400);
    put(&admin, "tools/empty", &[("X-Checksum-Sha1", &super::sha1(b""))], b"").expect(201);
}

#[test]
fn in_a_form_the_digests_of_the_body_are_of_the_form_and_those_of_the_file_of_the_gem() {
    let world = world();
    let admin = world.admin();
    let gem = Gem::new("lamp", "1.0").bytes();
    let begin = b"--b\r\nContent-Disposition: form-data; name=\"gem\"; filename=\"lamp-1.0.gem\"\r\n\r\n";
    let form = [&begin[..], &gem, b"\r\n--b--\r\n"].concat();
    let push = |header: &str, value: &str| {
        let kind = ("Content-Type", "multipart/form-data; boundary=b");
        admin.ask("POST", "/repository/gems-private/api/v1/gems", &[kind, (header, value)], &form)
    };
    for ((header, of_gem), (_, of_form)) in declarations(&gem).iter().zip(&declarations(&form)) {
        let (right, wrong) = if header.starts_with("X-Checksum") { (of_gem, of_form) } else { (of_form, of_gem) };
        push(header, wrong).expect(400);
        push(header, right).expect(200);
    }
}
