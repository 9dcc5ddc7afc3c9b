//! What each thread works on at this moment, so that a profile can tell for what it used a processor.
//!
//! Every thread writes a word of its own, and only a profile reads the words of others. The word holds operation, class and repository
//! together, so a reader never sees parts of two works. An answer from memory writes it twice and reads nothing.

use crate::{Class, Op};
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// The most threads with a word of their own. Of further ones a profile knows the name alone.
const THREADS_MAX: usize = 512;
/// A thread that has not asked for a word.
const UNKNOWN: usize = usize::MAX;

/// The word of a thread, alone in its cache line.
#[repr(align(64))]
struct Register {
    work: AtomicU64,
    /// The id of the thread, as in `/proc/self/task`. 0: no thread has it.
    thread: AtomicU32,
}

/// The last one belongs to all threads that found no other, and is never read.
static REGISTERS: [Register; THREADS_MAX + 1] =
    [const { Register { work: AtomicU64::new(0), thread: AtomicU32::new(0) } }; THREADS_MAX + 1];

thread_local! {
    static PLACE: Cell<usize> = const { Cell::new(UNKNOWN) };
    static CLAIM: Claim = Claim::new();
}

/// The word of a thread, until that ends.
struct Claim(usize);

impl Claim {
    fn new() -> Self {
        let id = u32::try_from(rustix::thread::gettid().as_raw_pid()).unwrap_or_default();
        let free = |register: &Register| register.thread.compare_exchange(0, id, Relaxed, Relaxed).is_ok();
        Self(REGISTERS[..THREADS_MAX].iter().position(free).unwrap_or(THREADS_MAX))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        PLACE.set(THREADS_MAX);
        if self.0 < THREADS_MAX {
            REGISTERS[self.0].work.store(0, Relaxed);
            REGISTERS[self.0].thread.store(0, Relaxed);
        }
    }
}

#[inline]
fn word() -> &'static AtomicU64 {
    match REGISTERS.get(PLACE.get()) {
        Some(register) => &register.work,
        None => first_word(),
    }
}

#[cold]
fn first_word() -> &'static AtomicU64 {
    // Fails on a thread that is ending.
    let place = CLAIM.try_with(|claim| claim.0).unwrap_or(THREADS_MAX);
    PLACE.set(place);
    &REGISTERS[place].work
}

/// Bits of an operation, whose codes begin with 1.
const OP: u64 = 0xff;
/// The lowest bit of a class, whose codes begin with 1.
const CLASS: u32 = 8;
/// Whether a request is worked on, by its own task.
const REQUEST: u64 = 1 << 15;
/// The lowest bit of a repository.
const REPOSITORY: u32 = 16;

/// What a thread works on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct WorkUnderWay(u64);

impl WorkUnderWay {
    /// That of the calling thread.
    pub fn here() -> Self {
        Self(word().load(Relaxed))
    }

    /// The operation. `None`: none is known.
    pub fn op(self) -> Option<Op> {
        Op::ALL.get(usize::from(self.0.to_le_bytes()[0]).checked_sub(1)?).copied()
    }

    /// The cost class of the request. `None`: it has none, or it is no request.
    pub fn class(self) -> Option<Class> {
        Class::ALL.get(usize::from(self.0.to_le_bytes()[1] & 0x7f).checked_sub(1)?).copied()
    }

    /// The number of the repository that the request is about; 0: none is known.
    pub fn repository(self) -> u64 {
        self.0 >> REPOSITORY
    }

    /// The same request, with this operation.
    pub fn with_op(self, op: Op) -> Self {
        Self(self.0 & !(OP | REQUEST) | code(op))
    }

    /// The same repository and class as a request that is worked on by its own task.
    pub fn of_request(self) -> Self {
        Self(self.0 | REQUEST)
    }

    /// Polls the work of which this was the state at its last poll. The thread has its former state back afterwards.
    #[inline]
    pub fn during<T>(&mut self, poll: impl FnOnce() -> T) -> T {
        let word = word();
        let before = word.load(Relaxed);
        word.store(self.0, Relaxed);
        let polled = poll();
        self.0 = word.load(Relaxed);
        word.store(before, Relaxed);
        polled
    }

