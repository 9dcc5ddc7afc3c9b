//! Following an upstream's index: the requests that the upstream receives, their times, and what clients see meanwhile.

use super::shelf::{before_with, good};
use super::stand_in::{INFO, State};
use super::{REMOTE, get};
use crate::world::{Answer, FIRST, Parts, Says, Upstream, World};
use format::gem::info::md5_hex;
use serde_json::json;

/// A server with a settable clock and a remote repository of a stand-in.
pub(super) struct Stand {
    pub(super) upstream: Upstream,
    pub(super) world: World,
}

impl Stand {
    pub(super) fn new() -> Self {
        Self::with(&[])
    }

    fn with(settings: &'static [(&'static str, &'static str)]) -> Self {
        let upstream = Upstream::start();
        Self { world: before_with(&upstream, settings, &json!({})), upstream }
    }

    pub(super) fn at(&self, time: &str) {
        self.world.set_time(&format!("2026-11-02T{time}Z"));
    }

    pub(super) fn get(&self, path: &str) -> Answer {
        get(&self.world, path)
    }
}

#[test]
fn one_look_is_made_for_all_names_that_are_missing_and_finds_the_name_that_the_upstream_lists_meanwhile() {
    let stand = Stand::new();
    State::first().on(&stand.upstream);
    stand.get("versions").expect(200);
    for path in ["info/private-1", "gems/private-1-1.0.0.gem", "info/private-2"] {
        stand.get(path).expect(404);
    }
    // The clock stands still, so the look that fetched the index was made now.
    assert_eq!(stand.upstream.total(), 1, "{:?}", stand.upstream.asked());
    stand.at("12:00:04");
    stand.get("info/private-1").expect(404);
    stand.get("info/private-2").expect(404);
    assert_eq!(stand.upstream.total(), 2, "one look for all requests within three seconds");
    let info = "---\n1.0.0 |\n";
    let versions = format!("{}shade 1.0.0 {}\n", State::first().versions, md5_hex(info.as_bytes()));
    stand.upstream.says("/versions", good(&versions).parts(Parts::Right));
    stand.upstream.says("/info/shade", good(info));
    stand.at("12:00:08");
    assert_eq!(stand.get("info/shade").expect(200).text(), info);
}

#[test]
fn an_info_that_is_behind_is_asked_for_again_after_longer_and_longer() {
    let stand = Stand::new();
    State::first().on(&stand.upstream);
    stand.get(INFO).expect(200);
    State::second().on(&stand.upstream);
    stand.upstream.says("/info/lamp", good(&State::first().info));
    stand.at("12:02:00");
    stand.get("versions").expect(200);
    let (mut asked, mut before) = (Vec::new(), stand.upstream.count("/info/lamp"));
    for second in 0..50 {
        let time = format!("12:02:{second:02}");
        stand.at(&time);
        let answer = stand.get(INFO).expect(200);
        assert_eq!(answer.text(), State::first().info, "{time}");
        assert_eq!(answer.header("daylight-stale"), Some("upstream_behind"), "{time}");
        // By this client or by the regular work, whichever comes first.
        let now = stand.upstream.count("/info/lamp");
        if now > before {
            asked.push(second);
        }
        before = now;
    }
    // At once too, by the first client, if it was not fetched ahead.
    asked.retain(|second| *second > 0);
    assert_eq!(asked, [2, 7, 17, 47]);
    stand.upstream.says("/info/lamp", good(&State::second().info));
    stand.at("12:04:00");
    let answer = stand.get(INFO).expect(200);
    assert_eq!((answer.text(), answer.header("daylight-stale")), (State::second().info.as_str(), None));
}

