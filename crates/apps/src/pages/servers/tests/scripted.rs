//! A server that does what a test says, on the core of the test.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub(super) struct Scripted(TcpListener);

/// A connection to it.
pub(super) struct Accepted(TcpStream);

impl Scripted {
    #[expect(clippy::disallowed_methods, reason = "a server of the test")]
    pub(super) async fn new() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").await.unwrap())
    }

    pub(super) fn url(&self) -> String {
        format!("memcached://{}", self.0.local_addr().unwrap())
    }

    /// The next connection.
    pub(super) async fn accept(&self) -> Accepted {
        Accepted(self.0.accept().await.unwrap().0)
    }

    /// The next connection, greeted as one with meta commands.
    pub(super) async fn greeted(&self) -> Accepted {
        let mut accepted = self.accept().await;
        accepted.expect("mn\r\n").await;
        accepted.send("MN\r\n").await;
        accepted.tell_process().await;
        accepted
    }
}

impl Accepted {
    /// Tells that it is process 7, started in second 100.
    pub(super) async fn tell_process(&mut self) {
        self.expect("stats\r\n").await;
        self.send("STAT pid 7\r\nSTAT uptime 30\r\nSTAT time 130\r\nSTAT pointer_size 64\r\nEND\r\n").await;
    }

    pub(super) async fn expect(&mut self, bytes: &str) {
        let mut read = vec![0; bytes.len()];
        self.0.read_exact(&mut read).await.unwrap();
        assert_eq!(String::from_utf8(read).unwrap(), bytes);
    }

    pub(super) async fn send(&mut self, bytes: &str) {
        self.0.write_all(bytes.as_bytes()).await.unwrap();
    }

    /// What one read of the socket gives.
    pub(super) async fn receive(&mut self) -> String {
        let mut read = vec![0; 1 << 16];
        let len = self.0.read(&mut read).await.unwrap();
        String::from_utf8(read[..len].to_vec()).unwrap()
    }

    /// Waits until the client has closed it.
    pub(super) async fn closed(&mut self) {
        while !matches!(self.0.read(&mut [0; 100]).await, Ok(0) | Err(_)) {}
    }
}
