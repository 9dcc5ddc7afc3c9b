//! The content of a repository on a running server, as clients see it: one kept connection for each thread that asks.

use super::Context;
use super::api::Server;
use super::failure::{self, Failure};
use anyhow::Context as _;
use client::{BodySink, ClientOptions, Connection, Content, Request, Response};
use format::percent::segment;
use http::{HeaderMap, Method, StatusCode};
use std::time::Duration;
use tokio::runtime::Runtime;

/// A gem may be large, and the way to the server slow.
const OPTIONS: ClientOptions = ClientOptions {
    connect_timeout: Duration::from_secs(10),
    total_timeout: Duration::from_secs(900),
    // The index of the whole public registry is a tenth of it.
    max_body_bytes: 256 << 20,
};
/// How often a request that was turned away for want of room is made again.
const TRIES: usize = 20;
/// Longest wait in between, whatever the server proposes.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// One repository of a server, and the token that is shown there.
#[derive(Clone)]
pub(super) struct Site {
    root: String,
    repository: String,
    token: Option<client::Secret>,
}

/// A thread's way to a [`Site`].
pub(super) struct Link {
    site: Site,
    runtime: Runtime,
    connection: Connection,
}

impl Server {
    /// The repository of this name. Looks whether it is there, and may be read.
    pub(super) fn site(&self, repository: &str, context: &Context<'_>) -> Result<Site, anyhow::Error> {
        let (url, token) = self.target(context);
        let site = Site {
            root: format!("{url}/repository/{}", segment(repository)),
            repository: repository.to_owned(),
            token,
        };
        let answer = site.link()?.ask(Method::HEAD, "", Content::default(), None)?;
        match answer.status {
            status if status.is_success() => Ok(site),
            StatusCode::NOT_FOUND => {
                let text = format!("there is no repository `{}` at `{url}`", failure::plain(repository));
                let hint = "`daylight repo list` shows which there are; `daylight repo add` makes one";
                Err(Failure::new(text, Some(hint.to_owned())).into())
            }
            _ => Err(site.refused(&answer).into()),
        }
    }
}

impl Site {
    /// A way to it.
    pub(super) fn link(&self) -> Result<Link, anyhow::Error> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Link { site: self.clone(), runtime, connection: Connection::new(OPTIONS) })
    }

    /// What an answer that is no success means for the whole undertaking.
    pub(super) fn refused(&self, answer: &Response) -> Failure {
        let hint = match answer.status {
            StatusCode::UNAUTHORIZED if self.token.is_none() => {
                Some("set DAYLIGHT_TOKEN to a token for this repository")
            }
            StatusCode::UNAUTHORIZED => Some("the token in DAYLIGHT_TOKEN is not known there, or has expired"),
            StatusCode::FORBIDDEN => Some("the token in DAYLIGHT_TOKEN lacks a scope, or is for other repositories"),
            _ => None,
        };
        let status = answer.status.as_u16();
        let text = match said(answer) {
            said if said.is_empty() => format!("`{}` answered {status} without a reason", self.repository),
            said => format!("{said} ({status})"),
        };
        Failure::new(text, hint.map(str::to_owned))
    }
}

impl Link {
    /// The text at `path` below the repository; `None` where there is nothing.
    pub(super) fn text(&mut self, path: &str) -> Result<Option<String>, anyhow::Error> {
        let Some(bytes) = self.bytes(path)? else { return Ok(None) };
        let text = String::from_utf8(bytes).ok().with_context(|| format!("`{path}` is not UTF-8"))?;
        Ok(Some(text))
    }

    /// The bytes at `path` below the repository; `None` where there is nothing.
    pub(super) fn bytes(&mut self, path: &str) -> Result<Option<Vec<u8>>, anyhow::Error> {
        let answer = self.ask(Method::GET, path, Content::default(), None)?;
        match answer.status {
            status if status.is_success() => Ok(Some(answer.body.into())),
            StatusCode::NOT_FOUND => Ok(None),
            _ => Err(anyhow::Error::from(self.site.refused(&answer)).context(format!("cannot read `{path}`"))),
        }
    }

    /// Hands what is at `path` to `take`, piece by piece.
    pub(super) fn fetch(&mut self, path: &str, take: BodySink<'_>) -> Result<(), anyhow::Error> {
        let answer = self.ask(Method::GET, path, Content::default(), Some(take))?;
        if answer.status.is_success() { Ok(()) } else { Err(self.site.refused(&answer).into()) }
    }

    /// Sends `body` to `path`.
    pub(super) fn post(&mut self, path: &str, body: Content) -> Result<Response, anyhow::Error> {
        self.ask(Method::POST, path, body, None)
    }

    /// Makes `body` what is at `path`.
    pub(super) fn put(&mut self, path: &str, body: Content) -> Result<Response, anyhow::Error> {
        self.ask(Method::PUT, path, body, None)
    }

    /// What is known of what is at `path`.
    pub(super) fn head(&mut self, path: &str) -> Result<Response, anyhow::Error> {
        self.ask(Method::HEAD, path, Content::default(), None)
    }

    fn ask(
        &mut self,
        method: Method,
        path: &str,
        body: Content,
        mut take: Option<BodySink<'_>>,
    ) -> Result<Response, anyhow::Error> {
        let url = format!("{}/{path}", self.site.root);
        let request = Request { method, url, headers: HeaderMap::new(), token: self.site.token.clone(), body };
        for _ in 1..TRIES {
            // Lent for one try only.
            let lent: Option<BodySink<'_>> = match &mut take {
                Some(take) => Some(&mut **take),
                None => None,
            };
            let answer = self.once(request.clone(), lent)?;
            match wait(&answer) {
                Some(wait) => std::thread::sleep(wait),
                None => return Ok(answer),
            }
        }
        self.once(request, take)
    }

    fn once(&mut self, request: Request, take: Option<BodySink<'_>>) -> Result<Response, anyhow::Error> {
        let answer = match take {
            Some(take) => self.runtime.block_on(self.connection.call_into(request, take)),
            None => self.runtime.block_on(self.connection.call(request)),
        };
        answer.map_err(super::api::unanswered)
    }
}

/// How long to wait before asking again, where the server has no room just now.
fn wait(answer: &Response) -> Option<Duration> {
    if !matches!(answer.status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
        return None;
    }
    let seconds = answer.headers.get(http::header::RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_WAIT))
}

/// What the server says to people, without what a terminal would obey.
pub(super) fn said(answer: &Response) -> String {
    let text = match serde_json::from_slice::<serde_json::Value>(&answer.body) {
        Ok(problem) => ["detail", "title"].iter().find_map(|key| Some(problem[key].as_str()?.to_owned())),
        Err(_) => None,
    };
    failure::plain(text.unwrap_or_else(|| String::from_utf8_lossy(&answer.body).into_owned()).trim())
}
