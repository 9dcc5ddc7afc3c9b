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
        certificate.renew(2);
        certificate
    }

    /// Replaces the certificate by one of the same key that expired long ago.
    pub(crate) fn expire(&self) {
        let settings = "[ca]\ndefault_ca = a\n[a]\ndatabase = index\nnew_certs_dir = .\nrand_serial = yes\ndefault_md = sha256\n\
                        policy = p\nx509_extensions = x\n[p]\ncommonName = supplied\n[x]\nbasicConstraints = critical,CA:FALSE\n\
                        subjectAltName = IP:127.0.0.1\n";
        std::fs::write(self.0.path().join("settings"), settings).unwrap();
        std::fs::write(self.0.path().join("index"), "").unwrap();
        let script = "openssl req -new -key key.pem -subj /CN=daylight -out asked && openssl ca -batch -selfsign -notext -config settings \
                      -keyfile key.pem -in asked -out certificate.pem -startdate 200101000000Z -enddate 200102000000Z";
        let made = Command::new("sh").args(["-c", script]).current_dir(&self.0).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }

    /// Replaces both files by new ones.
    pub(crate) fn renew(&self, days: u32) {
        let made = Command::new("openssl")
            .args("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=daylight".split(' '))
            .args(["-days", &days.to_string()])
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

    pub(crate) fn key(&self) -> PathBuf {
        self.0.path().join("key.pem")
    }

    pub(crate) fn settings(&self) -> String {
        let (certificate, key) = (self.file(), self.key());
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
    certificate.renew(2);
    world.reload("using a new TLS certificate");
    assert_eq!(curl(&world, &certificate.file(), &path, &[]).stdout, gem);
    assert!(!curl(&world, &old, &path, &[]).status.success(), "the old one is still shown");

    world.restart();
    assert_eq!(curl(&world, &certificate.file(), &path, &[]).stdout, gem);
    world.stop();
}

#[test]
fn a_certificate_that_cannot_be_used_replaces_none_and_the_metric_and_the_probe_tell_of_the_one_in_use() {
    let certificate = Certificate::new();
    let world = World::start_with_file(&certificate.settings());
    let old = certificate.0.path().join("old.pem");
    std::fs::copy(certificate.file(), &old).unwrap();
    let told = |path: &str| {
        let told = curl(&world, &old, path, &[]);
        assert!(told.status.success(), "the one in use is not shown: {}", String::from_utf8_lossy(&told.stderr));
        String::from_utf8(told.stdout).unwrap()
    };
    let metrics = || {
        let lines = told("/metrics");
        lines.lines().filter(|line| line.starts_with("daylight_certificate_")).collect::<Vec<_>>().join("\n")
    };
    let ready = || told("/health/ready");
    let (first, is_in_use) = (metrics(), "daylight_certificate_files_refused{certificate=\"server\"} 0");
    assert!(first.contains(is_in_use) && first.contains("_expiry_timestamp_seconds"), "{first}");
    let refused = first.replace(is_in_use, &is_in_use.replace(" 0", " 1"));
    let key = certificate.0.path().join("key.pem");
    let longer = Certificate::new();
    longer.renew(60);

    std::fs::copy(longer.file(), certificate.file()).unwrap();
    world.reload("KeyMismatch");
    assert_eq!(metrics(), refused);
    assert!(ready().contains("degraded: the files of the TLS certificate cannot be used"), "{}", ready());
    std::fs::write(certificate.file(), "nothing").unwrap();
    world.reload("the file contains none");
    assert_eq!(metrics(), refused);
    std::fs::remove_file(&key).unwrap();
    world.reload("cannot read");
    assert_eq!(metrics(), refused);
    certificate.renew(2);
    certificate.expire();
    world.reload("is valid from");
    assert_eq!(metrics(), refused);
    assert!(!world.log().contains("valid again"), "{}", world.log());

    std::fs::copy(longer.file(), certificate.file()).unwrap();
    std::fs::copy(longer.0.path().join("key.pem"), &key).unwrap();
    world.reload("using a new TLS certificate");
    std::fs::copy(longer.file(), &old).unwrap();
    assert_ne!(metrics(), first);
    assert!(metrics().contains(is_in_use));
    assert_eq!(ready(), "ready\n");
}

#[test]
fn an_expired_certificate_is_told_by_the_probe_until_a_valid_one_replaces_it() {
    let certificate = Certificate::new();
    certificate.expire();
    let world = World::start_with_file(&certificate.settings());
    let ready =
        |more: &[&str]| String::from_utf8(curl(&world, &certificate.file(), "/health/ready", more).stdout).unwrap();
    assert_eq!(ready(&[]), "", "curl takes an expired one");
    let told = ready(&["--insecure"]);
    assert!(told.contains("\ndegraded: the TLS certificate expired on "), "{told}");
    world.await_log("the TLS certificate has expired: clients refuse it");
    certificate.renew(2);
    world.reload("using a new TLS certificate");
    assert_eq!(ready(&[]), "ready\n");
}

#[test]
fn the_command_line_asks_through_tls_who_it_trusts() {
    let certificate = Certificate::new();
    let world = World::start_with_file(&certificate.settings());
    let list_with = |trusts: &Path, flags: &[&str]| {
        let mut command = world.command(&["repo", "list", "--server", &format!("https://{}", world.address())]);
        command.args(flags).env("SSL_CERT_FILE", trusts).output().unwrap()
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
