//! The other nodes of the cluster. Each has its own requests and findings, and tells them when another node asks.
//!
//! The node that a person asks checks what they may, and asks the others with a proof that it is a node ([`proof`]), so nobody's token
//! leaves it. A node that is asked so, or with `nodes=here`, answers for itself alone.

pub(crate) mod ask;
pub(crate) mod event;
pub(crate) mod findings;
mod proof;
pub(crate) mod tail;

use crate::app::App;
use crate::error::Result;
use crate::lookup::pagination::only_here;
use bytes::Bytes;
use client::{Client, ClientOptions, Content, Response, Trust};
use front::Request;
use futures_util::future::join_all;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method};
use serde::Serialize;
use std::time::Duration;
use store::{NodeRow, NodeState, Store};
use telemetry::Event;

/// How long a node is waited for.
const LIMIT: Duration = Duration::from_secs(2);
/// How long connecting to it may take.
const CONNECT: Duration = Duration::from_secs(1);
/// The largest answer of a node, in bytes.
const ANSWER_MAX: u64 = 32 << 20;
/// The most bytes of the words of a refusal that are told.
const REFUSAL_MAX: usize = 200;
/// The status with which a server refuses a call whose proof it does not know.
const UNPROVEN: u16 = 401;
/// Why a node is not asked.
const GONE: &str = "it has stopped, or gives no sign of life";

/// This node, and the others of its database.
#[derive(Debug, Clone)]
pub(crate) struct Others {
    own: NodeRow,
    others: Vec<NodeRow>,
}

/// Whether a node answered, as answers tell it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct NodeAnswered {
    /// Its name.
    node: String,
    /// Whether the answer has what it knows.
    answered: bool,
    /// Why it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl NodeAnswered {
    fn of<T>(node: &str, answer: &Result<T, String>) -> Self {
        Self { node: node.to_owned(), answered: answer.is_ok(), error: answer.as_ref().err().cloned() }
    }
}

/// Whether another node makes the request, and so this one answers for itself.
pub(crate) fn is_of_node(app: &App, request: &Request) -> bool {
    request.headers.contains_key(proof::HEADER) && proof::is_right(&app.store.nodes(), request)
}

impl Others {
    /// The nodes that are to be asked for the answer to a request of a person. `None`: there are none, or only this one is asked.
    pub(crate) fn of(app: &App, request: &Request) -> Result<Option<Self>> {
        let is_alone = only_here(request.query().unwrap_or_default())?;
        Ok(if is_alone { None } else { Self::known(&app.store) })
    }

    fn known(store: &Store) -> Option<Self> {
        let (mut own, others): (Vec<_>, Vec<_>) = store.nodes().into_iter().partition(|node| node.is_self);
        let own = own.pop()?;
        (!others.is_empty()).then_some(Self { own, others })
    }

    /// The name of this node.
    pub(crate) fn own(&self) -> &str {
        &self.own.name
    }

    /// The answers of all others to a GET, each with the name of the node, or why there is none.
    async fn get(&self, target: &str) -> Vec<(String, Result<Response, String>)> {
        let ask = |to: &'_ NodeRow| {
            let name = to.name.clone();
            let call = self.call(to.clone(), Method::GET, target.to_owned(), Bytes::new());
            async move { (name, call.await) }
        };
        join_all(self.others.iter().map(ask)).await
    }

    /// The answer of one, whatever its status. `target`: path and query.
    async fn call(&self, to: NodeRow, method: Method, target: String, body: Bytes) -> Result<Response, String> {
        if to.state == NodeState::Gone {
            return Err(GONE.to_owned());
        }
        let options = ClientOptions {
            connect_timeout: CONNECT,
            total_timeout: LIMIT,
            max_body_bytes: ANSWER_MAX,
            trust: Trust::MACHINE,
        };
        let request = self.request(&to, method, &target, body);
        let answer = Box::pin(Client::new(options).call(request)).await;
        accepted(&to, answer.map_err(|error| error.to_string()))
    }

    fn request(&self, to: &NodeRow, method: Method, target: &str, body: Bytes) -> client::Request {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.extend(proof::make(&self.own, to, &method, target).map(|proof| (proof::HEADER, proof)));
        let url = format!("{}{target}", to.url);
        client::Request { method, url, headers, token: None, body: Content::Bytes(body) }
    }
}

/// The answer of `to`, unless it does not accept the proof.
fn accepted(to: &NodeRow, answer: Result<Response, String>) -> Result<Response, String> {
    let NodeRow { name, url, .. } = to;
    match answer {
        Ok(response) if response.status.as_u16() == UNPROVEN => Err(format!(
            "`{url}` refuses the call (401), as another node or program does, or a node without the database (hint: check \
             `cluster.address` of node `{name}`)"
        )),
        answer => answer,
    }
}

/// The body of a success, or why there is none.
fn body(answer: Result<Response, String>) -> Result<Bytes, String> {
    let response = answer?;
    if response.status.is_success() {
        return Ok(response.body);
    }
    let said = String::from_utf8_lossy(&response.body[..response.body.len().min(REFUSAL_MAX)]).into_owned();
    Err(format!("{}: {}", response.status, Event::text(said.lines().next().unwrap_or_default())))
}