#[test]
fn an_md5_that_the_index_says_wrongly_is_corrected_once_and_clients_stop_asking() {
    let stand = Stand::new();
    let State { versions, info } = State::second();
    let wrong = format!("{}lamp 2.0.0 {:032x}\n", State::first().versions, 7);
    State { versions: wrong.clone(), info: info.clone() }.on(&stand.upstream);
    stand.get("versions").expect(200);
    stand.at("12:00:10");
    for _ in 0..3 {
        let answer = stand.get(INFO).expect(200);
        assert_eq!((answer.text(), answer.header("daylight-stale")), (info.as_str(), None));
    }
    assert_eq!(stand.upstream.count("/info/lamp"), 1);
    let corrected = format!("{wrong}lamp -2.0.0,2.0.0 {}\n", md5_hex(info.as_bytes()));
    assert_eq!(stand.get("versions").expect(200).text(), corrected);
    // The upstream's file grows, and is compacted with the same wrong digest. Our line stays.
    let more = format!("{wrong}oil 2.0.0 {}\n", md5_hex(b"---\n"));
    stand.upstream.says("/versions", good(&more).parts(Parts::Right));
    stand.at("12:02:00");
    let ours = format!("{corrected}oil 2.0.0 {}\n", md5_hex(b"---\n"));
    assert_eq!(stand.get("versions").expect(200).text(), ours);
    stand.upstream.says("/versions", good(&more.replace("glass", "grass")).parts(Parts::Right));
    stand.at("12:04:00");
    let after = stand.get("versions").expect(200);
    assert!(after.text().starts_with(&ours) && !after.text()[ours.len()..].contains("lamp"), "{}", after.text());
    // A restart knows it too.
    drop(versions);
    let mut stand = stand;
    stand.world.stop();
    stand.world.resume();
    stand.at("12:06:00");
    assert_eq!(stand.get("versions").expect(200).text(), after.text());
}

#[test]
fn an_upstream_that_hangs_delays_neither_the_others_nor_who_has_something_to_be_answered_with() {
    let stand = Stand::with(&[("DAYLIGHT_UPSTREAM_ANSWER_TIMEOUT_S", "600")]);
    State::first().on(&stand.upstream);
    let hanging = Upstream::start();
    State::first().on(&hanging);
    stand.world.remote_of("gem", "a-hanging", &hanging.url());
    for repository in [REMOTE, "a-hanging"] {
        stand.world.anon().get(&format!("/repository/{repository}/versions")).expect(200);
    }
    hanging.says("/versions", Says::status(200).silent());
    State::second().on(&stand.upstream);
    // Without clients, the regular work looks at both.
    let (before, other) = (hanging.count("/versions"), stand.upstream.count("/versions"));
    stand.at("12:02:00");
    hanging.await_count("/versions", before + 1);
    stand.upstream.await_count("/versions", other + 1);
    let answer = stand.world.anon().get("/repository/a-hanging/versions").expect(200);
    assert_eq!(answer.text(), State::first().versions);
    hanging.release("/versions");
}

#[test]
fn names_that_half_vanish_are_held_back_for_an_hour() {
    let scene = Stand::new();
    State::second().on(&scene.upstream);
    let all = State::second().versions;
    assert_eq!(scene.get("versions").expect(200).text(), all);
    let half: String = all
        .lines()
        .filter(|line| !line.starts_with("oil") && !line.starts_with("wick"))
        .map(|line| format!("{line}\n"))
        .collect();
    scene.upstream.says("/versions", good(&half).parts(Parts::Right));
    for time in ["12:02:00", "12:30:00", "13:01:00"] {
        scene.at(time);
        let answer = scene.get("versions").expect(200);
        assert_eq!(
            (answer.text(), answer.header("daylight-stale")),
            (all.as_str(), Some("upstream_invalid")),
            "{time}"
        );
    }
    scene.at("13:03:00");
    let after = scene.get("versions").expect(200);
    assert_eq!(after.header("daylight-stale"), None);
    let (begin, end) = after.text().split_at(all.len());
    assert_eq!(begin, all, "our file only grows");
    let gone: Vec<&str> = end.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(gone.len(), 2, "{end}");
}

