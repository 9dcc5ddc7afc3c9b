//! HTTP/1.1 by hand: the test sends and receives exact bytes, without the corrections of a client library.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A complete reply.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The reason phrase.
    pub(crate) phrase: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// The value of a header. Names ignore case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The same reply with only these headers.
    pub(crate) fn only(mut self, names: &[&str]) -> Self {
        self.headers.iter_mut().for_each(|(name, _)| name.make_ascii_lowercase());
        self.headers.retain(|(name, _)| names.contains(&name.as_str()));
        self.headers.sort();
        self
    }

    /// Asserts the status, and returns the reply.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{:?}\n{}", self.headers, String::from_utf8_lossy(&self.body));
        self
    }
}

/// The status, the reason phrase, and the headers.
type Head = (u16, String, Vec<(String, String)>);

/// A persistent connection.
pub(crate) struct Connection(BufReader<TcpStream>);

impl Connection {
    /// Connects.
    pub(crate) fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        stream.set_nodelay(true)?;
        Ok(Self(BufReader::new(stream)))
    }

    /// Sends a request and reads its reply.
    pub(crate) fn call(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<Answer> {
        let (length, here) = (body.len().to_string(), self.stream().peer_addr()?.to_string());
        let mut all = headers.to_vec();
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            all.insert(0, ("Host", &here));
        }
        if !body.is_empty() {
            all.push(("Content-Length", &length));
        }
        let lines: String = all.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let mut request = format!("{method} {path} HTTP/1.1\r\n{lines}\r\n").into_bytes();
        request.extend_from_slice(body);
        self.send(&request)?;
        self.answer(method == "HEAD")
    }

    /// The socket itself.
    pub(crate) fn stream(&self) -> &TcpStream {
        self.0.get_ref()
    }

    /// Sends these bytes.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.get_mut().write_all(bytes)
    }

    /// Reads the final reply; `head` says that it has no body.
    pub(crate) fn answer(&mut self, head: bool) -> io::Result<Answer> {
        let (status, phrase, headers) = loop {
            let (status, phrase, headers) = self.head()?;
            if status >= 200 {
                break (status, phrase, headers);
            }
        };
        let mut answer = Answer { status, phrase, headers, body: Vec::new() };
        if head || status == 204 || status == 304 {
            return Ok(answer);
        }
        answer.body = if answer.header("transfer-encoding").is_some() {
            self.chunks()?
        } else if let Some(length) = answer.header("content-length") {
            self.exactly(length.parse().unwrap())?
        } else {
            let mut rest = Vec::new();
            self.0.read_to_end(&mut rest)?;
            rest
        };
        Ok(answer)
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        match self.0.read_line(&mut line)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(line.trim_end().to_owned()),
        }
    }

    fn head(&mut self) -> io::Result<Head> {
        let first = self.line()?;
        let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| io::Error::other(format!("not a status line: {first:?}")))?;
        let phrase = first.splitn(3, ' ').nth(2).unwrap_or_default().to_owned();
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(':') else { return Ok((status, phrase, headers)) };
            headers.push((name.to_owned(), value.trim().to_owned()));
        }
    }

    fn exactly(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut body = vec![0; length];
        self.0.read_exact(&mut body)?;
        Ok(body)
    }

    fn chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let size = usize::from_str_radix(&self.line()?, 16).map_err(io::Error::other)?;
            body.extend(self.exactly(size)?);
            self.line()?;
            if size == 0 {
                return Ok(body);
            }
        }
    }
}
