//! A client that has the `/versions` of a group and requests the appended bytes, as Bundler does.

use crate::http::{Answer, Connection};
use crate::process::Server;
use anyhow::{Result, ensure};
use format::gem::info::md5_hex;
use format::gem::upstream::Versions;
use std::collections::BTreeSet;

/// The client.
pub(super) struct Reader {
    pub(super) group: &'static str,
    text: Vec<u8>,
    said: Versions,
}

/// The cost of a change for the client.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct News {
    pub(super) status: u16,
    pub(super) body: usize,
    /// Bytes of the lines that changed.
    pub(super) changed: usize,
    pub(super) names: usize,
}

impl Reader {
    /// A client without any file.
    pub(super) fn new(server: &Server, group: &'static str) -> Result<Self> {
        let mut reader = Self { group, text: Vec::new(), said: Versions::new() };
        let whole = reader.ask(server)?;
        ensure!(whole.status == 200, "{group}: {} {}", whole.status, whole.text());
        reader.begin(whole.body)?;
        Ok(reader)
    }

    /// The length of its file.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Whether the file contains this line.
    pub(super) fn says(&self, line: &str) -> bool {
        let line = line.as_bytes();
        self.text[self.text.len().saturating_sub(4096)..].windows(line.len()).any(|window| window == line)
    }

    /// Sends a request.
    pub(super) fn ask(&self, server: &Server) -> Result<Answer> {
        let path = format!("/repository/{}/versions", self.group);
        let mut connection = Connection::open(server.address.parse()?)?;
        let (range, tag) = match self.text.len().checked_sub(1) {
            Some(last) => (format!("bytes={last}-"), format!("\"{}\"", md5_hex(&self.text))),
            None => return Ok(connection.call("GET", &path, &[], b"")?),
        };
        Ok(connection.call("GET", &path, &[("Range", &range), ("If-None-Match", &tag)], b"")?)
    }

    /// Applies a response.
    pub(super) fn take(&mut self, answer: Answer) -> Result<News> {
        let (status, body) = (answer.status, answer.body.len());
        let news = News { status, body, ..News::default() };
        match status {
            304 => return Ok(news),
            206 => {}
            200 => return self.begin(answer.body).map(|()| news),
            _ => anyhow::bail!("{}: {status} {}", self.group, answer.text()),
        }
        let more = &answer.body[1..];
        let lines = std::str::from_utf8(more)?.lines();
        let names: BTreeSet<&str> = lines.filter_map(|line| line.split(' ').next()).collect();
        let before: Vec<_> = names.iter().map(|name| self.said.said(name)).collect();
        self.text.extend_from_slice(more);
        self.said.push(more.to_vec().into())?;
        let mut changed = 0;
        for (name, before) in names.iter().zip(before) {
            let line = self.said.said(name).and_then(|said| said.line_after(name, before.as_ref()));
            changed += line.map_or(0, |line| line.len() + 1);
        }
        Ok(News { changed, names: names.len(), ..news })
    }

    fn begin(&mut self, whole: Vec<u8>) -> Result<()> {
        self.said = Versions::new();
        self.said.push(whole.clone().into())?;
        self.text = whole;
        Ok(())
    }
}
