//! The header `Server-Timing`: for whom the setting says, and never on an answer from the cache of complete answers.

use crate::world::{Answer, FIRST, Person, World};

fn timing(answer: &Answer) -> Option<&str> {
    answer.header("server-timing")
}

/// The answer to a request that no page answers, and that of the page which it may have left.
fn answers(caller: &Person) -> [Answer; 2] {
    let path = format!("/repository/{FIRST}/names");
    // No page answers a request with a body.
    let made = caller.ask("GET", &path, &[], b"x").expect(200);
    caller.get(&path).expect(200);
    [made, caller.get(&path).expect(200)]
}

#[test]
fn nobody_gets_the_times_unless_the_setting_says_so() {
    let world = World::start();
    for caller in [world.admin(), world.anon()] {
        assert!(answers(&caller).iter().all(|answer| timing(answer).is_none()));
    }
}

#[test]
fn everybody_gets_the_times_of_answers_that_are_no_pages() {
    let world = World::start_with(&[("DAYLIGHT_TELEMETRY_SERVER_TIMING", "on")]);
    let [made, page] = answers(&world.anon());
    let told: Vec<(&str, f64)> = timing(&made)
        .unwrap()
        .split(", ")
        .map(|metric| metric.split_once(";dur=").unwrap())
        .map(|(name, millis)| (name, millis.parse().unwrap()))
        .collect();
    let (last, ops) = told.split_last().unwrap();
    assert_eq!(last.0, "total");
    assert!((1..=5).contains(&ops.len()) && ops.is_sorted_by(|one, next| one.1 >= next.1), "{told:?}");
    let event = world.event(made.header("daylight-event").unwrap());
    for (name, millis) in ops {
        assert_eq!(event["ops"][name]["ms"].as_f64(), Some(*millis), "{event}");
    }
    assert!(ops.iter().map(|(_, millis)| millis).sum::<f64>() <= last.1 + 0.01, "{told:?}");
    assert_eq!(timing(&page), None, "a page is for all clients");
    let refused = world.anon().get("/repository/nowhere/x").expect(404);
    assert!(timing(&refused).is_some());
}

#[test]
fn only_those_who_may_observe_get_the_times_and_no_cache_on_the_way_keeps_them() {
    let world = World::start_with(&[("DAYLIGHT_TELEMETRY_SERVER_TIMING", "observe")]);
    let reader = world.person("reader", &["read"], &[]);
    for caller in [world.anon(), reader, world.holder("daylight_0123456789abcdefghijklmnop")] {
        assert_eq!(timing(&caller.ask("GET", &format!("/repository/{FIRST}/names"), &[], b"x")), None);
    }
    for caller in [world.admin(), world.person("observer", &["observe"], &[])] {
        let [made, page] = answers(&caller);
        assert!(timing(&made).is_some_and(|told| told.contains("total;dur=")));
        assert_eq!(made.header("cache-control"), Some("private, no-store"));
        assert_eq!(timing(&page), None);
    }
}
