//! What a profile shows of work that is known.

use super::counted::Counted;
use super::*;
use proptest::prelude::*;
use telemetry::{Class, Event, Millis, Op, thread_nanos, works_at};

fn nobody(_: u64) -> Option<String> {
    None
}

fn share(profile: &Profile, thread: &str, op: &str) -> f64 {
    let of = |with: &dyn Fn(&Stack) -> bool| {
        profile.stacks.iter().filter(|stack| with(stack)).map(|stack| stack.nanos).sum()
    };
    let (all, part): (u64, u64) =
        (of(&|stack| stack.frames[0] == thread), of(&|stack| stack.frames[0] == thread && stack.frames[1] == op));
    part as f64 / all.max(1) as f64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// A thread that sleeps most of the time does short work between two samples: what it did is told by the samples in which it ran.
    #[test]
    fn a_tenth_of_the_time_is_shown_as_a_tenth(seed in 1_u64.., busy in 20_u64..=100) {
        let (mut counted, mut random) = (Counted::default(), Random::new(seed));
        // A hundredth of a second has 100 parts, of which `busy` are work, and a tenth of them is the planted operation. The work comes at
        // any moment of it.
        for _ in 0..60 * 99 {
            let at = random.below(1000) * busy / 1000;
            let now = (random.below(100) < busy).then(|| {
                WorkUnderWay::default().with_op(if at < busy / 10 { Op::Hash } else { Op::IndexRender })
            });
            counted.see("worker", busy * 100_000, now);
        }
        let planted = (busy / 10) as f64 / busy as f64;
        let profile = Profile { seconds: 60.0, samples: 5940, stacks: counted.stacks(&nobody) };
        prop_assert_eq!(profile.nanos(), 5940 * busy * 100_000);
        // Four standard deviations of the number of samples.
        let near = 4.0 * (planted * (1.0 - planted) / (5940.0 * busy as f64 / 100.0)).sqrt();
        prop_assert!((share(&profile, "worker", "hash") - planted).abs() < near + 0.005, "{profile:?}");
    }
}

#[test]
fn the_time_of_a_thread_that_no_sample_met_is_told_without_a_guess() {
    let mut counted = Counted::default();
    counted.see("beat", 5000, None);
    counted.see("core", 3000, Some(WorkUnderWay::default()));
    let stacks = counted.stacks(&nobody);
    let frames: Vec<_> = stacks.iter().map(|stack| stack.frames.join(">")).collect();
    assert_eq!(frames, ["beat>in no sample", "core>other"]);
}

#[test]
fn class_operation_and_repository_are_told_apart_and_a_removed_repository_has_its_number() {
    let mut counted = Counted::default();
    let work = std::thread::spawn(|| {
        telemetry::works_in(Class::Downloads);
        telemetry::works_for(3);
        WorkUnderWay::here().with_op(Op::BlobOpen)
    });
    let work = work.join().unwrap();
    counted.see("core", 10, Some(work));
    let named = |number| (number == 3).then(|| "gems".to_owned());
    assert_eq!(counted.stacks(&named)[0].frames, ["core", "downloads", "blob.open", "gems"]);
    assert_eq!(counted.stacks(&nobody)[0].frames[3], "repository 3");
}

/// Runs until the thread has used the time on a processor.
fn work(nanos: u64) {
    let until = thread_nanos() + nanos;
    while thread_nanos() < until {
        std::hint::black_box((0..1000_u64).sum::<u64>());
    }
}

/// The planted operation takes a tenth of the time of its thread on a processor. The usual profile takes a second, in which some 99 samples
/// tell little: `DAYLIGHT_PROFILE_SECONDS=60` takes the one that must show 8 to 12 %.
#[expect(clippy::disallowed_methods, reason = "the long test is asked for by a variable of the environment")]
#[expect(clippy::print_stdout, reason = "the long test tells its figure")]
#[test]
fn a_planted_operation_shows_its_share() {
    let seconds = std::env::var("DAYLIGHT_PROFILE_SECONDS").ok().and_then(|seconds| seconds.parse().ok()).unwrap_or(1);
    let (ended, end) = std::sync::mpsc::channel::<()>();
    let (begun, begins) = std::sync::mpsc::channel();
    let works = std::thread::Builder::new().name("planted".to_owned()).spawn(move || {
        let mut event = Event::job("test", Millis(1));
        begun.send(()).unwrap();
        works_at(Op::IndexRender);
        while end.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
            event.time(Op::Hash, || work(1_000_000));
            work(9_000_000);
        }
    });
    // Until then it has the name of the thread that began it.
    begins.recv().unwrap();
    let (done, profile) = std::sync::mpsc::channel();
    let profiler = Profiler::default();
    profiler.take(seconds, || true, nobody, move |profile| done.send(profile).unwrap()).unwrap();
    assert!(profiler.take(1, || true, nobody, |_| ()).is_err(), "one at a time");
    let profile = profile.recv().unwrap();
    drop(ended);
    works.unwrap().join().unwrap();
    let planted = share(&profile, "planted", "hash");
    println!("{:.2} % in {:.1} s: {:?}", planted * 100.0, profile.seconds, &profile.stacks[..2]);
    let shown = if seconds >= 60 { 0.08..0.12 } else { 0.001..0.5 };
    assert!(shown.contains(&planted), "{profile:?}");
}

#[test]
fn a_profile_ends_when_nobody_waits_for_it() {
    let profiler = Profiler::default();
    let (done, profile) = std::sync::mpsc::channel();
    profiler.take(60, || false, nobody, move |profile| done.send(profile).unwrap()).unwrap();
    assert!(profile.recv().is_err());
}
