//! Debian's pebble, a certificate authority that speaks ACME, on ports of loopback, and the names that it finds.

use super::{TIMEOUT, eventually, free_port};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// The key with which an account is bound, and its id, where the authority asks for one.
pub(crate) const BOUND: (&str, &str) = ("team-1", "WqXb4qCkPZ3TzT1aWmYHkP0ZtWl6m6y5o2n0Vb3mZbM");

/// Where the authority looks for its challenges.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ports {
    /// Where it connects with TLS.
    pub(crate) tls: u16,
    /// Where it sends plain requests.
    pub(crate) http: u16,
}

/// An authority. Dropping it kills it. As a company's does, it shows a certificate of another authority, which no machine trusts.
pub(crate) struct Pebble {
    process: Option<Child>,
    names: Child,
    /// Where the server of names takes orders.
    orders: u16,
    /// The server of names itself.
    dns: u16,
    port: u16,
    management: u16,
    folder: TempDir,
}

impl Pebble {
    /// Makes one that is not started yet. `binds`: it gives an account only to the holder of [`BOUND`].
    pub(crate) fn stopped(ports: Ports, binds: bool) -> Self {
        let folder = TempDir::new().unwrap();
        let [port, management, orders, dns] = [(); 4].map(|()| free_port());
        let script = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=company -days 2 -keyout company.key \
                      -out company.pem && openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=authority -keyout key.pem \
                      -out asked && printf 'subjectAltName=IP:127.0.0.1\\nbasicConstraints=critical,CA:FALSE\\n' > more && \
                      openssl x509 -req -in asked -CA company.pem -CAkey company.key -CAcreateserial -days 2 -extfile more -out certificate.pem";
        let made = Command::new("sh").args(["-euc", script]).current_dir(&folder).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let (id, key) = BOUND;
        let settings = serde_json::json!({ "pebble": {
            "listenAddress": format!("127.0.0.1:{port}"),
            "managementListenAddress": format!("127.0.0.1:{management}"),
            "certificate": "certificate.pem",
            "privateKey": "key.pem",
            "httpPort": ports.http,
            "tlsPort": ports.tls,
            "externalAccountBindingRequired": binds,
            "externalAccountMACKeys": { id: key },
        }});
        std::fs::write(folder.path().join("settings"), settings.to_string()).unwrap();
        let mut command = Command::new("pebble-challtestsrv");
        command.args(["-http01", "", "-https01", "", "-tlsalpn01", "", "-defaultIPv6", "", "-dns01"]);
        // An empty address of `-management` is port 80 of every address.
        command.arg(format!("127.0.0.1:{dns}")).arg("-management").arg(format!("127.0.0.1:{orders}"));
        let log = File::create(folder.path().join("names")).unwrap();
        command.env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let started = command.spawn();
        let names = started.unwrap_or_else(|error| panic!("the pebble-challtestsrv of `scripts/setup test`: {error}"));
        Self { process: None, names, orders, dns, port, management, folder }
    }

    /// Starts one for a server with these ports.
    pub(crate) fn start(ports: Ports) -> Self {
        let mut pebble = Self::stopped(ports, false);
        pebble.resume();
        pebble
    }

    /// Starts it again. It has forgotten all accounts and has made another root, as it keeps nothing.
    pub(crate) fn resume(&mut self) {
        let log = File::options().create(true).append(true).open(self.folder.path().join("log")).unwrap();
        let mut command = Command::new("pebble");
        command.args(["-config", "settings", "-dnsserver", &format!("127.0.0.1:{}", self.dns)]);
        // Without pauses. By chance it refuses nonces, and takes what was proven before as proven again; with these figures it does neither.
        command
            .env_clear()
            .env("PEBBLE_VA_NOSLEEP", "1")
            .env("PEBBLE_WFE_NONCEREJECT", "0")
            .env("PEBBLE_AUTHZREUSE", "0");
        command.current_dir(&self.folder).stdin(Stdio::null()).stderr(log.try_clone().unwrap()).stdout(log);
        let mut process = command.spawn().unwrap_or_else(|error| panic!("the pebble of `scripts/setup test`: {error}"));
        eventually(|| {
            assert!(process.try_wait().unwrap().is_none(), "pebble ended:\n{}", self.log());
            let root =
                self.asked(&["--cacert", "company.pem", &format!("https://127.0.0.1:{}/roots/0", self.management)]);
            std::fs::write(self.root(), root?).map_err(|error| error.to_string())
        });
        eventually(|| self.asked(&["--cacert", "company.pem", &self.directory()]).map(drop));
        self.process = Some(process);
    }

