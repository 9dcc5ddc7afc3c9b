//! Calls the admin API of a running server. Problem documents become failures.

use super::context::Context;
use super::failure;
use super::failure::Failure;
use super::target::{Target, call_failure};
use anyhow::Context as _;
use bytes::Bytes;
use client::{BodySink, Client, ClientOptions, Connection, ProbeAnswer, Request, Response, Trust};
use format::percent::segment;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Method, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::cell::Cell;
use std::collections::HashSet;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::time::sleep;

/// The most pages of one list that are read: far more than any repository has.
const PAGES_MAX: usize = 100_000;
/// The path of the repositories in the API.
pub(super) const REPOSITORIES: &str = "/api/v1/repositories";
const OPTIONS: ClientOptions = ClientOptions {
    connect_timeout: Duration::from_secs(10),
    total_timeout: Duration::from_secs(60),
    max_body_bytes: 64 << 20,
    trust: Trust::MACHINE,
};

/// The longest that a cleanup may take.
const CLEANUP_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// The longest time that a command listens to a server: a year.
const LISTEN_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// How an answer without an end ended.
pub(super) enum Ended {
    /// The caller stopped it.
    Stopped,
    /// The server ended it.
    Closed,
    /// Nothing came for too long.
    Silent,
}

/// Flags of the verbs that plan a removal, and carry it out with `--yes`.
#[derive(Debug, clap::Args)]
pub(super) struct PlanFlags {
    /// Delete now, without asking
    #[arg(long)]
    pub(super) yes: bool,
}

/// The admin API of one server.
pub(crate) struct Api {
    runtime: Runtime,
    options: ClientOptions,
    client: Client,
    url: String,
    token: Option<client::Secret>,
    json: bool,
}

/// A problem document (RFC 9457), as far as it is shown.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Problem {
    title: String,
    detail: String,
    hint: Option<String>,
}

/// The places of a list that the server named as the next ones.
#[derive(Debug, Default)]
pub(super) struct Pages(HashSet<String>);

impl Pages {
    /// The next page begins at `next`. An error if the list has no end: the page was read before, or there are too many.
    pub(super) fn go_on(&mut self, next: &str) -> Result<(), Failure> {
        if self.0.len() < PAGES_MAX && self.0.insert(next.to_owned()) {
            return Ok(());
        }
        let (next, pages) = (failure::plain(next), self.0.len() + 1);
        let text = format!("the server's list does not end: after {pages} pages it goes on at `{next}`");
        Err(Failure::new(
            text,
            Some("is this the right server? The list was read no further, and nothing was written".into()),
        ))
    }
}

impl Api {
    /// The API of the server that the flags and the environment name.
    pub(super) fn new(context: &Context<'_>) -> anyhow::Result<Self> {
        Self::with(OPTIONS, Target::of(context)?, context)
    }

    /// The API of this server.
    pub(super) fn of(target: Target, context: &Context<'_>) -> anyhow::Result<Self> {
        Self::with(OPTIONS, target, context)
    }

    /// The same; without a URL from the flags or the environment it is the server at `default`.
    pub(super) fn at(default: &str, context: &Context<'_>) -> anyhow::Result<Self> {
        Self::with(OPTIONS, Target::or(default, context)?, context)
    }

    /// The same for calls that may take as long as they need.
    pub(super) fn patient(context: &Context<'_>) -> anyhow::Result<Self> {
        Self::with(ClientOptions { total_timeout: CLEANUP_TIMEOUT, ..OPTIONS }, Target::of(context)?, context)
    }

    /// The same for [`Api::listen`].
    pub(super) fn endless(context: &Context<'_>) -> anyhow::Result<Self> {
        Self::with(ClientOptions { total_timeout: LISTEN_TIMEOUT, ..OPTIONS }, Target::of(context)?, context)
    }