#[test]
fn what_is_held_back_is_told_and_an_operator_may_accept_it() {
    let stand = Stand::new();
    let (admin, path) = (stand.world.admin(), format!("/api/v1/repositories/{REMOTE}"));
    let accept = || admin.ask("POST", &format!("{path}/accept-index"), &[], b"");
    let index = || admin.get(&path).expect(200).json()["index"].clone();
    let gauge = || {
        let metrics = stand.world.anon().get("/metrics").expect(200);
        let line = metrics.text().lines().find(|line| line.starts_with("daylight_index_held_back_names{"));
        line.map(str::to_owned)
    };
    State::second().on(&stand.upstream);
    let all = stand.get("versions").expect(200);
    let figure = |names: u64| Some(format!("daylight_index_held_back_names{{repository=\"{REMOTE}\"}} {names}"));
    assert_eq!(gauge(), figure(0));
    assert!(accept().expect(409).text().contains("is held back"));
    admin.ask("POST", &format!("/api/v1/repositories/{FIRST}/accept-index"), &[], b"").expect(400);
    // A log that follows an upstream cannot be compacted by hand.
    assert!(admin.ask("POST", &format!("{path}/compact"), &[], b"").expect(400).text().contains("must never restart"));
    let without = |names: &[&str]| -> String {
        let kept = all.text().lines().filter(|line| !names.iter().any(|name| line.starts_with(name)));
        kept.map(|line| format!("{line}\n")).collect()
    };
    let less = without(&["oil", "wick"]);
    stand.upstream.says("/versions", good(&less).parts(Parts::Right));
    stand.at("12:02:00");
    stand.get("versions").expect(200);
    let held = json!({ "names": 2, "since": "2026-11-02T12:02:00.000Z", "accepted": false });
    assert_eq!((index()["held_back"].clone(), gauge()), (held, figure(2)));
    let told = admin.get(&format!("/api/v1/explain?repository={REMOTE}&path=versions")).expect(200);
    assert!(told.text().contains("daylight repo accept-index"), "{}", told.text());

    // The upstream is down. The accepted file is used as soon as it answers, unless the file lacks even more names
    // then.
    stand.upstream.says("/versions", Says::status(500));
    assert_eq!(accept().expect(200).json()["index"]["held_back"]["accepted"], true);
    let fewer = without(&["oil", "wick", "glass"]);
    stand.upstream.says("/versions", good(&fewer).parts(Parts::Right));
    stand.at("12:10:00");
    assert_eq!(stand.get("versions").expect(200).text(), all.text());
    let held = json!({ "names": 3, "since": "2026-11-02T12:02:00.000Z", "accepted": false });
    assert_eq!(index()["held_back"], held);

    let after = accept().expect(200).json()["index"].clone();
    assert_eq!((&after["held_back"], &after["failure"]), (&json!(null), &json!(null)), "{after:#}");
    let answer = stand.get("versions").expect(200);
    assert!(answer.header("daylight-stale").is_none() && answer.text().starts_with(all.text()));
    let gone: Vec<&str> = answer.text()[all.text().len()..].lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!((gone.len(), gauge()), (3, figure(0)), "{gone:?}");
}

#[test]
fn an_index_gains_no_more_within_a_day_than_is_allowed() {
    let stand = Stand::with(&[("DAYLIGHT_UPSTREAM_FIRST_SEEN_BYTES", "65536")]);
    let mut text = State::first().versions;
    stand.upstream.says("/versions", good(&text).parts(Parts::Right));
    assert_eq!(stand.get("versions").expect(200).text(), text);
    let more = |from: u32| (from..from + 1_000).map(|n| format!("oil 1.{n} {:032x}\n", n)).collect::<String>();
    text += &more(0);
    stand.upstream.says("/versions", good(&text).parts(Parts::Right));
    stand.at("12:02:00");
    assert_eq!(stand.get("versions").expect(200).text(), text);
    let whole = text.clone() + &more(1_000);
    stand.upstream.says("/versions", good(&whole).parts(Parts::Right));
    for time in ["12:04:00", "23:59:00"] {
        stand.at(time);
        let answer = stand.get("versions").expect(200);
        assert_eq!(
            (answer.text(), answer.header("daylight-stale")),
            (text.as_str(), Some("upstream_invalid")),
            "{time}"
        );
    }
    stand.world.set_time("2026-11-03T12:03:00Z");
    let answer = stand.get("versions").expect(200);
    assert_eq!((answer.text(), answer.header("daylight-stale")), (whole.as_str(), None));
}
