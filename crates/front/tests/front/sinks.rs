//! Events never delay a client.

use crate::bad_sinks::{Hangs, Panics, Refuses};
use crate::running_front::{Front, HANGS};
use front::Limits;
use std::sync::mpsc::channel;

#[test]
fn a_sink_that_hangs_refuses_or_panics_changes_no_byte_and_takes_nothing_from_the_others() {
    let (hold, held) = channel();
    let front =
        Front::start(Limits::default(), HANGS, vec![Box::new(Hangs(held)), Box::new(Refuses), Box::new(Panics)]);
    let mut client = front.client();
    for number in 0..4 {
        let answer = client.get(&format!("/{number}"));
        assert_eq!((answer.status, answer.body), (200, format!("/{number} None").into_bytes()));
        // The event is passed on while the connection continues.
        assert_eq!(front.event_in_time().path, format!("/{number}"));
    }
    let totals = front.recorder.totals();
    assert!(totals.sink("refuses").unwrap().errors > 0 && totals.sink("panics").unwrap().panics > 0);
    drop(hold);
}
