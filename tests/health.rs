//! `daylight health`: 0 where the server of these settings is ready, and 1 in every other case.

use crate::tls::Certificate;
use crate::world::{World, eventually, program};
use std::io::{Read, Write};
use std::net::TcpListener;
use tempfile::TempDir;

/// The exit code of a line, and what it printed.
#[track_caller]
fn health(line: &[&str]) -> (Option<i32>, String) {
    let said = program(&["health"]).args(line).output().unwrap();
    (said.status.code(), String::from_utf8([said.stdout, said.stderr].concat()).unwrap())
}

#[test]
fn a_server_that_is_ready_is_healthy_and_one_that_has_stopped_is_not() {
    let mut world = World::start();
    let address = world.address().to_string();
    assert_eq!(health(&["--listen", &address]), (Some(0), "ready\n".to_owned()));
    assert_eq!(health(&["--listen", &address, "--live"]), (Some(0), "alive\n".to_owned()));
    let everywhere = format!("0.0.0.0:{}", world.address().port());
    assert_eq!(health(&["--listen", &everywhere]).0, Some(0), "it is asked on loopback");
    let named = |line: &[&str]| program(&["health"]).args(line).env("DAYLIGHT_SERVER", world.root()).output().unwrap();
    let said = named(&[]);
    assert_eq!((said.status.code(), &said.stdout[..]), (Some(0), &b"ready\n"[..]), "{said:?}");
    assert_eq!(named(&["--listen", "127.0.0.1:9"]).status.code(), Some(1), "a flag counts before a variable");
    let json: serde_json::Value = serde_json::from_str(&health(&["--json", "--listen", &address]).1).unwrap();
    assert_eq!(json, serde_json::json!({ "health": "ready", "degraded": [] }));
    world.stop();
    let (code, said) = health(&["--listen", &address]);
    assert_eq!(code, Some(1));
    assert!(
        said.starts_with(&format!("error: the server does not answer at {address}: nothing listens there\nhint: ")),
        "{said}"
    );
}

#[test]
fn a_server_that_is_not_ready_is_not_healthy_and_says_why() {
    let world = World::start();
    let address = world.address().to_string();
    let (truth, aside) = (world.data().join("truth.sqlite"), world.data().join("aside"));
    std::fs::rename(&truth, &aside).unwrap();
    let said = eventually(|| match health(&["--listen", &address]) {
        (Some(1), said) => Ok(said),
        (code, said) => Err(format!("{code:?}: {said}")),
    });
    assert!(said.starts_with("error: not ready: the database cannot be read"), "{said}");
    assert_eq!(health(&["--live", "--listen", &address]).0, Some(0));
    std::fs::rename(&aside, &truth).unwrap();
}

#[test]
fn the_settings_tell_that_the_server_speaks_tls_or_wants_the_line_of_a_proxy() {
    let certificate = Certificate::new();
    for (name, settings) in [
        ("tls", certificate.settings()),
        ("proxy", "[server]\ntrusted_proxies = \"127.0.0.1\"\nclient_from = \"proxy-protocol\"\n".to_owned()),
    ] {
        let world = World::start_with_file(&settings);
        let (folder, address) = (TempDir::new().unwrap(), world.address().to_string());
        let file = folder.path().join("daylight.toml");
        std::fs::write(&file, &settings).unwrap();
        let file = file.to_str().unwrap();
        let said = health(&["--config", file, "--listen", &address]);
        assert_eq!(said, (Some(0), "ready\n".to_owned()), "{name}");
        // The file of another server.
        let said = health(&["--listen", &address]);
        assert_eq!(said.0, Some(1), "{name}: {}", said.1);
    }
}

#[test]
fn wrong_settings_exit_with_1_as_well_because_docker_reserves_2() {
    for (line, error) in [
        (&["--config", "/nowhere.toml"][..], "error: cannot read the configuration file `/nowhere.toml`"),
        (&["--listen", "127.0.0.1:0"], "error: `server.listen` has port 0, so the port is not known\nhint: "),
        (&["--listen", "nowhere"], "error: flag --listen: "),
    ] {
        let (code, said) = health(line);
        assert!(code == Some(1) && said.starts_with(error), "{code:?}: {said}");
    }
}

#[test]
fn something_that_is_not_this_server_is_not_healthy() {
    for answer in ["HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "SSH-2.0-other\r\n", ""] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let other = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]);
            stream.write_all(answer.as_bytes()).unwrap();
        });
        let (code, said) = health(&["--listen", &address]);
        assert_eq!(code, Some(1), "{said}");
        other.join().unwrap();
    }
}
