//! Private repositories and hosts of upstreams are named only to tokens with the scope `observe`.

use crate::accounts::settled;
use crate::tls::Certificate;
use crate::world::{Person, Says, Upstream, World, await_true};
use serde_json::json;
use std::process::Command;

fn told(person: &Person) -> String {
    person.get("/metrics").expect(200).text().to_owned()
}

#[test]
fn the_expiry_of_a_client_certificate_is_told_by_the_repository_that_shows_it() {
    let (certificate, upstream) = (Certificate::new(), Upstream::start());
    upstream.file("/lamp", "bytes");
    let folder = certificate.file().parent().unwrap().to_owned();
    let both = ["certificate.pem", "key.pem"].map(|file| std::fs::read_to_string(folder.join(file)).unwrap());
    std::fs::write(folder.join("both.pem"), both.concat()).unwrap();
    let world = World::start_with_file(&format!("[upstream]\ncredentials_folder = {folder:?}\n"));
    let remote = json!({ "urls": [upstream.url()], "certificate": folder.join("both.pem") });
    world.make(&json!({ "name": "far", "format": "raw", "remote": remote }));
    let line = "daylight_upstream_certificate_expiry_timestamp_seconds{repository=\"far\"} ";
    let expires = || told(&world.admin()).lines().find_map(|found| found.strip_prefix(line)?.parse::<f64>().ok());
    assert_eq!(expires(), None, "its file was not read yet");
    world.admin().file("far", "lamp").expect(200);
    let mut openssl = Command::new("openssl");
    openssl.args(["x509", "-noout", "-enddate", "-dateopt", "iso_8601", "-in"]);
    let shown = openssl.arg(folder.join("both.pem")).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    let shown: jiff::Timestamp = shown.trim().trim_start_matches("notAfter=").parse().unwrap();
    assert_eq!(expires(), Some(shown.as_second() as f64));
}

#[test]
fn a_private_repository_is_named_to_its_observers_and_hosts_to_observers_of_the_whole_server() {
    let (world, upstream) = (World::start(), Upstream::start());
    upstream.file("/lamp", "bytes");
    for name in ["vault", "attic"] {
        let remote = json!({ "urls": [upstream.url()] });
        world.make(&json!({ "name": name, "format": "raw", "private": true, "remote": remote }));
        world.admin().file(name, "lamp").expect(200);
    }
    settled(&world);
    let reader = world.person("reader", &["read", "write"], &[]);
    let (observer, all) = (world.person("one", &["observe"], &["vault"]), world.person("all", &["observe"], &[]));
    let host = upstream.address().to_string();
    let named = |page: &str| ["vault", "attic", host.as_str()].map(|name| page.contains(&format!("\"{name}\"")));
    let strangers = [told(&world.anon()), told(&world.holder("daylight_of-nobody")), told(&reader)];
    for page in &strangers {
        assert_eq!(named(page), [false; 3]);
        assert!(page.contains("daylight_repository_requests_total{repository=\"(other)\"} 2\n"), "{page}");
        assert!(page.contains("daylight_repository_bytes{repository=\"(other)\"} 10\n"), "{page}");
    }
    assert_eq!(named(&told(&observer)), [true, false, false]);
    assert!(told(&observer).contains("daylight_repository_requests_total{repository=\"(other)\"} 1\n"));
    assert_eq!([named(&told(&all)), named(&told(&world.admin()))], [[true; 3]; 2]);
    // The number of the host is the label of its bounds, for everybody.
    let hosts = world.admin().get("/api/v1/upstreams").expect(200).json();
    let number =
        hosts["upstreams"].as_array().unwrap().iter().find(|one| one["host"] == *host).unwrap()["number"].clone();
    assert!(strangers[0].contains(&format!("daylight_upstream_received_bytes_total{{host=\"{number}\"}} 10\n")));
    assert!(
        told(&world.admin()).contains(&format!("daylight_upstream_info{{host=\"{host}\",number=\"{number}\"}} 1\n"))
    );
}

#[test]
fn open_findings_are_told_with_subjects_that_the_reader_may_know() {
    let world = World::start_in_conformance(&[("DAYLIGHT_TELEMETRY_ACCESS_LOG_FILE", "access.log")]);
    world.set_time("2026-11-02T12:00:00Z");
    let subject = "setting:telemetry.access_log_file";
    let of = |family: &str, subject: &str| {
        format!("\ndaylight_finding_{family}{{finding=\"contradictory-settings\",subject=\"{subject}\"}} ")
    };
    await_true("it is pending", || !world.findings().is_empty());
    assert!(!told(&world.admin()).contains("daylight_finding_open{"), "it is not open yet");
    world.set_time("2026-11-02T12:06:00Z");
    await_true("it is open", || told(&world.admin()).contains(&(of("open", subject) + "1\n")));
    for page in [told(&world.admin()), told(&world.anon())] {
        assert!(page.contains(&(of("open", subject) + "1\n")), "settings are no secret: {page}");
        assert!(page.contains(&of("lost_seconds_per_hour", subject)), "{page}");
        assert!(page.contains("\ndaylight_findings{state=\"open\"} 1\n") && page.contains("\ndaylight_ready 1\n"));
    }
    let mute = json!({ "why": "later", "until": "30d" });
    let path = format!("/api/v1/findings/mute/contradictory-settings@{subject}");
    world.admin().post_json(&path, &mute).expect(200);
    await_true("a muted one is not told", || !told(&world.admin()).contains("daylight_finding_open{"));
}

#[test]
fn the_host_of_a_finding_is_told_to_observers_of_the_whole_server() {
    let (world, upstream) = (World::start_in_conformance(&[]), Upstream::start());
    world.set_time("2026-11-02T12:00:00Z");
    world.remote_of("raw", "far", &upstream.url());
    upstream.says_otherwise(Says::status(500));
    for number in 0..30 {
        world.anon().file("far", &format!("file{number}"));
    }
    settled(&world);
    let subject = format!("upstream:{}", upstream.address());
    let line =
        |subject: &str| format!("\ndaylight_finding_open{{finding=\"upstream-fails\",subject=\"{subject}\"}} 1\n");
    await_true("it is pending", || !world.findings().is_empty());
    world.set_time("2026-11-02T12:06:00Z");
    await_true("it is open", || told(&world.admin()).contains(&line(&subject)));
    let page = told(&world.anon());
    assert!(page.contains(&line("(other)")) && !page.contains(&subject), "{page}");
}
