//! Debian's memcached on a port of loopback, and what a test does to it.

use super::{TIMEOUT, eventually};
use rustix::process::{Pid, Signal};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use tokio::net::TcpSocket;

/// How many ports nobody else gets meanwhile. The tests that run at the same time use fewer.
const PORTS: usize = 256;

/// A free port of loopback, for a server that takes only a number. A socket that does not listen keeps it from others that want any port, also
/// while the server does not run. A server can listen there, as it says that it may use the port again (`SO_REUSEADDR`).
pub(crate) fn free_port() -> u16 {
    static KEPT: Mutex<VecDeque<TcpSocket>> = Mutex::new(VecDeque::new());
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let port = socket.local_addr().unwrap().port();
    let mut kept = KEPT.lock().unwrap();
    kept.push_back(socket);
    if kept.len() > PORTS {
        kept.pop_front();
    }
    port
}

/// A server. Dropping it kills it.
pub(crate) struct Memcached {
    process: Option<Child>,
    port: u16,
    arguments: Vec<String>,
    /// The user and the password of `-Y`.
    login: Option<String>,
}

impl Memcached {
    /// Starts it.
    pub(crate) fn start() -> Self {
        Self::start_with(&[], None)
    }

    /// Starts it with more arguments. `login`: the user and the password that its clients send, as `user password`.
    pub(crate) fn start_with(arguments: &[&str], login: Option<&str>) -> Self {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let mut server = Self { process: None, port: free_port(), arguments, login: login.map(str::to_owned) };
        server.resume();
        server
    }

    /// Starts it again, empty, on its port.
    pub(crate) fn resume(&mut self) {
        // Debian has it in a folder for users. The user matters only to root, as which it refuses to run by accident.
        let mut command = Command::new("/usr/bin/memcached");
        command.args(["-u", "root", "-l", "127.0.0.1", "-U", "0", "-t", "1", "-p", &self.port.to_string()]);
        command.args(&self.arguments).env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let spawned = command.spawn();
        let mut process = spawned.unwrap_or_else(|error| panic!("the memcached of `scripts/setup test`: {error}"));
        eventually(|| match TcpStream::connect(("127.0.0.1", self.port)) {
            Ok(_) => Ok(()),
            Err(error) => match process.try_wait().unwrap() {
                Some(ended) => panic!("memcached ended with {ended}"),
                None => Err(format!("memcached: {error}")),
            },
        });
        self.process = Some(process);
    }

    /// `HOST:PORT`.
    pub(crate) fn authority(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Its URL in settings.
    pub(crate) fn url(&self) -> String {
        format!("memcached://{}", self.authority())
    }

    /// Kills it. Its port is closed.
    pub(crate) fn kill(&mut self) {
        let mut process = self.process.take().unwrap();
        process.kill().unwrap();
        process.wait().unwrap();
    }

    /// Suspends it: it answers nothing, while its port accepts connections.
    pub(crate) fn suspend(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets it run on.
    pub(crate) fn run_on(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        rustix::process::kill_process(Pid::from_child(self.process.as_ref().unwrap()), signal).unwrap();
    }

    /// An item: its flags and its value.
    pub(crate) fn get(&self, key: &str) -> Option<(u32, Vec<u8>)> {
        let mut connection = self.connect();
        let head = connection.ask(format!("get {key}\r\n").as_bytes());
        if head == "END" {
            return None;
        }
        let words: Vec<&str> = head.split(' ').collect();
        assert!(words.len() == 4 && words[0] == "VALUE", "{head}");
        let mut value = vec![0; words[3].parse().unwrap()];
        connection.0.read_exact(&mut value).unwrap();
        Some((words[2].parse().unwrap(), value))
    }

    /// Writes an item.
    pub(crate) fn set(&self, key: &str, flags: u32, value: &[u8]) {
        let head = format!("set {key} {flags} 0 {}\r\n", value.len());
        assert_eq!(self.connect().ask(&[head.as_bytes(), value, b"\r\n"].concat()), "STORED");
    }

    /// Writes an item that expires after so many seconds.
    pub(crate) fn set_for(&self, key: &str, seconds: u32, value: &[u8]) {
        let head = format!("set {key} 0 {seconds} {}\r\n", value.len());
        assert_eq!(self.connect().ask(&[head.as_bytes(), value, b"\r\n"].concat()), "STORED");
    }

    /// Adds one to a number.
    pub(crate) fn increment(&self, key: &str) {
        let told = self.told(&format!("incr {key} 1"));
        assert!(told.parse::<u64>().is_ok(), "{told}");
    }

    /// The first line of its answer to a command.
    pub(crate) fn told(&self, command: &str) -> String {
        self.connect().ask(format!("{command}\r\n").as_bytes())
    }

    /// Deletes an item.
    pub(crate) fn delete(&self, key: &str) {
        assert_eq!(self.connect().ask(format!("delete {key}\r\n").as_bytes()), "DELETED");
    }

    /// Deletes all its items.
    pub(crate) fn flush(&self) {
        assert_eq!(self.connect().ask(b"flush_all\r\n"), "OK");
    }

    /// The keys of its items, in their order.
    pub(crate) fn keys(&self) -> Vec<String> {
        // By the table, not by the lists of use: an item that moves from one to another would be left out.
        let items = self.connect().lines(b"lru_crawler metadump hash\r\n");
        let key = |item: &String| item.split(' ').next()?.strip_prefix("key=").map(|key| key.replace("%3A", ":"));
        let mut keys: Vec<String> =
            items.iter().map(|item| key(item).unwrap_or_else(|| panic!("no item: {item}"))).collect();
        keys.sort();
        keys
    }

    /// What it counted: `cmd_get`, `get_hits`, `cmd_set`, `cmd_meta`, `curr_connections` ...
    pub(crate) fn counted(&self, name: &str) -> u64 {
        let lines = self.connect().lines(b"stats\r\n");
        let found = lines.iter().find_map(|line| line.strip_prefix("STAT ")?.strip_prefix(name)?.strip_prefix(' '));
        found.unwrap_or_else(|| panic!("no {name}: {lines:?}")).parse().unwrap()
    }

    fn connect(&self) -> Connection {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        let mut connection = Connection(BufReader::new(stream));
        if let Some(login) = &self.login {
            let told = connection.ask(format!("set login 0 0 {}\r\n{login}\r\n", login.len()).as_bytes());
            assert_eq!(told, "STORED", "the user or the password is refused");
        }
        connection
    }
}

impl Drop for Memcached {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// A connection that speaks the text protocol.
struct Connection(BufReader<TcpStream>);

impl Connection {
    /// Sends a command, and reads one line.
    fn ask(&mut self, command: &[u8]) -> String {
        self.0.get_mut().write_all(command).unwrap();
        self.line()
    }

    /// Sends a command, and reads its lines up to `END`.
    fn lines(&mut self, command: &[u8]) -> Vec<String> {
        self.0.get_mut().write_all(command).unwrap();
        std::iter::from_fn(|| Some(self.line()).filter(|line| line != "END")).collect()
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.truncate(line.trim_end_matches(['\r', '\n']).len());
        line
    }
}
