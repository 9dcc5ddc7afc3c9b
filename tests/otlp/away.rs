//! A receiver that is away, hangs, refuses or breaks off: requests are served, losses are counted, and the log says it once.

use super::receiver::{Does, Receiver};
use super::{requests, world};
use crate::metrics::Samples;
use crate::world::{World, eventually, free_port};

const GONE: &str = "the OpenTelemetry receiver did not take a request";
const BACK: &str = "the OpenTelemetry receiver takes all requests again";

fn figure(world: &World, name: &str, signal: &str) -> f64 {
    let page = world.anon().get("/metrics").expect(200);
    Samples::of(page.text()).find(&format!("daylight_otlp_{name}_total{{signal=\"{signal}\"}}")).unwrap_or(0.0)
}

#[track_caller]
fn await_figure(world: &World, name: &str, signal: &str, least: f64) {
    eventually(|| {
        let figure = figure(world, name, signal);
        if figure >= least { Ok(()) } else { Err(format!("{name} of {signal}: {figure}, not {least}")) }
    });
}

fn lines(world: &World, text: &str) -> usize {
    world.log().lines().filter(|line| line.contains(text)).count()
}

#[test]
fn requests_are_served_while_the_receiver_is_away_and_spans_arrive_once_it_is_back() {
    let port = free_port();
    let mut world = world(&format!("http://127.0.0.1:{port}"));
    requests(&world);
    await_figure(&world, "failures", "spans", 1.0);
    await_figure(&world, "failures", "metrics", 1.0);
    requests_again(&world);
    assert_eq!((lines(&world, GONE), lines(&world, BACK)), (1, 0), "{}", world.log());
    let receiver = Receiver::at(port, Does::Takes);
    receiver.told_until(|told| {
        let count: u64 = told.by_repository_and_status().values().map(|(count, _)| count).sum();
        if count == 50 { Ok(()) } else { Err(format!("{count} spans")) }
    });
    world.await_log(BACK);
    // A stop does not wait for one that is away again.
    drop(receiver);
    requests_again(&world);
    world.stop();
}

fn requests_again(world: &World) {
    (0..5).for_each(|_| drop(world.anon().file("maven-releases", "org/example/lamp/1.0/lamp-1.0.jar").expect(200)));
}

#[test]
fn a_receiver_that_asks_for_a_pause_gets_one_and_then_all_spans() {
    let receiver = Receiver::start(Does::Refuses(429, Some(1)));
    let world = world(&receiver.url());
    requests(&world);
    receiver.await_more("/v1/traces", 1);
    await_figure(&world, "failures", "spans", 1.0);
    requests_again(&world);
    receiver.does(Does::Takes);
    receiver.told_until(|told| {
        let count: u64 = told.by_repository_and_status().values().map(|(count, _)| count).sum();
        if count == 50 { Ok(()) } else { Err(format!("{count} spans")) }
    });
    world.await_log(BACK);
    assert_eq!((lines(&world, GONE), lines(&world, BACK)), (1, 1), "{}", world.log());
    assert_eq!(figure(&world, "rejected", "spans"), 0.0);
}

#[test]
fn spans_that_are_refused_are_counted_and_never_sent_again() {
    let receiver = Receiver::start(Does::Refuses(500, None));
    let world = world(&receiver.url());
    requests(&world);
    await_figure(&world, "rejected", "spans", 45.0);
    receiver.does(Does::Rejects(2));
    requests_again(&world);
    await_figure(&world, "rejected", "spans", 47.0);
    await_figure(&world, "taken", "spans", 3.0);
    let (told, refused) = (receiver.told(), receiver.refused());
    let again = told.spans.iter().find(|span| refused.spans.iter().any(|other| other.span_id == span.span_id));
    assert!(again.is_none() && !refused.spans.is_empty(), "{again:?}");
}

#[test]
fn an_answer_that_breaks_off_or_never_comes_harms_no_request_and_the_same_spans_are_sent_again() {
    let receiver = Receiver::start(Does::Hangs);
    let world = world(&receiver.url());
    requests(&world);
    receiver.await_more("/v1/traces", 1);
    requests_again(&world);
    receiver.does(Does::BreaksOff);
    receiver.await_more("/v1/traces", 1);
    receiver.does(Does::Takes);
    receiver.told_until(|told| {
        let count: u64 = told.by_repository_and_status().values().map(|(count, _)| count).sum();
        if count == 50 { Ok(()) } else { Err(format!("{count} spans")) }
    });
    assert_eq!(figure(&world, "dropped", "spans"), 0.0);
}
