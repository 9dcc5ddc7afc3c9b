//! Bots that open updates wait until a version has some age. Through Daylight they see the dates that the source has, so they and
//! Bundler's cooldown choose the same versions here and there.
//!
//! `scripts/bots` runs Renovate itself; this file sends the requests of Renovate and Dependabot.

use crate::world::{Client, Ruby, Says, Upstream, World, hex};
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimePrinter;
use md5::Md5;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Of each format.
const PACKAGES: usize = 10;
const DAY: i64 = 86_400;
/// The cooldowns that are tried, in days.
const COOLDOWNS: [i64; 4] = [0, 3, 7, 30];

/// Versions with their dates, in seconds since the epoch.
type Dates = BTreeMap<String, i64>;

/// A source of gems and one of Maven artifacts, with four versions of each package.
struct Source {
    gems: Upstream,
    maven: Upstream,
    now: i64,
}

fn name(number: usize) -> String {
    format!("lamp{number}")
}

/// When the versions of a package were published. The youngest are up to ten days old, and none is within some hours of a whole day.
fn dates(now: i64, number: usize) -> Dates {
    let number = number as i64;
    let ages = [("1.0.0", 400 + number), ("1.1.0", 25 + number * 2), ("1.2.0", 5 + number), ("1.3.0", number)];
    ages.into_iter().map(|(version, days)| (version.to_owned(), now - days * DAY - DAY / 4)).collect()
}

fn rfc3339(seconds: i64) -> String {
    Timestamp::from_second(seconds).unwrap().to_string()
}

fn http_date(seconds: i64) -> String {
    DateTimePrinter::new().timestamp_to_rfc9110_string(&Timestamp::from_second(seconds).unwrap()).unwrap()
}

impl Source {
    fn new() -> Self {
        let (gems, maven, now) = (Upstream::start(), Upstream::start(), Timestamp::now().as_second());
        let mut versions = format!("created_at: {}\n---\n", rfc3339(now));
        for number in 0..PACKAGES {
            let (name, dates) = (name(number), dates(now, number));
            let line = |(version, at): (&String, &i64)| {
                format!("{version} |checksum:{},created_at:{}\n", hex(&Sha256::digest(version)), rfc3339(*at))
            };
            let info = format!("---\n{}", dates.iter().map(line).collect::<String>());
            let list = dates.keys().cloned().collect::<Vec<_>>();
            writeln!(versions, "{name} {} {}", list.join(","), hex(&Md5::digest(&info))).unwrap();
            gems.says(&format!("/info/{name}"), tagged(&info));
            // With fractions of a second, as the public registry has them.
            let told = |(version, at): (&String, &i64)| json!({ "number": version, "platform": "ruby", "created_at": rfc3339(*at).replace('Z', ".295Z") });
            let told: serde_json::Value = dates.iter().rev().map(told).collect();
            gems.says(&format!("/api/v1/versions/{name}.json"), Says::bytes(told.to_string()));

            let folder = format!("/org/example/{name}");
            let list: String = list.iter().map(|version| format!("<version>{version}</version>")).collect();
            let newest = rfc3339(dates["1.3.0"]).replace(['-', 'T', ':', 'Z'], "");
            maven.file(
                &format!("{folder}/maven-metadata.xml"),
                format!(
                    "<metadata><groupId>org.example</groupId><artifactId>{name}</artifactId><versioning><versions>{list}</versions>\
                     <lastUpdated>{newest}</lastUpdated></versioning></metadata>"
                ),
            );
            for (version, at) in &dates {
                let pom = Says::bytes(format!("<project><version>{version}</version></project>"));
                let pom = pom.header("Last-Modified", &http_date(*at)).header("ETag", &format!("\"{at}\""));
                maven.says(&format!("{folder}/{version}/{name}-{version}.pom"), pom);
            }
        }
        gems.says("/versions", tagged(&versions));
        Self { gems, maven, now }
    }
}

