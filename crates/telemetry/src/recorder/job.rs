//! A background job: its event, which is released in any case, with its duration and the memory of the process.

use crate::{Event, Outcome, Recorder};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A background job in progress. Its event is released when this is dropped: as failed if the job has no outcome by then.
#[derive(Debug)]
pub struct Job {
    recorder: Arc<Recorder>,
    event: Box<Event>,
}

impl Job {
    /// A job that begins now.
    pub fn begin(recorder: &Arc<Recorder>, name: &'static str) -> Self {
        Self::of(recorder, Event::job(name, recorder.clock().now()))
    }

    /// The job of this event, which has begun.
    pub fn of(recorder: &Arc<Recorder>, mut event: Box<Event>) -> Self {
        recorder.begin_job(&mut event);
        Self { recorder: recorder.clone(), event }
    }

    /// Ends it.
    pub fn end(mut self, outcome: Outcome) {
        self.outcome = Some(outcome);
    }

    /// Ends it as done or as failed.
    pub fn end_as<T, E>(self, done: &Result<T, E>) {
        self.end(if done.is_ok() { Outcome::Done } else { Outcome::Failed });
    }
}

impl Deref for Job {
    type Target = Event;

    fn deref(&self) -> &Event {
        &self.event
    }
}

impl DerefMut for Job {
    fn deref_mut(&mut self) -> &mut Event {
        &mut self.event
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.recorder.end_job(&mut self.event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clock, Counter, RecorderOptions, Sink};
    use std::sync::Mutex;
    use std::time::Duration;

    #[derive(Debug, Clone, Default)]
    struct Written(Arc<Mutex<Vec<Event>>>);

    impl Sink for Written {
        fn name(&self) -> &'static str {
            "written"
        }

        fn write(&mut self, events: &[Event]) -> std::io::Result<()> {
            self.0.lock().unwrap().extend_from_slice(events);
            Ok(())
        }
    }

    #[test]
    fn every_job_has_an_outcome_a_duration_and_memory_however_it_ends() {
        let written = Written::default();
        let options = RecorderOptions { buffered_events: 100, ..RecorderOptions::of(Clock::default()) };
        let recorder = Recorder::start(options, vec![Box::new(written.clone())]);
        Job::begin(&recorder, "done").end(Outcome::Done);
        Job::begin(&recorder, "failed").end_as(&Err::<(), ()>(()));
        drop(Job::begin(&recorder, "given up"));
        recorder.stop(Duration::from_secs(30));
        let events = written.0.lock().unwrap();
        let outcomes: Vec<_> = events.iter().map(|event| (event.method, event.outcome.unwrap())).collect();
        assert_eq!(outcomes, [("done", Outcome::Done), ("failed", Outcome::Failed), ("given up", Outcome::Failed)]);
        for event in &*events {
            let memory = event.more.as_ref().unwrap().memory.unwrap();
            assert!(event.duration > 0 && memory.before > 0 && memory.after > 0, "{event:?}");
            assert!(memory.highest >= memory.before.max(memory.after), "{memory:?}");
        }
        let totals = recorder.totals();
        assert_eq!((totals.counter(Counter::Attempts), totals.in_flight()), (3, 0));
    }
}
