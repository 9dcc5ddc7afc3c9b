//! Reads and publishes the content of a repository on a running server, as clients do. Each thread has a connection of its own.

use super::api::NO_SERVER;
use super::context::Context;
use super::failure::{self, Failure};
use super::target::{Target, call_failure};
use anyhow::Context as _;
use client::{BodySink, ClientOptions, Connection, Content, Request, Response, Trust};
use format::percent::segment;
use http::{HeaderMap, Method, StatusCode};
use std::time::Duration;
use tokio::runtime::Runtime;

/// A gem may be large, and the line to the server slow.
const OPTIONS: ClientOptions = ClientOptions {
    connect_timeout: Duration::from_secs(10),
    total_timeout: Duration::from_secs(900),
    // Ten times the index of the whole public registry.
    max_body_bytes: 256 << 20,
    trust: Trust::MACHINE,
};
/// Most attempts of a request while the server is overloaded.
const TRIES: usize = 20;
/// Longest wait between attempts, whatever `Retry-After` says.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// One repository of a server, and the token for it.
#[derive(Clone)]
pub(crate) struct RepositoryClient {
    root: String,
    repository: String,
    token: Option<client::Secret>,
    trust: Trust,
}

/// A connection to the server of a [`RepositoryClient`], for one thread.
pub(crate) struct RepositoryConnection {
    client: RepositoryClient,
    runtime: Runtime,
    connection: Connection,
}

impl RepositoryClient {
    /// A client of the repository of this name. Fails where it does not exist or may not be read.
    pub(super) fn new(repository: &str, context: &Context<'_>) -> anyhow::Result<Self> {
        let Target { url, token, trust } = Target::of(context)?;
        let root = format!("{url}/repository/{}", segment(repository));
        let client = Self { root, repository: repository.to_owned(), token, trust };
        let answer = client.connect()?.call(Method::HEAD, "", Content::default(), None)?;
        match answer.status {
            status if status.is_success() => Ok(client),
            StatusCode::NOT_FOUND => {
                let text = format!("there is no repository `{}` at `{url}`", failure::plain(repository));
                let hint = "`daylight repo list` lists the repositories; `daylight repo add` adds one";
                Err(Failure::answered(404, text, Some(hint.to_owned())).into())
            }
            _ => Err(client.failure(&answer).into()),
        }
    }

    /// The name of the repository.
    pub(crate) fn name(&self) -> &str {
        &self.repository
    }

    /// Opens a connection.
    pub(crate) fn connect(&self) -> anyhow::Result<RepositoryConnection> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let options = ClientOptions { trust: self.trust.clone(), ..OPTIONS };
        Ok(RepositoryConnection { client: self.clone(), runtime, connection: Connection::new(options) })
    }

    /// An answer without success, as a failure of the verb.
    pub(crate) fn failure(&self, answer: &Response) -> Failure {
        let hint = match answer.status {
            StatusCode::UNAUTHORIZED if self.token.is_none() => {
                Some("set DAYLIGHT_TOKEN to a token for this repository")
            }
            StatusCode::UNAUTHORIZED => Some(
                "the server does not know the token in DAYLIGHT_TOKEN: it was revoked, has expired, or is of another server",
            ),
            StatusCode::FORBIDDEN => Some(
                "the token in DAYLIGHT_TOKEN lacks a scope, or is for other repositories: `daylight token list` shows both",
            ),
            StatusCode::METHOD_NOT_ALLOWED => Some(
                "the repository is of another format, or is not hosted: `daylight repo list` shows format and kind; `daylight import` \
                 uploads to hosted repositories",
            ),
            StatusCode::NOT_FOUND if message(answer).is_empty() => Some(NO_SERVER),
            _ => None,
        };
        let status = answer.status.as_u16();
        let text = match message(answer) {
            message if message.is_empty() => format!("`{}` answered {status} and gave no reason", self.repository),
            message => format!("{message} ({status})"),
        };
        Failure::answered(status, text, hint.map(str::to_owned))
    }
}

