//! Questions about the events of all nodes: each counts its own, and the one that was asked merges the figures.

use super::{NodeAnswered, Others, body};
use crate::app::App;
use crate::error::{Error, Result};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use front::Request;
use futures_util::future::{join, join_all};
use http::Method;
use insight::{Answer, Caller, NodeAnswer, NotAnswered, NotMerged, QUESTION_BYTES_MAX, Question};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;
use store::{Lane, NodeRow};
use telemetry::{Event, Op, Tick};
use tokio::sync::oneshot;

/// The path of questions.
const ASK: &str = "/api/v1/ask";
/// How long a node that is asked goes on in one call. After that it tells what it has, and is asked for more. The rest of the time of a call
/// is for the answer, which may be large.
const TURN: Duration = Duration::from_secs(1);
/// Why a node is not asked for a comparison.
const COMPARED: &str = "a comparison is made from the events of one node, the one that is asked";

/// A question in progress on several nodes: what the handle of a partial answer says.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Asking {
    question: String,
    seed: u64,
    /// The handles of nodes that have not seen all their events yet. The others are asked again.
    handles: BTreeMap<String, String>,
}

/// What a node asks another one.
#[derive(Debug, Serialize, Deserialize)]
struct Turn {
    question: String,
    seed: u64,
    /// Goes on with a partial answer.
    next: Option<String>,
    wait_ms: u64,
    /// The number of the person, for limits.
    caller: u64,
}

/// The part of a node's answer that tells whether there is more.
#[derive(Debug, Deserialize)]
struct More {
    complete: f64,
    next: Option<String>,
}

/// The answer with the nodes of which it is made.
#[derive(Serialize)]
struct Told {
    #[serde(flatten)]
    answer: Answer,
    nodes: Vec<NodeAnswered>,
}

impl Asking {
    pub(crate) fn new(question: &Question) -> Self {
        let seed = RandomState::new().hash_one(ASK);
        Self { question: question.to_string(), seed, handles: BTreeMap::new() }
    }

    /// Reads a handle. `None`: it is that of a partial answer of this node alone.
    pub(crate) fn read(handle: &str) -> Option<Self> {
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(handle).ok()?).ok()
    }

    fn handle(&self) -> String {
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).unwrap_or_default())
    }

    fn question(&self, app: &App) -> Result<Question> {
        let question = Question::from_text(&self.question, app.clock.now())?;
        Ok(Question { seed: Some(self.seed), ..question })
    }
}

/// Answers another node.
pub(crate) async fn of_node(app: &App, request: &mut Request, event: &mut Event) -> Result<Bytes> {
    let body = request.upload.collect(QUESTION_BYTES_MAX, event).await?;
    let turn: Turn =
        serde_json::from_slice(&body).map_err(|error| Error::Input(format!("the turn cannot be read: {error}")))?;
    let Turn { question, seed, next, wait_ms, caller } = turn;
    let asking = Asking { question, seed, handles: BTreeMap::new() };
    let until = Tick::now().plus(Duration::from_millis(wait_ms));
    if next.is_none() {
        app.flush_sinks(event).await;
    }
    let question = Question { wait_ms: until.since(Tick::now()) / 1_000_000, ..asking.question(app)? };
    let (answered, answer) = oneshot::channel();
    // The figures are written on the thread that made them. The node that asked may have left.
    let write = |answer: Answer| Bytes::from(serde_json::to_vec(&NodeAnswer::from(answer)).unwrap_or_default());
    begin(app, question, next.as_deref(), caller, move |answer| drop(answered.send(answer.map(write))));
    Ok(event.during(Op::AskWait, answer).await.map_err(|_| Error::GivenUp)??)
}

/// Asks this node.
fn begin(
    app: &App,
    question: Question,
    next: Option<&str>,
    caller: u64,
    done: impl FnOnce(Result<Answer, NotAnswered>) + Send + 'static,
) {
    match next {
        Some(handle) => app.insight.asker().more(handle, caller, question.wait_ms, done),
        None => app.insight.asker().ask(question, Caller { id: caller, hints: Vec::new() }, done),
    }
}

