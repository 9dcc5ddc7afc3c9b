//! Repositories as of a moment: the answers are those of that moment, whatever happened since.

mod clients;
mod gems;
mod remotes;
mod trees;

use crate::world::{Answer, World};
use flate2::read::GzDecoder;
use std::io::Read;
use std::time::{SystemTime, UNIX_EPOCH};

/// A moment of a server, in all forms that a URL can have, with the answers of that moment.
struct Then {
    names: [String; 2],
    answers: Vec<(u16, Vec<u8>)>,
}

/// Records the present answers for some paths of a repository. No later change happens within the same millisecond.
fn now(world: &World, repository: &str, paths: &[&str]) -> Then {
    let answers = paths.iter().map(|path| heard(&world.anon().file(repository, path))).collect();
    let at = millis();
    while millis() == at {
        std::thread::yield_now();
    }
    let moment = jiff::Timestamp::from_millisecond(at).unwrap();
    Then { names: [moment.to_string(), format!("seq-{}", last_change(world))], answers }
}

/// The status and the unpacked body. A compressed body can have other pieces each time.
fn heard(answer: &Answer) -> (u16, Vec<u8>) {
    let mut unpacked = Vec::new();
    match GzDecoder::new(&answer.body[..]).read_to_end(&mut unpacked) {
        Ok(_) => (answer.status, unpacked),
        Err(_) => (answer.status, answer.body.clone()),
    }
}

/// Compares the as-of answers with the recorded ones.
fn assert_still(world: &World, repository: &str, paths: &[&str], moments: &[Then]) {
    for Then { names, answers } in moments {
        for name in names {
            for (path, (status, body)) in paths.iter().zip(answers) {
                let (now, again) = heard(&world.anon().file(&format!("{repository}@{name}"), path));
                let (said, then) = (String::from_utf8_lossy(&again), String::from_utf8_lossy(body));
                assert_eq!(now, *status, "{name} {path}: {said}");
                // The message of a 404 may differ.
                assert!(again == *body || *status == 404, "{name} {path}: {said:?}, and then it was {then:?}");
            }
        }
    }
}

fn millis() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

/// The number of the last change.
pub(crate) fn last_change(world: &World) -> u64 {
    let metrics = world.anon().get("/metrics").expect(200);
    crate::accounts::sum(metrics.text(), "daylight_journal_seq")
}
