//! Every event adds up: the operations on its line took no longer than the time to the first byte, and the first byte and
//! sending make up its duration. `DAYLIGHT_EVENTS` sets the number of requests; the default is 600.

mod account;
mod asker;
mod load;

use crate::pages::events;
use account::Account;
use load::Load;
use std::collections::HashSet;

#[test]
fn every_event_of_a_mixed_load_adds_up() {
    let requests: usize = std::env::var("DAYLIGHT_EVENTS").map_or(600, |text| text.parse().unwrap());
    let mut load = Load::new(requests);
    let named = load.run(requests);
    let mut accounts = Vec::new();
    let mut kept: HashSet<String> = HashSet::new();
    for world in load.worlds() {
        world.stop();
        let events = events(world);
        kept.extend(events.iter().filter_map(|event| event["id"].as_str().map(str::to_owned)));
        accounts.extend(events.iter().map(Account::of));
    }
    let lost: Vec<_> = named.iter().filter(|id| !kept.contains(*id)).collect();
    assert!(lost.is_empty(), "{} of {} events are not kept, the first {:?}", lost.len(), named.len(), lost[0]);
    account::print(&accounts);
    let classes: HashSet<&str> = accounts.iter().map(|account| account.class.as_str()).collect();
    for class in ["hit", "job fetch", "client gone", "hosted uploads", "remote downloads", "group downloads"] {
        assert!(classes.contains(class), "no event is of the class `{class}`: {classes:?}");
    }
}
