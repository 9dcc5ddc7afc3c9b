//! A client that downloads the same files again at each build, because nothing is kept there between builds.

use super::super::check::{Change, Check, FindingKind, Guard, Lost, Problem, Verdict};
use super::{FLOOR_S, agent, bytes, confidence};
use crate::signals::clients::client::ClientSeen;
use crate::signals::clients::path_sample::PathSeen;
use crate::signals::seen::Seen;
use serde_json::json;

/// The paths of its sample of files, at least.
const PATHS: usize = 8;
/// How often each was downloaded, at least.
const TIMES: u64 = 3;
/// The share of the sampled files for which that holds, at least.
const SHARE: f64 = 0.8;
/// Downloads that a warm cache would have saved, at least.
const AGAIN: f64 = 100.0;
/// The bytes of these, at least, unless they took [`FLOOR_S`].
const AGAIN_BYTES: f64 = 10e6;
/// The share of the repeated downloads that came soon after the ones before, at most: these are no builds.
const SOON: f64 = 0.2;

pub(super) const CHECK: Check = Check {
    key: "cold-cache-at-each-build",
    kind: FindingKind::Cause,
    about: "A client downloads the same files again at each build",
    when: "at least 80 % of the files that it downloaded in an hour or a day were downloaded three times or more, each about as often as the \
           others and with the same size, which makes at least 100 downloads in vain, of 10 MB or 5 s",
    unless: "they are asked for again within two seconds, or some files are asked for far more often than others, as people do who share an address",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    let of = |client: &ClientSeen, hours: f64| problem(seen, client, hours);
    let hours = |window: &crate::signals::window::Window| (window.seconds() / 3600.0).max(1.0);
    let (hour, day) = (hours(&seen.hour), hours(&seen.day));
    let mut problems: Vec<Problem> = seen.hour.clients.iter().filter_map(|client| of(client, hour)).collect();
    // Builds may be hours apart.
    let rare: Vec<Problem> = seen.day.clients.iter().filter_map(|client| of(client, day)).collect();
    let is_known = |problem: &Problem| problems.iter().any(|known| known.subject == problem.subject);
    let rare: Vec<Problem> = rare.into_iter().filter(|problem| !is_known(problem)).collect();
    problems.extend(rare);
    Verdict::Looked(problems)
}

fn problem(seen: &Seen, client: &ClientSeen, hours: f64) -> Option<Problem> {
    if (client.downloads.count as f64) < AGAIN {
        return None;
    }
    let paths = client.files.paths();
    let again = paths.iter().filter(|path| is_again(path)).count() as f64;
    if paths.len() < PATHS || again < SHARE * paths.len() as f64 {
        return None;
    }
    let mut counts: Vec<u64> = paths.iter().map(|path| path.count).collect();
    counts.sort_unstable();
    let builds = counts[counts.len() / 2];
    // A build asks for each file once. People ask for some files often and for most of them rarely.
    let alike = counts.iter().filter(|count| **count * 2 >= builds && **count <= builds * 2).count();
    if (alike as f64) < SHARE * counts.len() as f64 {
        return None;
    }
    let sum = |part: fn(&PathSeen) -> u64| paths.iter().map(part).sum::<u64>() as f64;
    // What a warm cache would have saved of the sample holds for all files.
    let share = 1.0 - paths.len() as f64 / sum(|path| path.count);
    let downloads = client.downloads.count as f64 * share;
    if downloads < AGAIN {
        return None;
    }
    let seconds = client.downloads.nanos as f64 / 1e9 * share;
    let saved = client.downloads.bytes as f64 * share;
    let again_in_sample = (sum(|path| path.count) - paths.len() as f64).max(1.0);
    if (saved < AGAIN_BYTES && seconds < FLOOR_S) || sum(|path| path.soon) > SOON * again_in_sample {
        return None;
    }
    let (keep, command) = advice(&client.agent);
    let sentence = format!(
        "{} ({}) downloaded about {:.0} files {builds} times each: {downloads:.0} downloads, {} and {seconds:.1} s of the server were in vain; \
         keep {keep} between its builds",
        client.name(),
        agent(client),
        client.downloads.count as f64 * (1.0 - share),
        bytes(saved),
    );
    let filter = client.filter();
    Some(Problem {
        subject: client.subject(),
        lost: Lost { recent_s: seconds / hours / 12.0, ..Lost::hourly(seconds / hours) },
        confidence: confidence(seen),
        sentence,
        changes: command.map(|command| Change::by_command(command.to_owned())).into_iter().collect(),
        evidence: json!({
            "where": [filter[0], filter[1], ["status", "=", 200]], "by": ["path"], "measures": ["count", "sum(bytes_out)"], "limit": 20,
        }),
        event: client.files.worst.event,
        guards: vec![
            Guard::passed("sampled files that were downloaded again", again),
            Guard::passed("files that were downloaded about as often as the others", alike as u64),
        ],
        ..Problem::default()
    })
}

fn is_again(path: &PathSeen) -> bool {
    // A file of another size is another file.
    path.count >= TIMES && path.same * 10 >= (path.count - 1) * 9
}

/// What to keep between builds, and a command that puts it into a folder to be kept.
fn advice(agent: &str) -> (&'static str, Option<&'static str>) {
    let advice: [(&str, &str, &str); 3] = [
        ("Apache-Maven/", "`~/.m2/repository`", "mvn -Dmaven.repo.local=.m2/repository package"),
        ("bundler/", "`vendor/bundle`", "bundle config set --local path vendor/bundle"),
        ("Gradle/", "`~/.gradle/caches`", "gradle --gradle-user-home .gradle-home build"),
    ];
    let of = advice.into_iter().find(|(client, ..)| agent.starts_with(client));
    of.map_or(("the cache of its client", None), |(_, keep, command)| (keep, Some(command)))
}
