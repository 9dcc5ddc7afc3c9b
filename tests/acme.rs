//! Certificates by ACME: Debian's pebble is the authority, and curl the client.

use crate::world::{BOUND, Pebble, Ports, World, almost_over, await_true, eventually, free_port};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

const NAME: &str = "packages.example";

fn ports() -> Ports {
    Ports { tls: free_port(), http: free_port() }
}

/// The settings of a server that asks this authority. `more`: lines of `[server.acme]`.
fn settings(pebble: &Pebble, ports: Ports, more: &str) -> String {
    format!(
        "[server]\nlisten = \"127.0.0.1:{}\"\n[server.acme]\ndirectory = \"{}\"\nnames = \"{NAME}\"\n{more}\n",
        ports.tls,
        pebble.directory()
    )
}

/// The setting that has the server trust the company that signed the certificate of the authority itself.
fn trust(pebble: &Pebble) -> String {
    format!("trust = \"{}\"", pebble.trust().display())
}

/// The output of curl for a path by the server's name.
fn curl(world: &World, path: &str, more: &[&str]) -> Output {
    let to = format!("{NAME}:443:{}", world.address());
    let flags = ["--silent", "--show-error", "--fail", "--max-time", "60", "--connect-to", &to];
    Command::new("curl").args(flags).args(more).arg(format!("https://{NAME}{path}")).output().unwrap()
}

/// What the server answers to a client that trusts only this root. Empty: the client refuses its certificate.
fn trusted(world: &World, root: &Path, path: &str) -> String {
    String::from_utf8(curl(world, path, &["--cacert", root.to_str().unwrap()]).stdout).unwrap()
}

/// What it answers to a client that takes any certificate.
fn insecure(world: &World, path: &str) -> String {
    String::from_utf8(curl(world, path, &["--insecure"]).stdout).unwrap()
}

/// The finding about the authority, once it says this.
fn finding(world: &World, pebble: &Pebble, says: &str) -> String {
    let token = format!("Authorization: {}", world.admin().secret());
    let id = format!("certificate-not-renewed@authority:{}", pebble.authority());
    eventually(|| {
        let get = |path: &str| curl(world, path, &["--insecure", "-H", &token]).stdout;
        // This has the checks look with the facts of now.
        get("/api/v1/sizing");
        let said = get("/api/v1/findings?state=pending,open");
        let said: Value = serde_json::from_slice(&said).map_err(|error| error.to_string())?;
        let all = said["findings"].as_array().unwrap().iter();
        let one = all.filter(|finding| finding["id"] == *id).map(|finding| finding["sentence"].as_str().unwrap());
        one.filter(|sentence| sentence.contains(says))
            .map(str::to_owned)
            .next()
            .ok_or_else(|| format!("no {id}: {said:#}"))
    })
}

/// A value of `openssl x509`, such as `-serial`, of the certificate that the server shows.
fn shown(world: &World, what: &str) -> String {
    let script = format!(
        "openssl s_client -connect {} -servername {NAME} </dev/null 2>/dev/null | openssl x509 -noout {what}",
        world.address()
    );
    String::from_utf8(Command::new("sh").args(["-c", &script]).output().unwrap().stdout).unwrap()
}

