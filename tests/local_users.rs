//! Which requests are those of a user of this machine, who sees what an observer sees, without a token.

use crate::world::World;
use serde_json::json;
use std::process::Command;

const ANSWER: &str = "/explain?repository=all&path=a/b.txt";
/// What only observers are shown.
const SECRET: &str = "vault";

/// A public group whose explanation shows observers more than readers.
fn world(settings: &'static [(&'static str, &'static str)]) -> World {
    let world = World::start_with(settings);
    world.make(&json!({ "name": "vault", "format": "raw", "kind": "hosted", "private": true }));
    world.make(&json!({ "name": "all", "format": "raw", "kind": "group", "private": true, "members": ["vault"] }));
    world
}

/// Whether a request with these headers, by this user of the machine, is shown it.
fn sees(world: &World, uid: u32, headers: &[&str]) -> bool {
    let mut command = match uid {
        0 => Command::new("curl"),
        uid => {
            let mut command = Command::new("setpriv");
            command.args(["--reuid", &uid.to_string(), "--clear-groups", "curl"]);
            command
        }
    };
    command.args(["-sS", "--http1.1"]);
    for header in headers {
        command.args(["-H", header]);
    }
    let output = command.arg(format!("http://{}{ANSWER}", world.address())).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().contains(SECRET)
}

/// Whether the suite runs as the root of the machine: only then another user can ask, and root is local at all.
fn is_root() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap();
    rustix::process::geteuid().is_root() && map.split_whitespace().eq(["0", "0", "4294967295"])
}

#[test]
fn a_user_of_this_machine_observes_and_no_name_no_proxy_and_no_other_site_does_for_them() {
    let world = world(&[]);
    let root = is_root();
    assert_eq!(sees(&world, 0, &[]), root);
    let port = world.address().port();
    assert_eq!(sees(&world, 0, &[&format!("Host: localhost:{port}")]), root);
    for headers in [
        &["Host: evil.test"][..],
        &["Host: localhost.evil.test"],
        &["X-Forwarded-For: 127.0.0.1"],
        &["X-Forwarded-Host: localhost"],
        &["Forwarded: for=127.0.0.1"],
        &["Via: 1.1 a"],
        &["X-Real-IP: 127.0.0.1"],
        &["Sec-Fetch-Site: cross-site"],
        &["Origin: http://evil.test"],
        &["Origin: null"],
        // The rights of a token are those of the token.
        &["Authorization: Bearer wrong"],
    ] {
        assert!(!sees(&world, 0, headers), "{headers:?}");
    }
    if root {
        assert!(!sees(&world, 65534, &[]), "another user of this machine");
    }
    let guest = world.person("guest", &["read"], &["all"]);
    assert!(
        !sees(&world, 0, &[&format!("Authorization: Bearer {}", guest.secret())]),
        "the rights are those of the token"
    );
    // Calls of the API are for tokens.
    world.anon().get("/api/v1/explain?repository=all&path=a/b.txt").expect(401);
    world.anon().get("/api/v1/tokens").expect(401);
    world.anon().get("/repository/all/a/b.txt").expect(401);
}

#[test]
fn where_a_proxy_is_trusted_or_another_url_is_public_nobody_is_local() {
    for settings in [
        &[("DAYLIGHT_SERVER_TRUSTED_PROXIES", "192.0.2.1"), ("DAYLIGHT_SERVER_CLIENT_FROM", "x-forwarded-for")][..],
        &[("DAYLIGHT_SERVER_PUBLIC_URL", "https://packages.example.test")],
    ] {
        assert!(!sees(&world(settings), 0, &[]), "{settings:?}");
    }
}
