//! Debian's Redis on a port of loopback, with a password, and with TLS on a second port.

use super::{TIMEOUT, eventually, free_port};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// The password of every server.
pub(crate) const REDIS_PASSWORD: &str = "open sesame";

/// A server. Dropping it kills it.
pub(crate) struct Redis {
    process: Child,
    port: u16,
    tls_port: u16,
    _folder: TempDir,
}

impl Redis {
    /// Starts it. `tls`: the files of its certificate and of its key.
    pub(crate) fn start(tls: Option<(&Path, &Path)>) -> Self {
        let folder = TempDir::new().unwrap();
        let (port, tls_port) = (free_port(), free_port());
        let mut settings = format!(
            "bind 127.0.0.1\nport {port}\nsave \"\"\nappendonly no\nrequirepass \"{REDIS_PASSWORD}\"\ndir {}\n",
            folder.path().display()
        );
        if let Some((certificate, key)) = tls {
            let (certificate, key) = (certificate.display(), key.display());
            settings += &format!("tls-port {tls_port}\ntls-cert-file {certificate}\ntls-key-file {key}\n");
            settings += &format!("tls-ca-cert-file {certificate}\ntls-auth-clients no\n");
        }
        let mut command = Command::new("/usr/bin/redis-server");
        command.arg("-").env_clear().stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let spawned = command.spawn();
        let mut process = spawned.unwrap_or_else(|error| panic!("the redis-server of `scripts/setup test`: {error}"));
        process.stdin.take().unwrap().write_all(settings.as_bytes()).unwrap();
        let redis = Self { process, port, tls_port, _folder: folder };
        eventually(|| TcpStream::connect(("127.0.0.1", port)).map_err(|error| format!("redis-server: {error}")));
        redis
    }

    /// Its URL in settings.
    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Its URL in settings, with TLS.
    pub(crate) fn tls_url(&self) -> String {
        format!("rediss://127.0.0.1:{}", self.tls_port)
    }

    /// Its URL for Ruby, with the password.
    pub(crate) fn url_with_password(&self) -> String {
        format!("redis://:{}@127.0.0.1:{}", REDIS_PASSWORD.replace(' ', "%20"), self.port)
    }

    /// The answer to a command: the bytes of a string, the text of another answer, `None` of nothing.
    pub(crate) fn ask(&self, words: &[&[u8]]) -> Option<Vec<u8>> {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        let mut connection = BufReader::new(stream);
        assert_eq!(answer(&mut connection, &[b"AUTH", REDIS_PASSWORD.as_bytes()]).unwrap(), b"+OK");
        answer(&mut connection, words)
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn answer(connection: &mut BufReader<TcpStream>, words: &[&[u8]]) -> Option<Vec<u8>> {
    let mut command = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        command.extend(format!("${}\r\n", word.len()).into_bytes());
        command.extend([word, &b"\r\n"[..]].concat());
    }
    connection.get_mut().write_all(&command).unwrap();
    let mut line = String::new();
    connection.read_line(&mut line).unwrap();
    let line = line.trim_end();
    let Some(length) = line.strip_prefix('$') else { return Some(line.as_bytes().to_vec()) };
    let length = usize::try_from(length.parse::<i64>().unwrap()).ok()?;
    let mut value = vec![0; length + 2];
    connection.read_exact(&mut value).unwrap();
    value.truncate(length);
    Some(value)
}
