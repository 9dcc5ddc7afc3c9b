//! Tests of the thread that answers questions.

use super::super::figure::Figure;
use super::*;
use crate::column::Column;
use crate::part::{Coded, Span, Unreadable};
use crate::sample::{self, busy::Busy};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, channel};

const ROWS: usize = 100;

fn block(seed: u64) -> Arc<dyn Part> {
    let mut busy = Busy::new(seed);
    Arc::new(sample::block((0..ROWS).map(|_| busy.event())))
}

fn question(wait_ms: u64) -> Question {
    let question = Question::from_text("count, max(bytes_out)", Millis(i64::MAX)).unwrap();
    Question { from: Millis(0), wait_ms, ..question }
}

/// Longer than any test.
const WAIT_MS: u64 = 600_000;

fn asker(clock: &Clock, parts: impl Fn() -> Vec<Arc<dyn Part>> + Send + Sync + 'static) -> Asker {
    let parts: Parts = Arc::new(move |_, _| parts());
    Asker::start(AskerOptions {
        parts,
        rollups: None,
        memory_bytes: 64 << 20,
        clock: clock.clone(),
        log: Log::silent(),
    })
}

fn ask(asker: &Asker, question: Question) -> Receiver<Result<Answer, NotAnswered>> {
    ask_as(asker, 0, question)
}

fn ask_as(asker: &Asker, id: u64, question: Question) -> Receiver<Result<Answer, NotAnswered>> {
    let (send, receive) = channel();
    asker.ask(question, Caller { id, hints: vec!["a hint".to_owned()] }, move |answer| send.send(answer).unwrap());
    receive
}

fn more(asker: &Asker, handle: &str) -> Result<Answer, NotAnswered> {
    more_as(asker, 0, handle)
}

fn more_as(asker: &Asker, id: u64, handle: &str) -> Result<Answer, NotAnswered> {
    let (send, receive) = channel();
    asker.more(handle, id, WAIT_MS, move |answer| send.send(answer).unwrap());
    receive.recv().unwrap()
}

fn events(parts: &[Arc<dyn Part>]) -> i64 {
    parts.iter().map(|part| part.span().events).sum::<u64>() as i64
}

#[test]
fn a_caller_that_does_not_wait_gets_a_handle_and_the_whole_answer_with_it() {
    let parts = vec![block(1), block(2), block(3)];
    let all = events(&parts);
    let asker = asker(&Clock::default(), move || parts.clone());
    let first = ask(&asker, question(0)).recv().unwrap().unwrap();
    assert!(first.complete < 1.0, "{first:?}");
    let handle = first.next.unwrap();
    let whole = more(&asker, &handle).unwrap();
    assert_eq!((whole.complete, whole.next, &whole.rows[0][0]), (1.0, None, &Figure::Whole(all)));
    assert_eq!((whole.seen.segments, whole.seen.of), (3, whole.seen.events));
    assert_eq!((first.hints, whole.hints), (vec!["a hint".to_owned()], vec!["a hint".to_owned()]));
    assert_eq!(more(&asker, &handle), Err(NotAnswered::NoHandle(handle)));
}

#[test]
fn a_handle_is_valid_for_a_minute() {
    let clock = Clock::at(Millis(1_000_000));
    let asker = asker(&clock, || vec![block(1)]);
    let handle = ask(&asker, question(0)).recv().unwrap().unwrap().next.unwrap();
    clock.set(Some(Millis(1_000_000 + Asker::KEPT_MS)));
    assert_eq!(more(&asker, &handle), Err(NotAnswered::NoHandle(handle)));
}

#[test]
fn more_questions_than_the_queue_holds_are_refused_and_counted() {
    let (open, gate) = channel::<()>();
    let gate = Mutex::new(gate);
    let asker = asker(&Clock::default(), move || {
        // The first question waits here, and all others behind it.
        let _ = gate.lock().unwrap().recv();
        vec![block(1)]
    });
    let waiting: Vec<_> = (0..Asker::QUESTIONS).map(|_| ask(&asker, question(WAIT_MS))).collect();
    assert_eq!(ask(&asker, question(WAIT_MS)).recv().unwrap(), Err(NotAnswered::Busy(Asker::QUESTIONS)));
    let [questions, _] = asker.bounds();
    assert_eq!((questions.used(), questions.rejected()), (Asker::QUESTIONS, 1));
    drop(open);
    for answer in waiting {
        assert_eq!(answer.recv().unwrap().unwrap().complete, 1.0);
    }
}

