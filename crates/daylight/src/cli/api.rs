//! Talking to a running server: the admin API through the client, its problems as failures.

use super::failure::Failure;
use super::{Context, failure};
use anyhow::Context as _;
use client::{Client, ClientOptions, Request, Response};
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Method, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::time::Duration;

/// Where `daylight serve` is without flags.
const DEFAULT_SERVER: &str = "http://127.0.0.1:8080";
const OPTIONS: ClientOptions = ClientOptions {
    connect_timeout: Duration::from_secs(10),
    total_timeout: Duration::from_secs(60),
    max_body_bytes: 64 << 20,
};

/// Flags of the verbs that talk to a server.
#[derive(Debug, clap::Args)]
pub(super) struct Server {
    /// URL of the running server [env: DAYLIGHT_SERVER] [default: http://127.0.0.1:8080]
    ///
    /// The token that is presented comes from DAYLIGHT_TOKEN, so that it is in no list of processes.
    #[arg(long, value_name = "URL", global = true)]
    server: Option<String>,
}

/// Flags of the verbs that are calls of the admin API.
#[derive(Debug, clap::Args)]
pub(super) struct ApiFlags {
    #[command(flatten)]
    server: Server,
    /// JSON instead of text, as the server's API gives it
    #[arg(long, global = true)]
    json: bool,
}

/// The admin API of one server.
pub(super) struct Api {
    runtime: tokio::runtime::Runtime,
    client: Client,
    url: String,
    token: Option<client::Secret>,
    json: bool,
}

/// RFC 9457, as far as people are told.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Problem {
    title: String,
    detail: String,
    hint: Option<String>,
}

impl ApiFlags {
    pub(super) fn api(&self, context: &Context<'_>) -> Result<Api, anyhow::Error> {
        Ok(Api { json: self.json, ..self.server.api(context)? })
    }
}

impl Server {
    pub(super) fn api(&self, context: &Context<'_>) -> Result<Api, anyhow::Error> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (url, token) = self.target(context);
        Ok(Api { runtime, client: Client::new(OPTIONS), url, token, json: false })
    }

    /// Its URL without a slash at the end, and the token that is shown there.
    pub(super) fn target(&self, context: &Context<'_>) -> (String, Option<client::Secret>) {
        let url = self.server.as_deref().or_else(|| context.environment.server()).unwrap_or(DEFAULT_SERVER);
        (url.trim_end_matches('/').to_owned(), context.environment.token())
    }
}

impl Api {
    /// Prints the answer as it is where that is asked for, and says whether it did.
    pub(super) fn printed(&self, answer: &Value, context: &mut Context<'_>) -> std::io::Result<bool> {
        if self.json {
            writeln!(context.out, "{answer:#}")?;
        }
        Ok(self.json)
    }

    /// Reads what is at `path`, which begins with `/api/`.
    pub(super) fn get(&self, path: &str) -> Result<Value, anyhow::Error> {
        read(&self.call(Method::GET, path, None)?)
    }

    /// Makes something of `body`.
    pub(super) fn post(&self, path: &str, body: &Value) -> Result<Value, anyhow::Error> {
        read(&self.call(Method::POST, path, Some(body))?)
    }

    /// Changes what is at `path` as `body` says.
    pub(super) fn patch(&self, path: &str, body: &Value) -> Result<Value, anyhow::Error> {
        read(&self.call(Method::PATCH, path, Some(body))?)
    }

    /// Removes what is at `path`.
    /// What the server says of it; null where that is nothing.
    pub(super) fn delete(&self, path: &str) -> Result<Value, anyhow::Error> {
        let answer = self.call(Method::DELETE, path, None)?;
        if answer.body.is_empty() { Ok(Value::Null) } else { read(&answer) }
    }

    fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Response, anyhow::Error> {
        let json = HeaderValue::from_static("application/json");
        let mut headers = HeaderMap::from_iter([(ACCEPT, json.clone())]);
        headers.extend(body.is_some().then_some((CONTENT_TYPE, json)));
        let body = body.map(Value::to_string).unwrap_or_default().into();
        let url = format!("{}{path}", self.url);
        let request = Request { method, url, headers, token: self.token.clone(), body };
        let response = self.runtime.block_on(self.client.call(request)).map_err(unanswered)?;
        if response.status.is_success() { Ok(response) } else { Err(self.refused(&response).into()) }
    }

    fn refused(&self, response: &Response) -> Failure {
        let problem: Problem = serde_json::from_slice(&response.body).unwrap_or_default();
        let said = [problem.detail, problem.title].into_iter().find(|text| !text.is_empty());
        let status = response.status.as_u16();
        let text = match said {
            Some(said) => format!("{} ({status})", failure::plain(&said)),
            None => format!("`{}` answered {status} without a reason", self.url),
        };
        let advice = match response.status {
            StatusCode::UNAUTHORIZED if self.token.is_none() => {
                Some("set DAYLIGHT_TOKEN to a token with scope `admin`")
            }
            StatusCode::UNAUTHORIZED => Some("the token in DAYLIGHT_TOKEN is not known there, or has expired"),
            StatusCode::FORBIDDEN => Some("the token in DAYLIGHT_TOKEN needs scope `admin`"),
            _ => None,
        };
        // About the token, what this program can do is worth more than what clients in general can.
        Failure::new(text, advice.map(str::to_owned).or(problem.hint))
    }
}

pub(super) fn unanswered(error: client::Error) -> anyhow::Error {
    match error {
        client::Error::NotListening { .. } => {
            let hint = "start it with `daylight serve`, or name another with `--server URL`";
            Failure::new(error.to_string(), Some(hint.to_owned())).into()
        }
        client::Error::NotAUrl { .. } => Failure::usage(error.to_string(), "`--server` takes such a URL").into(),
        other => other.into(),
    }
}

fn read(response: &Response) -> Result<Value, anyhow::Error> {
    serde_json::from_slice(&response.body).context("the server's answer is not JSON: is it a Daylight?")
}

/// The answer as what it ought to be.
pub(super) fn shape<T: DeserializeOwned>(answer: Value) -> Result<T, anyhow::Error> {
    serde_json::from_value(answer).context("the server's answer has another form: is it a much newer Daylight?")
}