fn tagged(text: &str) -> Says {
    Says::bytes(text).header("ETag", &format!("\"{}\"", hex(&Md5::digest(text))))
}

/// What Renovate and Dependabot read of a gem.
fn told(world: &World, repository: &str, name: &str) -> Dates {
    let told = world.anon().file(repository, &format!("api/v1/versions/{name}.json")).expect(200).json();
    let date = |at: &str| at.parse::<Timestamp>().unwrap().as_second();
    let one = |one: &serde_json::Value| {
        (one["number"].as_str().unwrap().to_owned(), date(one["created_at"].as_str().unwrap()))
    };
    told.as_array().unwrap().iter().map(one).collect()
}

/// What Bundler reads of a gem.
fn listed(world: &World, repository: &str, name: &str) -> Dates {
    let info = world.anon().file(repository, &format!("info/{name}")).expect(200).text().to_owned();
    let one = |line: &str| {
        let (_, at) = line.split_once("created_at:").unwrap();
        (line.split(' ').next().unwrap().to_owned(), at.parse::<Timestamp>().unwrap().as_second())
    };
    info.lines().filter(|line| *line != "---").map(one).collect()
}

/// What a bot reads of a Maven artifact, with this method.
fn modified(world: &World, repository: &str, name: &str, method: &str) -> Dates {
    let folder = format!("org/example/{name}");
    let metadata = world.anon().file(repository, &format!("{folder}/maven-metadata.xml")).expect(200).text().to_owned();
    let versions = metadata.split("<version>").skip(1).map(|rest| rest.split('<').next().unwrap().to_owned());
    let date = |version: String| {
        let path = format!("/repository/{repository}/{folder}/{version}/{name}-{version}.pom");
        let answer = world.anon().ask(method, &path, &[], b"").expect(200);
        let at = client::moment(answer.header("last-modified").unwrap()).unwrap().seconds();
        (version, at)
    };
    versions.map(date).collect()
}

/// The versions that a bot offers after a cooldown of some days.
fn offered(dates: &Dates, now: i64, days: i64) -> Vec<&str> {
    dates.iter().filter(|(_, at)| now - **at >= days * DAY).map(|(version, _)| version.as_str()).collect()
}

fn set_time(world: &World, seconds: i64) {
    world.set_time(&rfc3339(seconds));
}

/// A server with remote repositories of the source, and a group of each, with a hosted member.
fn before(source: &Source) -> World {
    let world = World::start_in_conformance(&[]);
    set_time(&world, source.now);
    for (format, upstream) in [("gem", &source.gems), ("maven", &source.maven)] {
        let hosted = format!("our-{format}");
        world.make(&json!({ "name": hosted, "format": format, "kind": "hosted", "private": false }));
        let remote = json!({ "urls": [upstream.url()] });
        let dated = format!("dated-{format}");
        world.make(&json!({ "name": dated, "format": format, "private": false, "remote": remote }));
        world.make(&json!({ "name": format!("all-{format}"), "format": format, "members": [hosted, dated] }));
    }
    world
}

