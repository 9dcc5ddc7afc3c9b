//! `daylight front -- COMMAND`: the command gets its port, hears the signals, and gives its exit code.

use super::program::Front;
use super::rack::Folder;
use crate::world::{TIMEOUT, await_true, eventually, program};
use rustix::process::Signal;
use std::io::Read as _;
use std::process::Stdio;

/// Puma on the port that it was given.
pub(super) const PUMA: [&str; 3] =
    ["sh", "-c", "cd \"$APP_FOLDER\" && exec puma -q -e none -t 4:4 -b tcp://127.0.0.1:$PORT app.ru"];

/// A front that runs Puma, and its folder.
pub(super) fn puma() -> (Front, Folder) {
    let folder = Folder::new();
    let variables = folder.variables();
    let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, &**value)).collect();
    (Front::running(&PUMA, &variables), folder)
}

#[test]
fn a_command_gets_its_port_and_the_first_request_waits_until_it_listens() {
    let (front, _folder) = puma();
    assert_eq!(front.get("/page?bytes=5").expect(200).text(), "xxxxx");
    front.signal(Signal::TERM);
    // Puma ends by the signal that it was sent, after its last request.
    assert_eq!(front.into_server().exit_code(), Some(143));
}

#[test]
fn a_command_that_ends_by_itself_ends_the_front_with_its_exit_code() {
    for (command, code) in [("exit 7", Some(7)), ("exit 0", Some(0)), ("kill -9 $$", Some(137))] {
        let data = tempfile::tempdir().unwrap();
        let mut front = program(&["front", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--data"]);
        front.arg(data.path()).args(["--", "sh", "-c", command]).env("PATH", "/usr/bin:/bin");
        let ended = front.output().unwrap();
        assert_eq!(ended.status.code(), code, "{command}: {}", String::from_utf8_lossy(&ended.stderr));
    }
}

#[test]
fn a_command_that_does_not_exist_is_told_by_name() {
    let data = tempfile::tempdir().unwrap();
    let mut front = program(&["front", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--data"]);
    let ended = front.arg(data.path()).args(["--", "no-such-program"]).env("PATH", "/usr/bin").output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(!ended.status.success() && said.contains("no-such-program") && said.contains("hint: "), "{said}");
}

/// Notes each signal in a file, and ends at the last one.
const NOTES: &str = "trap 'echo HUP >> \"$NOTES\"' HUP; trap 'echo USR1 >> \"$NOTES\"' USR1; trap 'echo INT >> \"$NOTES\"' INT; \
                     trap 'echo TERM >> \"$NOTES\"; exit 3' TERM; echo ready >> \"$NOTES\"; while :; do sleep 0.02; done";

#[test]
fn signals_reach_the_command_and_its_exit_code_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let notes = folder.path().join("notes");
    let variables = [("PATH", "/usr/bin:/bin"), ("NOTES", notes.to_str().unwrap())];
    let front = Front::running(&["sh", "-c", NOTES], &variables);
    let noted = |word: &str| std::fs::read_to_string(&notes).unwrap_or_default().lines().any(|line| line == word);
    await_true("the command is ready", || noted("ready"));
    for (signal, word) in [(Signal::HUP, "HUP"), (Signal::USR1, "USR1"), (Signal::TERM, "TERM")] {
        front.signal(signal);
        await_true(word, || noted(word));
    }
    assert_eq!(front.into_server().exit_code(), Some(3));
}

#[test]
fn several_backends_answer_and_one_that_is_gone_is_left_out() {
    let (first, second) = (super::rack::Rack::puma(1), super::rack::Rack::puma(1));
    let front = Front::to(&[&first.url(), &second.url()]);
    let begun = |rack: &super::rack::Rack| rack.folder.counts("/page").0;
    eventually(|| {
        front.get("/page?bytes=1").expect(200);
        if begun(&first) > 0 && begun(&second) > 0 { Ok(()) } else { Err("one backend gets nothing".to_owned()) }
    });
    let left = begun(&second);
    drop(first);
    for _ in 0..20 {
        front.get("/page?bytes=1").expect(200);
    }
    assert_eq!(begun(&second), left + 20);
}

#[test]
fn a_front_without_a_backend_or_with_two_sources_of_them_says_how_it_is_used() {
    let data = tempfile::tempdir().unwrap();
    let both = ["--to", "http://127.0.0.1:1", "--", "sleep", "60"];
    for arguments in [&[][..], &both] {
        let mut front = program(&["front", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--data"]);
        let mut child = front
            .arg(data.path())
            .args(arguments)
            .env("PATH", "/usr/bin:/bin")
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        let code = child.wait().unwrap().code();
        assert!(code == Some(2) && said.contains("--to"), "{arguments:?}: {code:?} {said} (within {TIMEOUT:?})");
    }
}