/// Reloads, and waits until so many attempts have failed in all.
fn fails_again(world: &World, attempts: usize) {
    world.reload("");
    eventually(|| match world.log().matches("cannot get a certificate").count() {
        found if found >= attempts => Ok(()),
        found => Err(format!("{found} failed:\n{}", world.log())),
    });
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn the_first_certificate_is_proven_by_the_handshake_and_restarts_keep_it_and_its_account() {
    let ports = ports();
    let pebble = Pebble::start(ports);
    let mut world = World::start_with_file(&settings(&pebble, ports, &trust(&pebble)));
    world.await_log("got a certificate");
    assert_eq!(trusted(&world, &pebble.root(), "/health/ready"), "ready\n");
    let (first, folder) = (shown(&world, "-serial"), world.data().join("acme"));
    assert_eq!(mode(&folder), 0o700);
    for file in ["account.json", "certificate.pem", "key.pem"] {
        assert_eq!(mode(&folder.join(file)), 0o600, "{file}");
    }
    let metrics = insecure(&world, "/metrics");
    assert!(metrics.contains("daylight_certificate_expiry_timestamp_seconds{certificate=\"server\"}"), "{metrics}");

    world.restart();
    assert_eq!(shown(&world, "-serial"), first);
    world.stop();
    world.resume();
    assert_eq!(shown(&world, "-serial"), first);
    assert_eq!((pebble.count("sign-me-up"), pebble.count("order-plz")), (1, 1), "it asked again");

    // A certificate that ends soon is renewed while the server runs, with the same account.
    world.stop();
    almost_over(&folder, &[NAME]);
    world.resume();
    await_true("it is renewed", || pebble.count("order-plz") == 2);
    eventually(|| match trusted(&world, &pebble.root(), "/health/ready").as_str() {
        "ready\n" => Ok(()),
        other => Err(format!("{other}, {}", world.log())),
    });
    assert_ne!(shown(&world, "-serial"), first);
    assert_eq!(pebble.count("sign-me-up"), 1);
}

#[test]
fn the_first_certificate_is_proven_by_plain_http_which_leads_all_else_to_https() {
    let ports = ports();
    // It finds nobody where it would look for a handshake.
    let pebble = Pebble::start(Ports { tls: free_port(), ..ports });
    let settings = settings(&pebble, ports, &trust(&pebble));
    let settings = settings.replace("[server]\n", &format!("[server]\nhttp_listen = \"127.0.0.1:{}\"\n", ports.http));
    let world = World::start_with_file(&settings);
    world.await_log("got a certificate");
    assert_eq!(trusted(&world, &pebble.root(), "/health/ready"), "ready\n");

    let plain = |path: &str, more: &[&str]| {
        let to = format!("{NAME}:80:127.0.0.1:{}", ports.http);
        let mut curl = Command::new("curl");
        curl.args(["--silent", "--show-error", "--max-time", "60", "--connect-to", &to]).args(more);
        String::from_utf8(curl.arg(format!("http://{NAME}{path}")).output().unwrap().stdout).unwrap()
    };
    let told = ["--output", "/dev/null", "--write-out", "%{http_code} %{redirect_url}"];
    let asked = format!("/repository/{}/names?a=b%2Fc", crate::world::FIRST);
    let led = plain(&asked, &told);
    assert!(led.starts_with("308 https://packages.example") && led.ends_with(&asked), "{led}");
    assert!(plain(&asked, &[&told[..], &["--head"]].concat()).starts_with("308 "));
    let sent = plain("/repository/gems-private/api/v1/gems", &["--data", "lamp", "--write-out", "\n%{http_code}"]);
    assert!(sent.contains("hint:") && !sent.ends_with("\n308"), "{sent}");
    // A token that no order waits for.
    assert!(plain("/.well-known/acme-challenge/none", &told).starts_with("404 "));
}

#[test]
fn while_the_authority_is_away_the_server_serves_and_tells_it_and_an_authority_that_forgot_the_account_gets_another() {
    let ports = ports();
    let mut pebble = Pebble::stopped(ports, false);
    let world = World::start_with_file(&settings(&pebble, ports, &trust(&pebble)));
    world.await_log("cannot get a certificate");
    let ready = insecure(&world, "/health/ready");
    assert!(ready.contains("degraded: "), "{ready}");
    let told = finding(&world, &pebble, "there is none yet, so clients refuse the server");
    assert!(told.contains(NAME), "{told}");

    pebble.resume();
    world.reload("got a certificate");
    assert_eq!(trusted(&world, &pebble.root(), "/health/ready"), "ready\n");

    // It ends soon, and the authority is away. The file is replaced as by an admin.
    pebble.kill();
    almost_over(&world.data().join("acme"), &[NAME]);
    world.reload("using a new TLS certificate");
    let old = shown(&world, "-serial");
    for attempts in 2..=4 {
        fails_again(&world, attempts);
    }
    finding(&world, &pebble, " attempts), and the one in use ends in 2 days");
    assert_eq!(shown(&world, "-serial"), old);
    assert!(insecure(&world, "/health/ready").contains("ready\n"));

    // It is back, with another root and without accounts.
    pebble.resume();
    world.reload("");
    eventually(|| match trusted(&world, &pebble.root(), "/health/ready").as_str() {
        "ready\n" => Ok(()),
        other => Err(format!("{other}, {}", world.log())),
    });
    assert_ne!(shown(&world, "-serial"), old);
    assert_eq!(pebble.count("sign-me-up"), 2);
}

#[test]
fn a_proof_that_the_authority_does_not_find_leaves_the_old_certificate_and_is_told_in_its_words() {
    let ports = ports();
    let pebble = Pebble::start(ports);
    // The name leads to another machine, where nobody listens.
    pebble.leads(NAME, "127.0.0.9");
    let mut world = World::start_with_file(&settings(&pebble, ports, &trust(&pebble)));
    world.await_log("cannot get a certificate");
    world.stop();
    almost_over(&world.data().join("acme"), &[NAME]);
    world.resume();
    let old = shown(&world, "-serial");
    eventually(|| match world.log().matches("Failed to connect to 127.0.0.9").count() {
        2.. => Ok(()),
        _ => Err(world.log()),
    });
    assert_eq!(shown(&world, "-serial"), old);
    assert!(pebble.count("order-plz") <= 4, "it asks again without a pause");

    pebble.leads(NAME, "127.0.0.1");
    world.reload("got a certificate");
    assert_eq!(trusted(&world, &pebble.root(), "/health/ready"), "ready\n");
}

#[test]
fn an_authority_that_binds_accounts_gives_one_to_the_holder_of_its_key_and_tells_others_why_not() {
    let ports = ports();
    let mut pebble = Pebble::stopped(ports, true);
    pebble.resume();
    let mut world = World::start_with_file(&settings(&pebble, ports, &trust(&pebble)));
    world.await_log("cannot get a certificate");
    assert!(world.log().contains("eab_key"), "no hint: {}", world.log());
    world.stop();

    let (id, key) = BOUND;
    let (file, wrong) = (pebble.file("key"), "c2VjcmV0LXRoYXQtbm9ib2R5LWhhcy1nb3QtZnJvbS1oZXI");
    let bound = format!("{}\neab_key_id = \"{id}\"\neab_key = \"file:{}\"", trust(&pebble), file.display());
    std::fs::write(&file, wrong).unwrap();
    world.configure(&settings(&pebble, ports, &bound));
    world.resume();
    eventually(|| match world.log().matches("cannot get a certificate").count() {
        2.. => Ok(()),
        _ => Err(world.log()),
    });
    assert!(!world.log().contains(wrong), "{}", world.log());
    world.stop();

    std::fs::write(&file, format!("{key}\n")).unwrap();
    world.resume();
    world.await_log("got a certificate");
    assert_eq!(trusted(&world, &pebble.root(), "/health/ready"), "ready\n");
    for file in world.files() {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!bytes.windows(key.len()).any(|bytes| bytes == key.as_bytes()), "{} has the key", file.display());
    }
}

#[test]
fn an_authority_whose_certificate_nobody_vouches_for_is_asked_nothing_and_the_setting_is_named() {
    let ports = ports();
    let pebble = Pebble::start(ports);
    let world = World::start_with_file(&settings(&pebble, ports, ""));
    world.await_log("cannot get a certificate");
    assert!(world.log().contains("server.acme.trust"), "{}", world.log());
    assert_eq!(pebble.count("sign-me-up"), 0);
}