    /// All threads with a word, by their ids, and what each works on.
    pub fn of_threads() -> impl Iterator<Item = (u32, Self)> {
        let threads = REGISTERS[..THREADS_MAX].iter();
        let known = threads.map(|register| (register.thread.load(Relaxed), Self(register.work.load(Relaxed))));
        known.filter(|(thread, _)| *thread != 0)
    }
}

#[inline]
fn code(op: Op) -> u64 {
    u64::from(op as u8) + 1
}

/// The request of this thread is of this class.
pub fn works_in(class: Class) {
    let (word, code) = (word(), (u64::from(class as u8) + 1) << CLASS);
    word.store(word.load(Relaxed) & !(0x7f << CLASS) | code, Relaxed);
}

/// The request of this thread is about the repository with this number.
pub fn works_for(repository: u64) {
    let word = word();
    word.store(word.load(Relaxed) & ((1 << REPOSITORY) - 1) | repository << REPOSITORY, Relaxed);
}

/// The thread begins with this and knows of no request. Its work until then has ended.
#[inline]
pub fn works_at(op: Op) {
    word().store(code(op), Relaxed);
}

/// The thread begins with nothing.
#[inline]
pub(crate) fn works_at_nothing() {
    word().store(0, Relaxed);
}

/// The thread begins with an operation within its work. Returns what [`resume`] takes.
#[inline]
pub(crate) fn begin(op: Op) -> u64 {
    let word = word();
    let before = word.load(Relaxed);
    word.store(before & !OP | code(op), Relaxed);
    before
}

/// The operation has ended. Class and repository may be known only since then.
#[inline]
pub(crate) fn resume(before: u64) {
    let word = word();
    word.store(word.load(Relaxed) & !OP | before & OP, Relaxed);
}

/// The operation for which the request of this thread waits is another one now; 0: none. Outside of a request nothing happens.
#[inline]
pub(crate) fn waits_for(op_code: u8) {
    let word = word();
    let before = word.load(Relaxed);
    if before & REQUEST != 0 {
        word.store(before & !OP | u64::from(op_code), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Event, Millis, OpsUnderWay, under_way};

    fn here() -> (Option<Op>, Option<Class>, u64) {
        let work = WorkUnderWay::here();
        (work.op(), work.class(), work.repository())
    }

    #[test]
    fn a_request_takes_its_class_and_repository_along_and_the_thread_has_none_between_its_polls() {
        let (mut work, mut ops) = (WorkUnderWay::default().of_request(), OpsUnderWay::default());
        let mut event = Event::job("test", Millis(1));
        let waits = work.during(|| {
            ops.during(|| {
                works_in(Class::Downloads);
                event.time(Op::Route, || {
                    works_for(7);
                    assert_eq!(here(), (Some(Op::Route), Some(Class::Downloads), 7));
                });
                assert_eq!(here(), (None, Some(Class::Downloads), 7));
                under_way(Op::TruthRead)
            })
        });
        assert_eq!(here(), (None, None, 0));
        work.during(|| {
            ops.during(|| {
                assert_eq!(here(), (Some(Op::TruthRead), Some(Class::Downloads), 7));
                drop(waits);
                assert_eq!(here(), (None, Some(Class::Downloads), 7));
            });
        });
        let mut on_a_pool = work.with_op(Op::BlobOpen);
        on_a_pool.during(|| assert_eq!(here(), (Some(Op::BlobOpen), Some(Class::Downloads), 7)));
    }

    #[test]
    fn waits_outside_of_a_request_leave_no_trace() {
        let wait = under_way(Op::FlightWait);
        assert_eq!(here(), (None, None, 0));
        drop(wait);
    }

    #[test]
    fn the_words_of_living_threads_are_listed_and_that_of_an_ended_one_is_free() {
        let list = || WorkUnderWay::of_threads().find(|(_, work)| work.repository() == 77_123);
        let ended = std::thread::spawn(move || {
            works_for(77_123);
            list().unwrap().0
        });
        let id = ended.join().unwrap();
        assert!(id > 0 && list().is_none());
    }

    #[test]
    fn every_operation_and_class_has_a_code_of_its_own() {
        const { assert!(Op::COUNT < 255 && Class::COUNT < 127) };
        for op in Op::ALL {
            assert_eq!(WorkUnderWay::default().with_op(*op).op(), Some(*op));
        }
    }
}