#[test]
fn a_caller_that_waits_goes_before_partial_answers_that_nobody_waits_for() {
    let (open, gate) = channel::<()>();
    let gate = Mutex::new(gate);
    let asker = asker(&Clock::default(), move || {
        let _ = gate.lock().unwrap().recv();
        vec![block(1)]
    });
    // These get their handles before anything is seen.
    let handle = |answer: Receiver<Result<Answer, NotAnswered>>| answer.recv().unwrap().unwrap().next.unwrap();
    let left = handle(ask(&asker, question(0)));
    let waiting: Vec<_> = (0..Asker::QUESTIONS).map(|_| ask(&asker, question(WAIT_MS))).collect();
    drop(open);
    for answer in waiting {
        assert!(answer.recv().unwrap().is_ok());
    }
    assert_eq!(more(&asker, &left), Err(NotAnswered::NoHandle(left)));
}

#[test]
fn a_caller_loses_partial_answers_to_own_questions_and_never_to_those_of_a_caller_with_more() {
    let (open, gate) = channel::<()>();
    let (gate, shut) = (Mutex::new(gate), Arc::new(AtomicBool::new(false)));
    let is_shut = shut.clone();
    let asker = asker(&Clock::default(), move || {
        if is_shut.load(Relaxed) {
            let _ = gate.lock().unwrap().recv();
        }
        vec![block(1)]
    });
    asker.limit(5, 2);
    let partial = |id: u64| ask_as(&asker, id, question(0)).recv().unwrap().unwrap().next.unwrap();
    let stays = |id: u64, handle: &str| {
        let state = lock(&asker.shared.state);
        state.jobs.iter().any(|job| job.caller.id == id && job.handle == handle)
    };
    let quiet = partial(1);
    let greedy: Vec<String> = (0..6).map(|_| partial(2)).collect();
    let others = [3, 4].map(|id| (id, partial(id)));
    assert_eq!(greedy.iter().filter(|handle| stays(2, handle)).count(), 2);
    // All places are taken, and the second caller has most.
    let fifth = partial(5);
    assert_eq!(greedy.iter().filter(|handle| stays(2, handle)).count(), 1);
    assert!(stays(1, &quiet) && stays(5, &fifth) && others.iter().all(|(id, handle)| stays(*id, handle)));
    shut.store(true, Relaxed);
    let waits = ask_as(&asker, 1, question(WAIT_MS));
    assert!(!stays(1, &quiet) && others.iter().all(|(id, handle)| stays(*id, handle)), "it takes the own place");
    asker.limit(5, 1);
    assert_eq!(ask_as(&asker, 1, question(WAIT_MS)).recv().unwrap(), Err(NotAnswered::BusyForCaller(1)));
    drop(open);
    assert!(waits.recv().unwrap().is_ok());
    assert_eq!(more_as(&asker, 4, &others[0].1), Err(NotAnswered::NoHandle(others[0].1.clone())), "another's");
    assert!(more_as(&asker, 3, &others[0].1).is_ok());
}

/// A part that ends the thread that reads it.
#[derive(Debug)]
struct Broken;

impl Part for Broken {
    fn span(&self) -> Span {
        Span { rows: 1, events: 1, from: 1, to: 1 }
    }
    fn texts(&self, _column: Column) -> Result<Coded, Unreadable> {
        panic!("a planted bug")
    }
    fn numbers(&self, _column: Column) -> Result<Vec<i64>, Unreadable> {
        panic!("a planted bug")
    }
}

#[test]
fn a_bug_ends_one_question_and_no_other() {
    let first = std::sync::atomic::AtomicBool::new(true);
    let parts = move || match first.swap(false, std::sync::atomic::Ordering::Relaxed) {
        true => vec![Arc::new(Broken) as Arc<dyn Part>],
        false => vec![block(1)],
    };
    let asker = asker(&Clock::default(), parts);
    assert_eq!(ask(&asker, question(WAIT_MS)).recv().unwrap(), Err(NotAnswered::Failed));
    assert!(ask(&asker, question(WAIT_MS)).recv().unwrap().is_ok());
}

#[test]
fn callers_are_told_when_the_server_stops() {
    let (open, gate) = channel::<()>();
    let (arrived, arrives) = channel();
    let (gate, arrived) = (Mutex::new(gate), Mutex::new(arrived));
    let asker = asker(&Clock::default(), move || {
        arrived.lock().unwrap().send(()).unwrap();
        let _ = gate.lock().unwrap().recv();
        vec![block(1)]
    });
    let answers = [ask(&asker, question(WAIT_MS)), ask(&asker, question(WAIT_MS))];
    arrives.recv().unwrap();
    lock(&asker.shared.state).stopped = true;
    drop(open);
    drop(asker);
    for answer in answers {
        assert_eq!(answer.recv().unwrap(), Err(NotAnswered::Stopped));
    }
}