    /// Kills it. Its port is closed.
    pub(crate) fn kill(&mut self) {
        let mut process = self.process.take().unwrap();
        process.kill().unwrap();
        process.wait().unwrap();
    }

    /// The URL of its directory.
    pub(crate) fn directory(&self) -> String {
        format!("https://127.0.0.1:{}/dir", self.port)
    }

    /// `HOST:PORT`.
    pub(crate) fn authority(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The file with the certificate that its clients must trust.
    pub(crate) fn trust(&self) -> PathBuf {
        self.folder.path().join("company.pem")
    }

    /// The file with the root of the certificates that it has given since it started.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("root.pem")
    }

    /// A file in its folder.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Has it find this name at this address. It finds every other name at 127.0.0.1.
    pub(crate) fn leads(&self, name: &str, address: &str) {
        let order = |call: &str, what: serde_json::Value| {
            self.asked(&["--data", &what.to_string(), &format!("http://127.0.0.1:{}/{call}", self.orders)])
        };
        eventually(|| order("clear-a", serde_json::json!({ "host": name })));
        eventually(|| order("add-a", serde_json::json!({ "host": name, "addresses": [address] })));
    }

    /// How often its log has this text: `sign-me-up` for each account that is asked for, `order-plz` for each order.
    pub(crate) fn count(&self, text: &str) -> usize {
        self.log().matches(text).count()
    }

    /// Its log, of all starts.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    fn asked(&self, arguments: &[&str]) -> Result<Vec<u8>, String> {
        let limit = TIMEOUT.as_secs().to_string();
        let mut curl = Command::new("curl");
        curl.args(["--silent", "--show-error", "--fail", "--max-time", &limit]).args(arguments);
        let said = curl.current_dir(&self.folder).output().unwrap();
        if said.status.success() { Ok(said.stdout) } else { Err(String::from_utf8_lossy(&said.stderr).into_owned()) }
    }
}

impl Drop for Pebble {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the log of the authority:\n{}", self.log());
        }
        for process in self.process.iter_mut().chain([&mut self.names]) {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// Writes a certificate for these names and its key, both self-signed and in the last days of their five years.
pub(crate) fn almost_over(folder: &Path, names: &[&str]) {
    let names = names.iter().map(|name| format!("DNS:{name}")).collect::<Vec<_>>().join(",");
    let scratch = TempDir::new().unwrap();
    let settings = format!(
        "[ca]\ndefault_ca = a\n[a]\ndatabase = index\nnew_certs_dir = .\nrand_serial = yes\ndefault_md = sha256\npolicy = p\n\
         x509_extensions = x\n[p]\ncommonName = supplied\n[x]\nbasicConstraints = critical,CA:FALSE\nsubjectAltName = {names}\n"
    );
    std::fs::write(scratch.path().join("settings"), settings).unwrap();
    std::fs::write(scratch.path().join("index"), "").unwrap();
    let script = "openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=old -keyout key.pem -out asked && openssl ca \
                  -batch -selfsign -notext -config settings -keyfile key.pem -in asked -out certificate.pem \
                  -startdate $(date -u -d '-1800 days' +%y%m%d%H%M%SZ) -enddate $(date -u -d '+3 days' +%y%m%d%H%M%SZ) && \
                  cp key.pem certificate.pem \"$0\"";
    let mut command = Command::new("sh");
    let made = command.args(["-euc", script]).arg(folder).current_dir(&scratch).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}
