//! A program of the machine gets alerts on its standard input, and the settings alone name it.

use super::{ID, opens, quiet, receivers};
use crate::world::{await_true, eventually};
use serde_json::{Value, json};

#[test]
fn a_command_gets_the_alerts_and_its_failure_is_shown_with_what_it_said() {
    let folder = tempfile::tempdir().unwrap();
    let (got, allowed) = (folder.path().join("got"), folder.path().join("allowed"));
    let script = format!(
        "test -e {} || {{ echo the pager has no battery >&2; exit 9; }}; env > {}.env; cat >> {}",
        allowed.display(),
        got.display(),
        got.display()
    );
    let table =
        format!("[[alerts.to]]\nname = \"here\"\nkind = \"command\"\ncommand = [\"sh\", \"-c\", '''{script}''']\n");
    let other = super::taker();
    let table =
        format!("{table}key_env = \"OWN_KEY\"\n\n{}key_env = \"OTHERS_KEY\"\n", super::webhook("other", &other));
    let world = quiet(&table, &[("OWN_KEY", "of-my-own"), ("OTHERS_KEY", "of-another"), ("PATH", "/usr/bin:/bin")]);
    opens(&world);
    await_true("the command failed", || receivers(&world)[0]["last_failure"].is_string());
    let shown = world.says("alerts").0;
    assert!(
        shown.contains("takes nothing") && shown.contains("`sh` ended with the exit code 9: the pager has no battery"),
        "{shown}"
    );
    std::fs::write(&allowed, "").unwrap();
    let message: Value = eventually(|| {
        let text = std::fs::read_to_string(&got).map_err(|error| error.to_string())?;
        serde_json::from_str(&text).map_err(|error| format!("{text}: {error}"))
    });
    assert_eq!(
        (&message["data"]["receiver"], message["data"]["alerts"].as_array().unwrap().len()),
        (&"here".into(), 2)
    );
    assert!(message.to_string().contains(ID));
    let environment = std::fs::read_to_string(folder.path().join("got.env")).unwrap();
    assert!(!environment.contains("DAYLIGHT_") && !environment.contains("of-another"), "{environment}");
    assert!(environment.contains("OWN_KEY=of-my-own\n") && environment.contains("PATH="), "{environment}");
    // No call of the API makes a receiver.
    let made = json!({ "name": "x", "kind": "command", "command": ["true"] });
    assert_eq!(world.admin().post_json("/api/v1/alerts", &made).status, 405);
}