#[test]
fn bots_see_the_dates_of_the_source_and_offer_the_same_versions_of_twenty_packages() {
    let source = Source::new();
    let mut world = before(&source);
    let same = |world: &World, when: &str| {
        for number in 0..PACKAGES {
            let (name, there) = (name(number), dates(source.now, number));
            let mut seen = Vec::new();
            for repository in ["all-gem", "dated-gem"] {
                seen.extend([told(world, repository, &name), listed(world, repository, &name)]);
            }
            for repository in ["dated-maven", "all-maven"] {
                seen.extend(["HEAD", "GET"].map(|method| modified(world, repository, &name, method)));
            }
            for here in seen {
                assert_eq!(here, there, "{name}, {when}");
                for days in COOLDOWNS {
                    assert_eq!(offered(&here, source.now, days), offered(&there, source.now, days), "{name}");
                }
            }
        }
    };
    same(&world, "nothing cached");
    same(&world, "all cached");
    set_time(&world, source.now + DAY);
    same(&world, "after lists were looked at again");
    let unchanged = |upstream: &Upstream| upstream.asked().iter().filter(|asked| asked.answered == 304).count();
    assert!(unchanged(&source.maven) > 0 && unchanged(&source.gems) > 0, "the source said that nothing had changed");
    // A policy of Daylight's own hides versions, and leaves the dates of the others alone.
    for repository in ["all-gem", "all-maven"] {
        crate::policy::set(&world, repository, &json!({ "cooldown_s": 6 * DAY })).expect(200);
    }
    let oldest = dates(source.now, 3);
    let visible: Dates =
        oldest.iter().filter(|(_, at)| source.now + DAY - **at >= 6 * DAY).map(|(v, at)| (v.clone(), *at)).collect();
    assert!(visible.len() < oldest.len() && !visible.is_empty());
    assert_eq!(told(&world, "all-gem", &name(3)), visible);
    assert_eq!(listed(&world, "all-gem", &name(3)), visible);
    assert_eq!(modified(&world, "all-maven", &name(3), "HEAD"), visible);
    for repository in ["all-gem", "all-maven"] {
        crate::policy::set(&world, repository, &json!({ "cooldown_s": null })).expect(200);
    }
    world.stop();
    world.resume();
    set_time(&world, source.now + DAY);
    source.maven.unplug();
    source.gems.unplug();
    same(&world, "restarted, without the source");
}

#[test]
fn a_source_without_dates_has_those_from_which_their_age_is_counted() {
    // Dependabot fails where a version has no date, and Renovate never offers it.
    let mut shelf = crate::gem_upstream::shelf::lamp_and_oil_of_long_ago();
    let world = crate::gem_upstream::shelf::before(&shelf.upstream);
    world.make(&json!({ "name": "all", "format": "gem", "members": [crate::gem_upstream::REMOTE] }));
    let dates = |name: &str| told(&world, "all", name);
    let listed = "2026-10-02T00:00:00Z".parse::<Timestamp>().unwrap().as_second();
    assert_eq!(dates("lamp"), Dates::from([("1.0.0".to_owned(), listed)]), "it was in the list of that day");
    shelf.push(&crate::world::Gem::new("lamp", "1.1.0"));
    let noon = "2026-11-03T12:00:00Z".parse::<Timestamp>().unwrap().as_second();
    set_time(&world, noon);
    world.anon().file("all", "versions").expect(200);
    assert_eq!(dates("lamp"), Dates::from([("1.0.0".to_owned(), listed), ("1.1.0".to_owned(), noon)]));
}

#[test]
fn the_cooldown_of_bundler_chooses_the_same_versions_here_as_at_the_source() {
    let source = Source::new();
    let world = before(&source);
    let gems: String = (0..PACKAGES).map(|number| format!("gem '{}'\n", name(number))).collect();
    let locked = |url: &str, days: i64| {
        let ruby = Ruby::with(Client::Newest);
        let app = ruby.app("app", url, &gems);
        app.bundle(&["config", "set", "--local", "cooldown", &days.to_string()]).good();
        app.bundle(&["lock"]).good();
        let lock = app.lock();
        let specs = lock.lines().skip_while(|line| *line != "  specs:").skip(1).take_while(|line| !line.is_empty());
        specs.map(str::to_owned).collect::<Vec<_>>()
    };
    for days in COOLDOWNS {
        let there = locked(&source.gems.url(), days);
        let expected = (0..PACKAGES).map(|number| {
            let dates = dates(source.now, number);
            format!("    {} ({})", name(number), offered(&dates, source.now, days).last().unwrap())
        });
        assert_eq!(there, expected.collect::<Vec<_>>(), "at the source, {days} days");
        for repository in ["dated-gem", "all-gem"] {
            assert_eq!(locked(&world.url(repository), days), there, "{repository}, {days} days");
        }
    }
}