    /// The runtime of the calls, for other things that the command waits for.
    pub(super) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// GET of a path whose answer has no end. Hands its pieces to `take` until `stop` is ready, or no byte came for `silence`.
    pub(super) fn listen(
        &self,
        path: &str,
        take: BodySink<'_>,
        silence: Duration,
        mut stop: Pin<&mut impl Future<Output = ()>>,
    ) -> anyhow::Result<Ended> {
        let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"))]);
        let url = format!("{}{path}", self.url);
        let request = Request { url, headers, token: self.token.clone(), ..Request::default() };
        let (heard, mut connection) = (Cell::new(false), Connection::new(self.options.clone()));
        let mut hears = |piece: &[u8]| {
            heard.set(true);
            take(piece)
        };
        let silent = async {
            sleep(silence).await;
            while heard.replace(false) {
                sleep(silence).await;
            }
        };
        self.runtime.block_on(async {
            let (mut call, mut silent) = (pin!(connection.call_into(request, &mut hears)), pin!(silent));
            poll_fn(|cx| {
                if stop.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(Ok(Ended::Stopped));
                }
                match call.as_mut().poll(cx) {
                    Poll::Pending => silent.as_mut().poll(cx).map(|()| Ok(Ended::Silent)),
                    Poll::Ready(answered) => Poll::Ready(answered.map_err(call_failure).and_then(|response| {
                        if response.status.is_success() {
                            Ok(Ended::Closed)
                        } else {
                            Err(self.failure(&response).into())
                        }
                    })),
                }
            })
            .await
        })
    }

    /// Waits. Returns whether `stop` is ready before.
    pub(super) fn wait(&self, time: Duration, mut stop: Pin<&mut impl Future<Output = ()>>) -> bool {
        self.runtime.block_on(async {
            let mut time = pin!(sleep(time));
            poll_fn(|cx| {
                if stop.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(true);
                }
                time.as_mut().poll(cx).map(|()| false)
            })
            .await
        })
    }

    fn with(options: ClientOptions, target: Target, context: &Context<'_>) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let Target { url, token, trust } = target;
        let options = ClientOptions { trust, ..options };
        let client = Client::new(options.clone());
        Ok(Self { runtime, options, client, url, token, json: context.flags.json })
    }

    /// Prints an answer if `--json` was given. Returns whether it was.
    pub(super) fn print_json(&self, answer: &Value, context: &mut Context<'_>) -> std::io::Result<bool> {
        if self.json {
            writeln!(context.out, "{answer:#}")?;
        }
        Ok(self.json)
    }

    /// GET of a path, which begins with `/api/`.
    pub(super) fn get(&self, path: &str) -> anyhow::Result<Value> {
        read(&self.call(Method::GET, path, None)?)
    }

    /// GET of a path whose answer is a text.
    pub(super) fn get_text(&self, path: &str) -> anyhow::Result<String> {
        Ok(String::from_utf8_lossy(&self.call(Method::GET, path, None)?.body).into_owned())
    }

    /// GET of a path whose answer counts with any status.
    pub(super) fn probe(&self, path: &str) -> anyhow::Result<ProbeAnswer> {
        let Response { status, body, .. } = self.respond(Method::GET, path, None)?;
        Ok(ProbeAnswer { status: status.as_u16(), text: String::from_utf8_lossy(&body).into_owned() })
    }

    /// The URL of the server, without a slash at the end.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Reads every page of a list, with a call for each. `page` returns where the next one begins.
    pub(super) fn pages(
        &self,
        url: &str,
        mut page: impl FnMut(Value) -> anyhow::Result<Option<String>>,
    ) -> anyhow::Result<()> {
        let sign = if url.contains('?') { '&' } else { '?' };
        let (mut after, mut pages) = (String::new(), Pages::default());
        loop {
            let Some(next) = page(self.get(&format!("{url}{sign}after={}", segment(&after)))?)? else { return Ok(()) };
            pages.go_on(&next)?;
            after = next;
        }
    }

    /// POST of `body`.
    pub(super) fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        read(&self.call(Method::POST, path, Some(body))?)
    }

    /// POST of `body`. Returns the bytes of the answer, whose objects have their keys in the order of the server.
    pub(super) fn post_for_bytes(&self, path: &str, body: &Value) -> anyhow::Result<Bytes> {
        Ok(self.call(Method::POST, path, Some(body))?.body)
    }

    /// PATCH with `body`.
    pub(super) fn patch(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        read(&self.call(Method::PATCH, path, Some(body))?)
    }

    /// DELETE. Returns null for an answer without a body.
    pub(super) fn delete(&self, path: &str) -> anyhow::Result<Value> {
        let answer = self.call(Method::DELETE, path, None)?;
        if answer.body.is_empty() { Ok(Value::Null) } else { read(&answer) }
    }

    fn call(&self, method: Method, path: &str, body: Option<&Value>) -> anyhow::Result<Response> {
        let response = self.respond(method, path, body)?;
        if response.status.is_success() { Ok(response) } else { Err(self.failure(&response).into()) }
    }

    fn respond(&self, method: Method, path: &str, body: Option<&Value>) -> anyhow::Result<Response> {
        let json = HeaderValue::from_static("application/json");
        let mut headers = HeaderMap::from_iter([(ACCEPT, json.clone())]);
        headers.extend(body.is_some().then_some((CONTENT_TYPE, json)));
        let body = body.map(Value::to_string).unwrap_or_default().into();
        let url = format!("{}{path}", self.url);
        let request = Request { method, url, headers, token: self.token.clone(), body };
        self.runtime.block_on(self.client.call(request)).map_err(call_failure)
    }

    fn failure(&self, response: &Response) -> Failure {
        let problem: Problem = serde_json::from_slice(&response.body).unwrap_or_default();
        let message = [problem.detail, problem.title].into_iter().find(|text| !text.is_empty());
        let status = response.status.as_u16();
        let reasonless = message.is_none();
        let text = match message {
            Some(message) => format!("{} ({status})", failure::plain(&message)),
            None => format!("`{}` answered {status} and gave no reason", self.url),
        };
        let scope = if text.contains("the scope `observe`") { "observe" } else { "admin" };
        let advice = match response.status {
            StatusCode::UNAUTHORIZED if self.token.is_none() => {
                Some(format!("set DAYLIGHT_TOKEN to a token with the scope `{scope}`"))
            }
            StatusCode::UNAUTHORIZED => Some(
                "the server does not know the token in DAYLIGHT_TOKEN: it was revoked, has expired, or is of another server"
                    .to_owned(),
            ),
            StatusCode::FORBIDDEN if problem.hint.is_none() => {
                Some(format!("the token in DAYLIGHT_TOKEN needs the scope `{scope}`"))
            }
            // The URL of a repository answers as that repository, in any way.
            _ if self.url.contains("/repository/") => Some(NO_SERVER.to_owned()),
            StatusCode::NOT_FOUND if reasonless => Some(NO_SERVER.to_owned()),
            _ => None,
        };
        // About tokens, advice for this program is better than the server's hint, which is for all clients.
        Failure::answered(status, text, advice.or(problem.hint))
    }
}

/// The remedy where a web server answers that does not know the path.
pub(super) const NO_SERVER: &str = "is this the URL of a Daylight server? It has no path, unless a proxy adds one";

fn read(response: &Response) -> anyhow::Result<Value> {
    serde_json::from_slice(&response.body).context("the answer is not JSON: does a Daylight server answer at this URL?")
}

/// Decodes an answer.
pub(super) fn decode<T: DeserializeOwned>(answer: Value) -> anyhow::Result<T> {
    serde_json::from_value(answer)
        .context("the answer does not have the expected form: is the server of another version than this command?")
}
