//! The thread that answers questions. It works at a low priority, on one part of one question at a time, so that a short question does not
//! wait for a long one. Between the columns of a part it looks whether an answer is due.

use super::answer::{Answer, NotAnswered};
use super::comparison::Comparison;
use super::progress::Steps;
use super::question::{Compare, Question};
use super::run::Run;
use crate::part::Part;
use crate::rollup::RollupScan;
use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use telemetry::{Bound, BoundName, Clock, Log, Millis, Tick, background, lock};

/// The parts of the stored events between two moments, the newest first.
pub type Parts = Arc<dyn Fn(Millis, Millis) -> Vec<Arc<dyn Part>> + Send + Sync>;
/// The counts from which a question is answered in place of events, if they have all that it needs.
pub type RollupSource = Arc<dyn Fn(&Question) -> Option<RollupScan> + Send + Sync>;
/// Is called once with the answer, on the thread of the asker. It must not wait.
type Done = Box<dyn FnOnce(Result<Answer, NotAnswered>) + Send>;

/// The options of an [`Asker`].
pub struct AskerOptions {
    /// The stored events.
    pub parts: Parts,
    /// Is tried before events are read.
    pub rollups: Option<RollupSource>,
    /// The most memory of the tables of all questions, with the columns of the part that is being read, in bytes. Groups are dropped above
    /// it.
    pub memory_bytes: u64,
    /// Handles of partial answers expire by it.
    pub clock: Clock,
    /// For a failure to start.
    pub log: Log,
}

/// The caller of a question, and the hints for them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caller {
    /// A number that is the caller's own.
    pub id: u64,
    /// Probable mistakes in the question.
    pub hints: Vec<String>,
}

/// Answers questions about stored events, on a thread of its own. Dropping it ends the thread.
pub struct Asker {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// The state that the callers share with the thread.
struct Shared {
    options: AskerOptions,
    questions: Arc<Bound>,
    /// How many of them may be of one caller.
    each: AtomicU64,
    memory: Arc<Bound>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    handles: u64,
    stopped: bool,
}

/// A question of a caller.
struct Job {
    handle: String,
    caller: Caller,
    work: Work,
    /// The caller that waits, and until when.
    waiting: Option<(Done, Tick)>,
    /// The question is dropped then, unless a caller waits.
    expires: Millis,
}

enum Work {
    New(Box<Question>),
    Begun(Box<dyn Steps>),
    /// The thread has it.
    Away,
    Done(Box<Result<Answer, NotAnswered>>),
}

impl Asker {
    /// The most questions that are being answered, or whose partial answers are kept, unless [`Asker::limit`] sets another number.
    pub const QUESTIONS: u64 = 8;
    /// How long the handle of a partial answer is valid, in milliseconds.
    pub const KEPT_MS: i64 = 60_000;

    /// Starts the thread. If the operating system refuses it, no question is answered.
    pub fn start(options: AskerOptions) -> Self {
        let questions = Bound::new(BoundName::Asks, "", Self::QUESTIONS);
        let memory = Bound::new(BoundName::AskMemory, "", options.memory_bytes);
        let (state, changed) = (Mutex::default(), Condvar::new());
        let each = AtomicU64::new(Self::QUESTIONS);
        let shared = Arc::new(Shared { options, questions, each, memory, state, changed });
        let mine = shared.clone();
        let thread = std::thread::Builder::new().name("ask".to_owned()).spawn(move || {
            background();
            mine.run();
        });
        let refused = |error: &std::io::Error| {
            shared.options.log.error("no thread answers questions about events", &[("error", error)]);
            lock(&shared.state).stopped = true;
        };
        let thread = thread.inspect_err(refused).ok();
        Self { shared, thread }
    }

    /// Sets the most questions that are being answered, or whose partial answers are kept, and how many of them may be of one caller.
    pub fn limit(&self, questions: u64, each: u64) {
        self.shared.questions.set_capacity(questions);
        self.shared.each.store(each.max(1), Relaxed);
    }

    /// Its bounds: the questions, and the memory of their tables.
    pub fn bounds(&self) -> [Arc<Bound>; 2] {
        [self.shared.questions.clone(), self.shared.memory.clone()]
    }

