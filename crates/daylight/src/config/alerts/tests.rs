//! Which receivers a file declares, and which are refused with which message.

use super::super::{Environment, Error, Machine, Settings, load};
use insight::FindingKind;
use std::io::Write;
use std::time::Duration;

const MACHINE: Machine = Machine { cores: 2, memory_bytes: 8 << 30, descriptors: 4096, disk_bytes: Some(100 << 30) };

fn read(text: &str) -> Result<Settings, Error> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    load(Some(file.path()), &Environment::default(), &[], MACHINE).map(|(settings, _)| settings)
}

/// The message from the line on, and the remedy.
fn refused(text: &str) -> (String, Option<String>) {
    let error = read(text).unwrap_err();
    let text = error.to_string();
    (text.split_once(".tmp").map_or_else(|| text.clone(), |(_, rest)| rest[6..].to_owned()), error.hint())
}

#[test]
fn each_kind_of_receiver_is_read_with_its_defaults() {
    let text = r#"
[[alerts.to]]
name = "ours"
kind = "alertmanager"
url = "http://127.0.0.1:9093/"

[[alerts.to]]
name = "night"
kind = "pagerduty"
key_env = "PAGERDUTY_KEY"
kinds = ["impact", "failure"]

[[alerts.to]]
name = "chat"
kind = "webhook"
url = "https://chat.example.org/hooks/hush?x=hush"

[[alerts.to]]
name = "here"
kind = "command"
command = ["/bin/cat", "-"]
"#;
    let all = read(text).unwrap().alerts;
    assert_eq!(all[0].url, "http://127.0.0.1:9093/api/v2/alerts");
    assert_eq!((all[0].resend, &all[0].kinds[..]), (Some(Duration::from_secs(60)), FindingKind::ALL));
    assert_eq!((all[1].url.as_str(), all[1].resend), ("https://events.pagerduty.com/v2/enqueue", None));
    assert_eq!(all[1].kinds, [FindingKind::Impact, FindingKind::Failure]);
    assert_eq!(all[3].command, ["/bin/cat", "-"]);
    let shown = format!("{:?}", all[2].written);
    assert!(shown.contains("https://chat.example.org:443/***") && !shown.contains("hush"), "{shown}");
}

#[test]
fn a_receiver_that_cannot_be_is_refused_with_its_line_and_a_remedy() {
    let of = |lines: &str| format!("\n[[alerts.to]]\nname = \"ours\"\n{lines}");
    for (text, message) in [
        ("[[alerts.to]]\nkind = \"command\"\n".to_owned(), ":1: a receiver of alerts needs `name`"),
        ("[[alerts.to]]\nname = \"../x\"\n".to_owned(), ":2: `alerts.to.name` must be small letters"),
        (of(""), ":2: a receiver of alerts needs `kind`"),
        (of("kind = \"mail\"\n"), ":4: `alerts.to.kind` must be one of `alertmanager`"),
        (of("kind = \"alertmanager\"\n"), ":2: a receiver of alerts needs `url`"),
        (of("kind = \"webhook\"\nurl = \"ftp://a\"\n"), ":5: `alerts.to.url` is no URL that can be called"),
        (of("kind = \"webhook\"\nurl = \"https://u:hush@a\"\n"), ":5: `alerts.to.url` has credentials"),
        (of("kind = \"pagerduty\"\n"), ":2: PagerDuty needs `key_env`"),
        (of("kind = \"pagerduty\"\nkey_env = \"a-b\"\n"), ":5: `alerts.to.key_env` is the name of a variable"),
        (of("kind = \"pagerduty\"\nkey_env = \"DAYLIGHT_TOKEN\"\n"), ":5: `alerts.to.key_env` is the name"),
        (of("kind = \"command\"\n"), ":2: a receiver of alerts needs `command`"),
        (of("kind = \"webhook\"\nurl = \"http://a\"\ncommand = \"x\"\n"), ":2: `command` is for receivers"),
        (of("kind = \"command\"\ncommand = \"x\"\nkey_env = \"a-b\"\n"), ":6: `alerts.to.key_env` is the name"),
        (of("kind = \"command\"\ncommand = \"x\"\nurl = \"http://a\"\n"), ":6: a command has no `url`"),
        (of("kind = \"command\"\ncommand = \"x\"\nresend_s = 5\n"), ":2: `resend_s` is for Alertmanager"),
        (of("kind = \"command\"\ncommand = \"x\"\nkinds = []\n"), ":6: `alerts.to.kinds` is empty"),
        (of("kind = \"command\"\ncommand = \"x\"\nkinds = [\"all\"]\n"), ":6: `alerts.to.kinds` must be a list"),
        (of("kid = \"command\"\n"), ":4: there is no setting or section `alerts.to.kid`"),
        ("[alerts]\nfrom = 1\n".to_owned(), ":2: there is no setting or section `alerts.from`"),
        (of("kind = \"command\"\ncommand = \"x\"\n").repeat(2), ":7: the receiver `ours` is defined already"),
        ("[alerts]\nto = 1\n".to_owned(), ":2: write `[[alerts.to]]`"),
    ] {
        let (said, hint) = refused(&text);
        assert!(said.starts_with(message), "{text}: {said}");
        assert!(hint.is_some() || said.contains("must be") || said.contains("write `[["), "{text}: {said}");
        assert!(!said.contains("hush"), "{said}");
    }
}