impl RepositoryConnection {
    /// GET of a text below the repository; `None`: there is none.
    pub(crate) fn text(&mut self, path: &str) -> anyhow::Result<Option<String>> {
        let Some(bytes) = self.bytes(path)? else { return Ok(None) };
        let text = String::from_utf8(bytes).ok().with_context(|| format!("`{path}` is not UTF-8"))?;
        Ok(Some(text))
    }

    /// GET of a path below the repository; `None`: there is nothing.
    pub(crate) fn bytes(&mut self, path: &str) -> anyhow::Result<Option<Vec<u8>>> {
        let answer = self.call(Method::GET, path, Content::default(), None)?;
        match answer.status {
            status if status.is_success() => Ok(Some(answer.body.into())),
            StatusCode::NOT_FOUND => Ok(None),
            _ => Err(anyhow::Error::from(self.client.failure(&answer)).context(format!("cannot read `{path}`"))),
        }
    }

    /// GET of a path, whose content is passed to `sink` as it arrives. Returns the headers.
    pub(crate) fn fetch(&mut self, path: &str, sink: BodySink<'_>) -> anyhow::Result<HeaderMap> {
        let answer = self.call(Method::GET, path, Content::default(), Some(sink))?;
        if answer.status.is_success() { Ok(answer.headers) } else { Err(self.client.failure(&answer).into()) }
    }

    /// POST of `body`.
    pub(crate) fn post(&mut self, path: &str, headers: HeaderMap, body: Content) -> anyhow::Result<Response> {
        self.call_with(Method::POST, path, headers, body, None)
    }

    /// PUT of `body`.
    pub(crate) fn put(&mut self, path: &str, headers: HeaderMap, body: Content) -> anyhow::Result<Response> {
        self.call_with(Method::PUT, path, headers, body, None)
    }

    /// HEAD of a path.
    pub(crate) fn head(&mut self, path: &str) -> anyhow::Result<Response> {
        self.call(Method::HEAD, path, Content::default(), None)
    }

    fn call(
        &mut self,
        method: Method,
        path: &str,
        body: Content,
        sink: Option<BodySink<'_>>,
    ) -> anyhow::Result<Response> {
        self.call_with(method, path, HeaderMap::new(), body, sink)
    }

    fn call_with(
        &mut self,
        method: Method,
        path: &str,
        headers: HeaderMap,
        body: Content,
        mut sink: Option<BodySink<'_>>,
    ) -> anyhow::Result<Response> {
        let url = format!("{}/{path}", self.client.root);
        let request = Request { method, url, headers, token: self.client.token.clone(), body };
        for _ in 1..TRIES {
            // Borrowed for one attempt only.
            let lent: Option<BodySink<'_>> = match &mut sink {
                Some(sink) => Some(&mut **sink),
                None => None,
            };
            let answer = self.call_once(request.clone(), lent)?;
            match retry_delay(&answer) {
                Some(delay) => std::thread::sleep(delay),
                None => return Ok(answer),
            }
        }
        self.call_once(request, sink)
    }

    fn call_once(&mut self, request: Request, sink: Option<BodySink<'_>>) -> anyhow::Result<Response> {
        let answer = match sink {
            Some(sink) => self.runtime.block_on(self.connection.call_into(request, sink)),
            None => self.runtime.block_on(self.connection.call(request)),
        };
        answer.map_err(call_failure)
    }
}

/// How long to wait before the next attempt; `None`: the server is not overloaded.
fn retry_delay(answer: &Response) -> Option<Duration> {
    if !matches!(answer.status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
        return None;
    }
    let seconds = answer.headers.get(http::header::RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_WAIT))
}

/// The message of an answer, without control characters.
pub(crate) fn message(answer: &Response) -> String {
    let text = match serde_json::from_slice::<serde_json::Value>(&answer.body) {
        Ok(problem) => ["detail", "title"].iter().find_map(|key| Some(problem[key].as_str()?.to_owned())),
        Err(_) => None,
    };
    failure::plain(text.unwrap_or_else(|| String::from_utf8_lossy(&answer.body).into_owned()).trim())
}
