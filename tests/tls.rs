//! The program with a certificate, and curl as its client.

use crate::world::{FIRST, Gem, Ruby, World};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder with a self-signed certificate for 127.0.0.1 and its key.
pub(crate) struct Certificate(TempDir);

impl Certificate {
    pub(crate) fn new() -> Self {
        let certificate = Self(TempDir::new().unwrap());
        certificate.renew();
        certificate
    }

    /// Replaces both files by new ones.
    fn renew(&self) {
        let made = Command::new("openssl")
            .args("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=daylight".split(' '))
            // rustls takes no certificate of an authority for that of a server.
            .args(["-addext", "basicConstraints=critical,CA:FALSE"])
            .args(["-addext", "subjectAltName=IP:127.0.0.1", "-out", "certificate.pem", "-keyout", "key.pem"])
            .current_dir(&self.0)
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.0.path().join("certificate.pem")
    }

    pub(crate) fn settings(&self) -> String {
        let (certificate, key) = (self.file(), self.0.path().join("key.pem"));
        format!("[server]\ntls_certificate = \"{}\"\ntls_key = \"{}\"\n", certificate.display(), key.display())
    }
}

/// The output of curl for a path, if it trusts only this certificate.
pub(crate) fn curl(world: &World, trusts: &Path, path: &str, more: &[&str]) -> Output {
    let url = format!("https://{}{path}", world.address());
    let flags = ["--silent", "--show-error", "--fail", "--max-time", "60", "--cacert"];
    Command::new("curl").args(flags).arg(trusts).args(more).arg(url).output().unwrap()
}

#[test]
fn gems_are_pushed_and_fetched_through_tls_and_a_renewed_certificate_is_shown_without_a_restart() {
    let certificate = Certificate::new();
    let mut world = World::start_with_file(&certificate.settings());
    assert_eq!(world.said().last().unwrap(), &format!("listening on https://{}", world.address()));

    let gem = Gem::new("lamp", "1.0.0").payload(&vec![7; 3 << 20]).bytes();
    let file = certificate.0.path().join("lamp.gem");
    std::fs::write(&file, &gem).unwrap();
    let token = format!("Authorization: {}", world.admin().secret());
    let body = format!("@{}", file.display());
    let pushed = ["--data-binary", &body, "-H", "Content-Type: application/octet-stream", "-H", &token];
    let pushed = curl(&world, &certificate.file(), &format!("/repository/{FIRST}/api/v1/gems"), &pushed);
    assert!(pushed.status.success(), "{}", String::from_utf8_lossy(&pushed.stderr));
    let path = format!("/repository/{FIRST}/gems/lamp-1.0.0.gem");
    assert_eq!(curl(&world, &certificate.file(), &path, &[]).stdout, gem);

    let old = certificate.0.path().join("old.pem");
    std::fs::copy(certificate.file(), &old).unwrap();
    certificate.renew();
    world.reload("using a new TLS certificate");
    assert_eq!(curl(&world, &certificate.file(), &path, &[]).stdout, gem);
    assert!(!curl(&world, &old, &path, &[]).status.success(), "the old one is still shown");

    world.restart();
    assert_eq!(curl(&world, &certificate.file(), &path, &[]).stdout, gem);
    world.stop();
}

#[test]
fn the_command_line_asks_through_tls_who_it_trusts() {
    let certificate = Certificate::new();
    let world = World::start_with_file(&certificate.settings());
    let list_with = |trusts: &Path, flags: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_daylight"));
        command.args(["repo", "list", "--server", &format!("https://{}", world.address())]).args(flags);
        command.env("DAYLIGHT_TOKEN", world.admin().secret()).env("SSL_CERT_FILE", trusts).output().unwrap()
    };
    let list = |trusts: &Path| list_with(trusts, &[]);
    let listed = list(&certificate.file());
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    assert!(String::from_utf8(listed.stdout).unwrap().contains(FIRST));

    let other = Certificate::new();
    let refused = list(&other.file());
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && said.contains("TLS") && said.contains("`--server-trust FILE`"), "{said}");
    // What this machine does not trust is named by a flag.
    let listed = list_with(&other.file(), &["--server-trust", certificate.file().to_str().unwrap()]);
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    assert!(!list_with(&other.file(), &["--server-trust", other.file().to_str().unwrap()]).status.success());
}

#[test]
fn http_2_is_agreed_on_with_who_offers_it_and_http_1_with_who_does_not() {
    let certificate = Certificate::new();
    let world = World::start_with_file(&certificate.settings());
    let gem = Gem::new("lamp", "1.0.0").payload(&vec![7; 3 << 20]).bytes();
    let file = certificate.0.path().join("lamp.gem");
    std::fs::write(&file, &gem).unwrap();
    let spoken = ["--output", "/dev/null", "--write-out", "%{http_version} %{http_code}"];
    let told = |path: &str, more: &[&str]| {
        let told = curl(&world, &certificate.file(), path, &[&spoken, more].concat());
        String::from_utf8(told.stdout).unwrap()
    };
    let (token, body) = (format!("Authorization: {}", world.admin().secret()), format!("@{}", file.display()));
    let push = ["--data-binary", &body, "-H", "Content-Type: application/octet-stream", "-H", &token];
    assert_eq!(told(&format!("/repository/{FIRST}/api/v1/gems"), &push), "2 200");
    let path = format!("/repository/{FIRST}/gems/lamp-1.0.0.gem");
    assert_eq!(told(&path, &["--http2"]), "2 200");
    assert_eq!(told(&path, &["--http1.1"]), "1.1 200");
    assert_eq!(told(&path, &["--no-alpn"]), "1.1 200");
    assert_eq!(curl(&world, &certificate.file(), &path, &["--http2"]).stdout, gem);
}

#[test]
fn gem_and_bundle_push_resolve_and_install_through_tls() {
    let certificate = Certificate::new();
    let mut world = World::start_with_file(&certificate.settings());
    let ruby = Ruby::new();
    let file = ruby.build(&Gem::new("lamp", "1.0.0"));
    let host = format!("https://{}/repository/{FIRST}/", world.address());
    let script = format!(
        "export SSL_CERT_FILE={}; gem push --host {host} {}; mkdir app; cd app\n\
         printf 'source \"{host}\"\\ngem \"lamp\"\\n' > Gemfile; bundle install; bundle exec ruby -e 'require \"lamp\"'",
        certificate.file().display(),
        file.display()
    );
    ruby.shell(world.admin().secret(), &script).good();
    world.stop();
    let events = crate::pages::events(&world);
    let of = |agent: &str| {
        let theirs = |event: &&serde_json::Value| event["agent"].as_str().is_some_and(|name| name.contains(agent));
        events.iter().filter(theirs).collect::<Vec<_>>()
    };
    for agent in ["RubyGems/", "bundler/"] {
        // These clients do not support HTTP/2.
        assert!(!of(agent).is_empty() && of(agent).iter().all(|event| event["protocol"] == "HTTP/1.1"), "{agent}");
    }
}
