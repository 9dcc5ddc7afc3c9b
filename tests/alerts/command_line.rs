//! `daylight alerts` and `daylight alerts test`.

use super::{quiet, taker, webhook};
use crate::world::{Says, World};

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
fn without_receivers_the_command_says_so() {
    let world = World::start();
    let nobody = "nobody is told of findings: the configuration file of the server has no `[[alerts.to]]`\n";
    for line in ["alerts", "alerts test"] {
        assert_eq!(world.says(line), (nobody.to_owned(), Some(0)));
    }
}
