//! Lanes: requests for slow pages have slots of their own, so no quick page waits for them; a full queue is told.

use super::program::Front;
use super::rack::Rack;
use crate::world::Connection;

/// How many requests may wait for the slots of a lane.
const QUEUE: usize = 4096;

fn two_lanes(rack: &Rack) -> Front {
    let text = format!(
        "[[app]]\nname = \"shop\"\nlisten = \"127.0.0.1:0\"\nto = \"{}\"\nslots = 2\n\
         [[app.lane]]\npaths = [\"/gate/*\"]\nslots = 1\n",
        rack.url()
    );
    let room = [("DAYLIGHT_SERVER_CLIENT_SHARE_PERCENT", "100"), ("DAYLIGHT_SERVER_MAX_CONNECTIONS", "9000")];
    Front::start(&[], &text, &room)
}

#[test]
fn a_page_that_hangs_in_its_lane_stops_no_page_of_the_others() {
    let rack = Rack::unicorn(2);
    let front = two_lanes(&rack);
    let mut reports: Vec<_> = (0..10)
        .map(|number| {
            // Each is for another page, so that none is answered with another's response.
            let mut client = front.connect();
            client.send(format!("GET /gate/report?of={number} HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes()).unwrap();
            client
        })
        .collect();
    rack.folder.await_counts("/gate/report", (1, 0));
    for number in 0..50 {
        front.get(&format!("/page?bytes=10&quick={number}")).expect(200);
    }
    assert_eq!(rack.folder.counts("/gate/report"), (1, 0), "more than one report is at work");
    rack.folder.open("report");
    for client in &mut reports {
        assert_eq!(client.answer(false).unwrap().expect(200).text(), "passed");
    }
    let event = front.event(&front.get("/gate/report").expect(200));
    assert!(event.to_string().contains("/gate/*"), "the event names no lane: {event}");
}

#[test]
fn a_full_queue_is_told_with_the_time_to_try_again_and_nothing_that_waits_is_lost() {
    let rack = Rack::unicorn(2);
    let front = two_lanes(&rack);
    let ask = |target: String| {
        let mut client = front.connect();
        client.send(format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes()).unwrap();
        client
    };
    let mut waiting: Vec<Connection> = (0..=QUEUE).map(|number| ask(format!("/gate/report?of={number}"))).collect();
    // All of them have arrived once another one is refused.
    // These wait as well where the queue is not full yet, and stay.
    let mut late: Vec<Connection> = Vec::new();
    let refused = crate::world::eventually(|| {
        let mut client = ask(format!("/gate/late?of={}", late.len()));
        client.stream().set_read_timeout(Some(std::time::Duration::from_millis(200))).unwrap();
        let told = client.answer(false).map_err(|error| format!("the queue is not full: {error}"));
        late.push(client);
        told
    });
    let refused = refused.expect(503);
    let seconds: u32 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!(seconds >= 1);
    assert_eq!(front.event(&refused)["reason"], "app_busy");
    front.get("/page?bytes=10").expect(200);

    rack.folder.open("late");
    rack.folder.open("report");
    let statuses = waiting.iter_mut().map(|client| client.answer(false).unwrap().status);
    let (answered, busy): (Vec<u16>, Vec<u16>) = statuses.partition(|status| *status == 200);
    // Requests that asked whether the queue is full may have taken its last places.
    let few = late.len() - 1;
    assert!(
        answered.len() + few >= QUEUE && busy.iter().all(|status| *status == 503),
        "{} answered, then {busy:?}",
        answered.len()
    );
}