    /// Answers a question. `done` is called once: when all events were seen, or after [`Question::wait_ms`] with the rows so far and a handle
    /// for [`Asker::more`]. It is called on the asker's thread or at once on this one, and must not wait.
    pub fn ask(
        &self,
        question: Question,
        caller: Caller,
        done: impl FnOnce(Result<Answer, NotAnswered>) + Send + 'static,
    ) {
        let until = until(question.wait_ms);
        let mut state = lock(&self.shared.state);
        state.expire(self.shared.options.clock.now());
        let most = self.shared.questions.capacity();
        if let Err(full) = state.make_room(caller.id, most, self.shared.each.load(Relaxed)) {
            drop(state);
            self.shared.questions.reject();
            return done(Err(full));
        }
        if state.stopped {
            drop(state);
            return done(Err(NotAnswered::Stopped));
        }
        state.handles += 1;
        // It is not guessable: another caller must not get the answer by counting.
        let handle = format!("{:016x}", RandomState::new().hash_one(state.handles));
        let work = Work::New(Box::new(question));
        let waiting = Some((Box::new(done) as Done, until));
        state.jobs.push_back(Job { handle, caller, work, waiting, expires: Millis(i64::MAX) });
        self.shared.questions.observe(state.jobs.len() as u64);
        self.shared.changed.notify_one();
    }

    /// Continues with a partial answer of the caller with this number. `done` is called as for [`Asker::ask`], after at most `wait_ms`
    /// milliseconds.
    pub fn more(
        &self,
        handle: &str,
        caller: u64,
        wait_ms: u64,
        done: impl FnOnce(Result<Answer, NotAnswered>) + Send + 'static,
    ) {
        let mut state = lock(&self.shared.state);
        state.expire(self.shared.options.clock.now());
        let is_it = |job: &&mut Job| job.handle == handle && job.caller.id == caller && job.waiting.is_none();
        let job = state.jobs.iter_mut().find(is_it);
        let Some(job) = job else {
            drop(state);
            return done(Err(NotAnswered::NoHandle(handle.chars().take(32).collect())));
        };
        job.waiting = Some((Box::new(done), until(wait_ms)));
        self.shared.changed.notify_one();
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        lock(&self.shared.state).stopped = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was logged where it happened.
            let _ = thread.join();
        }
    }
}

/// The moment that is so many milliseconds away.
fn until(wait_ms: u64) -> Tick {
    Tick::now().plus(Duration::from_millis(wait_ms))
}

impl State {
    /// Drops questions whose callers have not come back.
    fn expire(&mut self, now: Millis) {
        self.jobs.retain(|job| job.waiting.is_some() || now < job.expires);
    }

    /// Makes room for a question of a caller, in place of a partial answer that nobody waits for: one of the caller, or else one of the
    /// caller that has most questions. So a caller with few never loses theirs to one with many.
    fn make_room(&mut self, caller: u64, most: u64, each: u64) -> Result<(), NotAnswered> {
        let of = |id: u64| self.jobs.iter().filter(|job| job.caller.id == id).count();
        let (own, all) = (of(caller), self.jobs.len() as u64);
        if all < most && (own as u64) < each {
            return Ok(());
        }
        let idle = || self.jobs.iter().enumerate().filter(|(_, job)| job.waiting.is_none());
        let place = match idle().find(|(_, job)| job.caller.id == caller) {
            Some(of_caller) => Some(of_caller),
            None if own as u64 >= each && each < most => return Err(NotAnswered::BusyForCaller(each)),
            // The first of those with most.
            None => idle().rev().max_by_key(|(_, job)| of(job.caller.id)),
        };
        let (place, _) = place.ok_or(NotAnswered::Busy(most))?;
        self.jobs.remove(place);
        Ok(())
    }
}

impl Job {
    /// Whether its caller gets an answer now.
    fn is_due(&self, now: Tick) -> bool {
        match (&self.work, &self.waiting) {
            (Work::Done(_), Some(_)) => true,
            (Work::New(_) | Work::Begun(_), Some((_, until))) => *until <= now,
            _ => false,
        }
    }

    /// Whether a part was begun. It is seen to its end before another question gets its turn, so columns of one part are in memory.
    fn is_within_part(&self) -> bool {
        matches!(&self.work, Work::Begun(begun) if begun.is_within_part())
    }

    /// Whether more can be seen for it.
    fn has_work(&self) -> bool {
        matches!(self.work, Work::New(_) | Work::Begun(_))
    }
}

