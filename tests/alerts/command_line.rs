//! `daylight alerts` and `daylight alerts test`.

use super::{await_told, opens, quiet, receivers, taker, webhook};
use crate::world::{Says, World, await_true};

#[test]
fn a_test_is_sent_with_its_end_and_the_exit_code_tells_whether_all_took_it() {
    let (good, bad) = (taker(), taker());
    bad.says_otherwise(Says::saying(403, "no such token".to_owned()));
    let world = quiet(&(webhook("good", &good) + &webhook("bad", &bad)), &[]);
    let (said, code) = world.says("alerts test good");
    let to = good.address();
    assert_eq!((said, code), (format!("good (webhook {to}): took the test alert and its end\n"), Some(0)));
    assert_eq!(super::told(&good), ["+test@alerts", "-test@alerts"]);
    let (said, code) = world.says("alerts test");
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains(&format!("bad (webhook {0}): failed: `{0}` answered 403: no such token\n", bad.address())),
        "{said}"
    );
    let (said, code) = world.says("alerts test god");
    assert!(code != Some(0) && said.contains("did you mean `good`?"), "{said}");
    let shown = world.says("alerts").0;
    assert!(shown.starts_with("NAME  KIND     TO ") && shown.contains("\ngood  webhook"), "{shown}");
    assert!(shown.contains("cause,failure,impact  nothing was sent yet"), "a test is no alert: {shown}");
    // Who may look may not send.
    let observer = world.person("observer", &["observe"], &[]);
    observer.get("/api/v1/alerts").expect(200);
    assert_eq!(observer.post_json("/api/v1/alerts/test", &serde_json::json!({})).status, 403);
    world.person("reader", &["read"], &[]).get("/api/v1/alerts").expect(403);
}

#[test]
fn a_test_that_arrives_ends_the_pause_of_a_receiver_and_does_not_count_as_an_alert() {
    let hook = taker();
    hook.says("/hook", Says::status(503).header("Retry-After", "3600"));
    let world = quiet(&webhook("chat", &hook), &[]);
    opens(&world);
    await_true("it fails", || receivers(&world)[0]["takes"] == false);
    hook.says("/hook", Says::status(202));
    assert_eq!(world.says("alerts test chat").1, Some(0));
    let told = await_told(&hook, 4);
    assert_eq!(told[..2], ["+test@alerts", "-test@alerts"], "{told:?}");
    await_true("two alerts are counted, and it takes them", || {
        let state = receivers(&world).remove(0);
        state["sent"] == 2 && state["takes"] == true && state["waiting"] == 0
    });
}

#[test]
fn a_test_whose_end_fails_is_ended_at_the_second_attempt() {
    let hook = taker();
    hook.says_once("/hook", Says::status(202));
    hook.says_once("/hook", Says::status(500));
    let world = quiet(&webhook("chat", &hook), &[]);
    let (said, code) = world.says("alerts test chat");
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(super::told(&hook), ["+test@alerts", "-test@alerts"]);
}

#[test]
fn without_receivers_the_command_says_so() {
    let world = World::start();
    let nobody = "nobody is told of findings: the configuration file of the server has no `[[alerts.to]]`\n";
    for line in ["alerts", "alerts test"] {
        assert_eq!(world.says(line), (nobody.to_owned(), Some(0)));
    }
}