/// The answer of all nodes, as JSON. `wait_ms`: how long the caller waits, if not as long as the question says.
pub(crate) async fn of_all(
    app: &App,
    others: &Others,
    asking: Asking,
    wait_ms: Option<u64>,
    caller: Caller,
    event: &mut Event,
) -> Result<Bytes> {
    let question = asking.question(app)?;
    let question = Question { wait_ms: wait_ms.unwrap_or(question.wait_ms), ..question };
    let until = Tick::now().plus(Duration::from_millis(question.wait_ms));
    let (answered, own) = oneshot::channel();
    let next = asking.handles.get(others.own()).map(String::as_str);
    begin(app, question.clone(), next, caller.id, move |answer| drop(answered.send(answer)));
    let of_others = join_all(others.others.iter().map(|to| turns(app, others, to, &asking, until, caller.id)));
    let (own, of_others) = event.during(Op::NodesWait, Box::pin(join(own, of_others))).await;
    let own = NodeAnswer::from(own.map_err(|_| Error::GivenUp)??);
    let names = others.others.iter().map(|to| to.name.clone());
    let read = |bytes: Bytes| serde_json::from_slice(&bytes).map_err(|_| NotMerged.to_string());
    let mut answers = vec![(others.own().to_owned(), Ok(own))];
    let of_others: Vec<_> = names.zip(of_others).collect();
    let merge = move |(): &mut ()| {
        answers.extend(of_others.into_iter().map(|(name, answer)| (name, answer.and_then(read))));
        merged(&question, asking, answers, caller.hints)
    };
    Ok(app.repositories.workers().run(Lane::Index, Op::NodesMerge, event, merge).await?)
}

/// One answer of those of all nodes.
fn merged(
    question: &Question,
    asking: Asking,
    mut answers: Vec<(String, Result<NodeAnswer, String>)>,
    hints: Vec<String>,
) -> Bytes {
    let mut merged = insight::Merged::new(question);
    for (_, answer) in &mut answers {
        let added = answer.as_ref().ok().map(|answer| merged.add(answer));
        if let Some(Err(error)) = added {
            *answer = Err(error.to_string());
        }
    }
    let next = |answer: &Result<NodeAnswer, String>| Some(answer.as_ref().ok()?.next()?.to_owned());
    let handles = answers.iter().filter_map(|(name, answer)| Some((name.clone(), next(answer)?))).collect();
    let asking = Asking { handles, ..asking };
    let mut answer = merged.answer();
    answer.next = (answer.complete < 1.0).then(|| asking.handle());
    answer.hints = hints;
    let nodes = answers.iter().map(|(name, answer)| NodeAnswered::of(name, answer)).collect();
    Bytes::from(serde_json::to_vec(&Told { answer, nodes }).unwrap_or_default())
}

/// The answer to a comparison, which is of this node alone, as JSON.
pub(crate) fn of_one(others: &Others, answer: Answer) -> Bytes {
    let silent = |to: &NodeRow| NodeAnswered::of::<()>(&to.name, &Err(COMPARED.to_owned()));
    let own = NodeAnswered::of(others.own(), &Ok(()));
    let nodes = [own].into_iter().chain(others.others.iter().map(silent)).collect();
    Bytes::from(serde_json::to_vec(&Told { answer, nodes }).unwrap_or_default())
}

/// The answer of a node, as JSON. It is asked in turns, so a node that does not answer is noticed however long the caller waits.
async fn turns(
    app: &App,
    others: &Others,
    to: &NodeRow,
    asking: &Asking,
    until: Tick,
    caller: u64,
) -> Result<Bytes, String> {
    let mut next = asking.handles.get(&to.name).cloned();
    loop {
        let wait = Duration::from_nanos(until.since(Tick::now())).min(TURN);
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let turn = Turn { question: asking.question.clone(), seed: asking.seed, next, wait_ms, caller };
        let turn = serde_json::to_vec(&turn).map_err(|error| error.to_string())?;
        // A proof of the first turn may have ended meanwhile.
        let now = Others::known(&app.store);
        let others = now.as_ref().unwrap_or(others);
        let answer = body(others.call(to.clone(), Method::POST, ASK.to_owned(), turn.into()).await)?;
        let more: More = serde_json::from_slice(&answer).map_err(|_| NotMerged.to_string())?;
        next = more.next.filter(|_| more.complete < 1.0);
        if next.is_none() || Tick::now() >= until {
            return Ok(answer);
        }
    }
}