impl Shared {
    /// Works until the asker is dropped.
    fn run(&self) {
        let mut state = lock(&self.state);
        loop {
            state.expire(self.options.clock.now());
            self.observe(&state);
            if state.stopped {
                let jobs = std::mem::take(&mut state.jobs);
                drop(state);
                for (done, _) in jobs.into_iter().filter_map(|job| job.waiting) {
                    answered(done, Err(NotAnswered::Stopped));
                }
                return;
            }
            let now = Tick::now();
            let due = state.jobs.iter().position(|job| job.is_due(now));
            let begun = || state.jobs.iter().position(Job::is_within_part);
            let Some(place) = due.or_else(begun).or_else(|| state.jobs.iter().position(Job::has_work)) else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            // The question goes behind the others, so that each gets its turn.
            let Some(mut job) = state.jobs.remove(place) else { continue };
            let (handle, work) = (job.handle.clone(), std::mem::replace(&mut job.work, Work::Away));
            state.jobs.push_back(job);
            let memory = self.memory.capacity() / (state.jobs.len() as u64 + 1);
            drop(state);
            // Callers take the lock on threads that serve requests, so nothing long happens under it.
            let (work, answer) = match due {
                Some(_) => self.answer(work),
                None => (self.step(work, usize::try_from(memory).unwrap_or(usize::MAX)), None),
            };
            state = lock(&self.state);
            let expires = Millis(self.options.clock.now().0 + Asker::KEPT_MS);
            let Some(job) = state.jobs.iter_mut().find(|job| job.handle == handle) else { continue };
            job.work = work;
            let Some(mut answer) = answer else { continue };
            let waiting = job.waiting.take();
            match (&mut answer, job.caller.hints.first()) {
                (Ok(answer), _) => answer.hints.clone_from(&job.caller.hints),
                // Too few events, because there can be none.
                (Err(NotAnswered::TooFew { hint, .. }), Some(better)) => hint.clone_from(better),
                _ => {}
            }
            match &mut answer {
                Ok(answer) if answer.complete < 1.0 => {
                    answer.next = Some(handle);
                    job.expires = expires;
                }
                _ => state.jobs.retain(|job| job.handle != handle),
            }
            drop(state);
            if let Some((done, _)) = waiting {
                answered(done, answer);
            }
            state = lock(&self.state);
        }
    }

    /// Counts the questions and their memory.
    fn observe(&self, state: &State) {
        let memory = |job: &Job| if let Work::Begun(begun) = &job.work { begun.memory() as u64 } else { 0 };
        self.questions.observe(state.jobs.len() as u64);
        self.memory.observe(state.jobs.iter().map(memory).sum());
    }

    /// Does a piece of work.
    fn step(&self, work: Work, memory: usize) -> Work {
        let step = || match work {
            Work::New(question) => match self.options.rollups.as_ref().and_then(|rollups| rollups(&question)) {
                Some(counts) => Work::Begun(Box::new(Run::of_counts(*question, counts))),
                None => Work::Begun(self.begin(*question)),
            },
            Work::Begun(mut begun) => {
                if begun.step(memory) {
                    self.memory.reject();
                }
                if begun.is_done() { Work::Done(Box::new(begun.answer())) } else { Work::Begun(begun) }
            }
            Work::Away | Work::Done(_) => work,
        };
        catch_unwind(AssertUnwindSafe(step)).unwrap_or_else(|_| Work::Done(Box::new(Err(NotAnswered::Failed))))
    }

    /// Begins to answer a question.
    fn begin(&self, question: Question) -> Box<dyn Steps> {
        let earlier = if let Some(Compare::Earlier(by)) = question.compare { by } else { 0 };
        let parts = (self.options.parts)(Millis(question.from.0.saturating_sub_unsigned(earlier)), question.to);
        match question.compare {
            None => Box::new(Run::new(question, parts)),
            Some(_) => Box::new(Comparison::new(question, parts)),
        }
    }

    /// The answer so far.
    fn answer(&self, work: Work) -> (Work, Option<Result<Answer, NotAnswered>>) {
        let answer = || match work {
            Work::New(question) => {
                let answer = Answer { complete: 0.0, ..Answer::empty(&question) };
                (Work::New(question), Some(Ok(answer)))
            }
            Work::Begun(mut begun) => {
                let answer = begun.answer();
                (Work::Begun(begun), Some(answer))
            }
            Work::Done(answer) => (Work::Away, Some(*answer)),
            Work::Away => (Work::Away, None),
        };
        let failed = || (Work::Away, Some(Err(NotAnswered::Failed)));
        catch_unwind(AssertUnwindSafe(answer)).unwrap_or_else(|_| failed())
    }
}

/// Calls a caller back. A caller that panics does not end the thread.
fn answered(done: Done, answer: Result<Answer, NotAnswered>) {
    let _ = catch_unwind(AssertUnwindSafe(|| done(answer)));
}

#[cfg(test)]
mod tests;
