//! Real servers, started by a test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

/// A server, which ends with the test.
pub(super) struct Real {
    child: Child,
    pub(super) port: u16,
}

impl Drop for Real {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that nobody uses at the moment.
#[expect(clippy::disallowed_methods, reason = "a port for a server of the test")]
pub(super) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Starts memcached.
pub(super) fn memcached(port: u16, arguments: &[&str]) -> Real {
    let mut command = Command::new("memcached");
    command.args(["-u", "nobody", "-l", "127.0.0.1", "-vv", "-p", &port.to_string()]).args(arguments);
    let mut child = command.stderr(Stdio::piped()).spawn().expect("memcached is installed");
    wait_for("server listening", child.stderr.take().unwrap());
    Real { child, port }
}

/// Starts Redis, which stores nothing on disk.
pub(super) fn redis(port: u16, arguments: &[&str]) -> Real {
    let mut command = Command::new("redis-server");
    command.args(["--bind", "127.0.0.1", "--save", "", "--port", &port.to_string()]).args(arguments);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("redis-server is installed");
    wait_for("Ready to accept connections", child.stdout.take().unwrap());
    Real { child, port }
}

/// Reads what a server says until it listens; a thread reads the rest, so that it never waits for its reader.
fn wait_for(ready: &str, said: impl Read + Send + 'static) {
    let mut lines = BufReader::new(said).lines();
    assert!(lines.any(|line| line.unwrap().contains(ready)), "the server does not start");
    std::thread::spawn(move || lines.for_each(drop));
}

impl Real {
    pub(super) fn url(&self) -> String {
        format!("memcached://127.0.0.1:{}", self.port)
    }

    /// The URL of a Redis, with a path.
    pub(super) fn redis_url(&self, path: &str) -> String {
        format!("redis://127.0.0.1:{}{path}", self.port)
    }

    /// Sends commands, and returns the reply, of so many lines.
    #[expect(clippy::disallowed_methods, reason = "the client of the test, not Daylight's")]
    pub(super) fn tell(&self, commands: &[u8], lines: usize) -> Vec<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(commands).unwrap();
        BufReader::new(stream).lines().take(lines).map(Result::unwrap).collect()
    }

    /// Stores an item.
    pub(super) fn set(&self, key: &str, value: &[u8]) {
        let mut command = format!("ms {key} {} T0 F4\r\n", value.len()).into_bytes();
        command.extend_from_slice(value);
        command.extend_from_slice(b"\r\n");
        assert_eq!(self.tell(&command, 1), ["HD"]);
    }
}
