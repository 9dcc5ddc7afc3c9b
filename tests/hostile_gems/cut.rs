//! Uploads with a wrong length or without an end, and forms with gems.

use super::{honest, made, traces};
use crate::world::{FIRST, Index, World};

fn head(world: &World, headers: &str) -> Vec<u8> {
    let secret = world.admin().secret().to_owned();
    format!(
        "POST /repository/{FIRST}/api/v1/gems HTTP/1.1\r\nHost: localhost\r\nAuthorization: {secret}\r\n{headers}\r\n"
    )
    .into_bytes()
}

#[test]
fn a_length_that_lies_publishes_nothing_and_leaves_nothing() {
    let (mut world, before) = honest();
    let index = Index::read(&world.admin(), FIRST);
    let whole = made::gem("");
    // An announced length that is too short: the gem is cut, and the rest is no request.
    for short in [1, 512, whole.len() - 1] {
        let mut connection = world.anon().connect().unwrap();
        let request = [head(&world, &format!("Content-Length: {short}\r\n")), whole.clone()].concat();
        // It may answer and close before all of it is sent.
        let _ = connection.send(&request);
        let told = connection.answer(false).unwrap().expect(422);
        assert!(told.text().contains("cut short") || told.text().contains("not a gem"), "{}", told.text());
    }
    // A length that is too long, or chunks without an end: the client leaves.
    let chunk = [format!("{:x}\r\n", whole.len()).into_bytes(), whole.clone()].concat();
    for (headers, body) in [
        (format!("Content-Length: {}\r\n", whole.len() + 1), whole.clone()),
        ("Transfer-Encoding: chunked\r\n".to_owned(), chunk),
        (format!("Content-Length: {}\r\n", 100 << 20), whole[..700].to_vec()),
    ] {
        let mut connection = world.anon().connect().unwrap();
        connection.send(&[head(&world, &headers), body].concat()).unwrap();
        drop(connection);
    }
    // With a content coding: the server does not decode it, and says so.
    let packed = made::gzip(&whole);
    let mut connection = world.anon().connect().unwrap();
    let headers = format!("Content-Encoding: gzip\r\nContent-Length: {}\r\n", packed.len());
    connection.send(&[head(&world, &headers), packed].concat()).unwrap();
    connection.answer(false).unwrap().expect(400);
    assert_eq!(Index::read(&world.admin(), FIRST), index);
    // A stop waits for open requests, and so shows that they have ended.
    world.stop();
    assert_eq!(traces(&world), before);
}

/// A form with these fields, as Net::HTTP writes it.
fn form(fields: &[(&str, &[u8])]) -> Vec<u8> {
    let mut form = Vec::new();
    for (name, bytes) in fields {
        form.extend(b"--b1\r\nContent-Disposition: form-data; name=\"");
        form.extend([name.as_bytes(), b"\"; filename=\"x\"\r\n\r\n", bytes, b"\r\n"].concat());
    }
    form.extend(b"--b1--\r\n");
    form
}

#[test]
fn a_gem_in_a_form_is_published_and_one_with_attestations_is_not() {
    let (mut world, before) = honest();
    let admin = world.admin();
    let push = |body: &[u8]| {
        let path = format!("/repository/{FIRST}/api/v1/gems");
        admin.ask("POST", &path, &[("Content-Type", "multipart/form-data; boundary=b1")], body)
    };
    let gem = made::gem("");
    let attested = push(&form(&[("gem", &gem), ("attestations", b"[{\"mediaType\":\"x\"}]")])).expect(400);
    assert_eq!(attested.text(), "Pushing with an attestation requires trusted publishing\n");
    push(&form(&[("attestations", b"[{}]"), ("gem", &gem)])).expect(400);
    for bad in [
        form(&[]),
        form(&[("other", b"x")]),
        form(&[("gem", &gem), ("gem", &gem)]),
        form(&[("gem", &gem)])[..gem.len()].to_vec(),
        b"no form".to_vec(),
        gem.clone(),
    ] {
        push(&bad).expect(400);
    }
    push(&form(&[("gem", b"no gem")])).expect(422);
    push(&form(&[("gem", &made::gem("name: '../x'"))])).expect(403);
    world.stop();
    assert_eq!(traces(&world), before);

    world.resume();
    let admin = world.admin();
    let path = format!("/repository/{FIRST}/api/v1/gems");
    let kind = [("Content-Type", "multipart/form-data; boundary=\"b1\"")];
    let said = admin.ask("POST", &path, &kind, &form(&[("gem", &gem), ("attestations", b"[]")])).expect(200);
    assert_eq!(said.text(), "Successfully registered gem: lamp (2.0.0)");
    let served = admin.get(&format!("/repository/{FIRST}/gems/lamp-2.0.0.gem")).expect(200);
    assert!(served.body == gem, "the gem, and nothing of the form");
}
