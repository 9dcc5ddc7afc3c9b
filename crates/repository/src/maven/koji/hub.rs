//! Asks a Koji hub: one call for any number of questions, and an answer that is read as it arrives. No login is ever
//! sent; a hub answers all that is asked here without one.

use crate::maven::koji::answer_body::{AnswerBody, Coding};
use crate::upstream::Remote;
use crate::upstream::failure::Failure;
use crate::upstream::trouble::Trouble;
use bytes::BytesMut;
use client::{Arriving, Post};
use format::koji::answer::{Answer, Fault};
use format::koji::question::Question;
use format::koji::reading::Reply;
use format::koji::request;
use std::time::Duration;
use store::Lane;
use telemetry::{Event, Op, Reason, Tick};
use tokio::time::timeout;

/// The fault of a hub that is offline. It comes with status 200.
const OFFLINE: i64 = 1014;
/// A hub computes the whole answer before it sends the head of its response.
const PATIENCE: u32 = 6;
/// How long the body of an answer may take, at whatever rate it comes. A look of another part of the tag follows.
const BODY_AT_MOST: Duration = Duration::from_secs(600);
/// Bytes of a body that a thread reads at a time; packed, they are some ten times as many, which takes 20 ms.
const PIECE: usize = 256 << 10;

/// Asks in one round: one question as a call, several as one `multiCall`. The answers are in the order of the questions.
/// A failure is one of the whole round: no connection, a status, an answer that is too large or damaged, or a fault of
/// the `multiCall` itself (an outage is HTTP 200 with fault 1014).
pub(crate) async fn ask(
    remote: &Remote,
    questions: &[Question],
    event: &mut Event,
) -> Result<Vec<Result<Answer, Fault>>, Failure> {
    let method = match questions {
        [] => return Ok(Vec::new()),
        [one] => one.method(),
        _ => "multiCall",
    };
    let began = Tick::now();
    let asked = call(remote, questions, event).await;
    event.add(Op::KojiCall, Tick::now().since(began));
    let (outcome, answers) = match asked {
        Ok(Reply::Answers(answers)) => match answers.iter().flat_map(|answer| answer.as_ref().err()).find(is_outage) {
            Some(fault) => ("fault", Err(failure(fault))),
            None if questions.len() == 1 && answers.iter().any(Result::is_err) => ("fault", Ok(answers)),
            None => ("answered", Ok(answers)),
        },
        Ok(Reply::Fault(fault)) if questions.len() == 1 && !is_outage(&&fault) => ("fault", Ok(vec![Err(fault)])),
        Ok(Reply::Fault(fault)) => ("fault", Err(failure(&fault))),
        Err(failure) => (failure.reason.as_str(), Err(failure)),
    };
    remote.remotes.recorder.koji_calls().count(method, outcome);
    remote.repository.shared.koji().counted.call();
    answers
}

fn is_outage(fault: &&Fault) -> bool {
    fault.code == OFFLINE
}

/// The failure of a round for which the hub had a fault. Its text may be the beginning of a traceback, so clients never
/// see it.
fn failure(fault: &Fault) -> Failure {
    let text = Event::text(&fault.text);
    let what = if is_outage(&fault) { "the hub is offline" } else { "the hub has a fault" };
    Failure::new(Reason::UpstreamFailed, format!("{what} ({}): {text}", fault.code))
}

async fn call(remote: &Remote, questions: &[Question], event: &mut Event) -> Result<Reply, Failure> {
    let invalid = |text: String| Failure::new(Reason::UpstreamInvalid, text);
    let body = request::write(questions).map_err(|many| invalid(many.to_string()))?;
    let upstream = remote.hub(event).await.map_err(of_trouble)?;
    let post = Post { body: body.into(), content_type: "text/xml", patience: PATIENCE };
    let arriving = upstream.post(&post, event).await;
    remote.pin(&upstream, event).await.map_err(|error| of_trouble(error.into()))?;
    let mut arriving = arriving?;
    if arriving.status() != 200 {
        return Err(Failure::said(&arriving, false));
    }
    let name = arriving.header("content-encoding").unwrap_or_default();
    let coding = Coding::read(name).ok_or_else(|| {
        invalid(format!("the hub answered with a coding that was not asked for: {}", Event::text(name)))
    })?;
    let body = AnswerBody::new(questions.to_vec(), coding, remote.remotes.koji_answers.clone());
    let reading = timeout(BODY_AT_MOST, read(remote, &mut arriving, body, event));
    reading.await.unwrap_or_else(|_| {
        let text = format!("the hub's answer was not complete after {} s", BODY_AT_MOST.as_secs());
        Err(Failure::new(Reason::UpstreamTimeout, text))
    })
}

/// Reads the body on a thread, piece by piece.
async fn read(
    remote: &Remote,
    arriving: &mut Arriving,
    mut body: AnswerBody,
    event: &mut Event,
) -> Result<Reply, Failure> {
    let workers = &remote.remotes.workers;
    let mut piece = BytesMut::new();
    loop {
        let next = arriving.next(event).await.transpose()?;
        let is_end = next.is_none();
        piece.extend_from_slice(&next.unwrap_or_default());
        if piece.len() < PIECE && !is_end {
            continue;
        }
        let bytes = piece.split().freeze();
        let read = move |_: &mut ()| match body.push(&bytes) {
            Ok(()) if is_end => body.finish().map(Progress::Whole),
            Ok(()) => Ok(Progress::More(body)),
            Err(failure) => Err(failure),
        };
        let ran = workers.run(Lane::Index, Op::KojiRead, event, read).await;
        match ran.map_err(|error| of_trouble(error.into()))?? {
            Progress::Whole(reply) => return Ok(reply),
            Progress::More(back) => body = back,
        }
    }
}

/// How far a body is read.
enum Progress {
    More(AnswerBody),
    Whole(Reply),
}

fn of_trouble(trouble: Trouble) -> Failure {
    match trouble {
        Trouble::Upstream(failure) => failure,
        other => Failure::new(other.reason().unwrap_or(Reason::UpstreamFailed), other.to_string()),
    }
}
