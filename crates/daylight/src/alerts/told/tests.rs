//! Which changes a receiver is told, for sequences of looks.

use super::super::alert::tests::{alert, teller};
use super::*;
use serde_json::json;

const BEGUN: Millis = Millis(1_793_534_400_000);

fn finding(id: &str, kind: FindingKind, folds: &[&str]) -> Finding {
    let finding = json!({
        "id": id, "key": id.split('@').next(), "subject": "", "kind": kind.as_str(), "state": "open", "since": BEGUN,
        "lost_s_per_hour": 12.0, "confidence": 1.0, "sentence": "It is slow", "changes": [], "evidence": null, "event": null,
        "guards": [], "folds": folds,
    });
    serde_json::from_value(finding).unwrap()
}

fn looked(open: Vec<Finding>) -> Looked {
    Looked { open, now: BEGUN.plus(Duration::from_secs(60)), uptime: Duration::from_secs(60), ..Looked::default() }
}

/// What it is told at a look, as `+id` and `-id`.
fn told(told: &mut Told, looked: &Looked) -> Vec<String> {
    let alerts = told.unknown("pager", FindingKind::ALL, looked, &teller(""));
    told.add(&alerts);
    let sign = |alert: &Alert| if alert.ended.is_some() { '-' } else { '+' };
    alerts.iter().map(|alert| format!("{}{}", sign(alert), alert.id)).collect()
}

const CAUSE: FindingKind = FindingKind::Cause;
const IMPACT: FindingKind = FindingKind::Impact;

fn closed(id: &str, after_s: u64) -> Looked {
    let closed = [(id.to_owned(), BEGUN.plus(Duration::from_secs(after_s)))].into();
    Looked { closed, ..looked(Vec::new()) }
}

#[test]
fn each_finding_is_told_once_when_it_opens_and_once_when_it_closes() {
    let mut pager = Told::default();
    let open = looked(vec![finding("a@b", CAUSE, &[])]);
    assert_eq!(told(&mut pager, &open), ["+a@b"]);
    assert!(told(&mut pager, &open).is_empty());
    assert_eq!(told(&mut pager, &closed("a@b", 50)), ["-a@b"]);
    assert!(told(&mut pager, &closed("a@b", 50)).is_empty());
    assert_eq!(told(&mut pager, &open), ["+a@b"], "it opened again");
}

#[test]
fn a_symptom_below_a_cause_is_not_told_and_one_that_was_told_before_stays_until_it_closes() {
    let mut pager = Told::default();
    assert_eq!(told(&mut pager, &looked(vec![finding("slow@server", IMPACT, &[])])), ["+slow@server"]);
    let under = looked(vec![finding("a@b", CAUSE, &["slow@server", "other@server"])]);
    assert_eq!(told(&mut pager, &under), ["+a@b"]);
    let beside = looked(vec![finding("a@b", CAUSE, &[]), finding("slow@server", IMPACT, &[])]);
    assert!(told(&mut pager, &beside).is_empty(), "no flapping between the two");
    assert!(told(&mut pager, &under).is_empty());
    let over = Looked { closed: closed("slow@server", 50).closed, ..looked(vec![finding("a@b", CAUSE, &[])]) };
    assert_eq!(told(&mut pager, &over), ["-slow@server"]);
}

#[test]
fn a_mute_ends_the_alert_and_its_end_begins_it_again() {
    let mut pager = Told::default();
    let open = looked(vec![finding("a@b", CAUSE, &[])]);
    assert_eq!(told(&mut pager, &open), ["+a@b"]);
    let muted = Looked { muted: ["a@b".to_owned()].into(), ..looked(Vec::new()) };
    assert_eq!(told(&mut pager, &muted), ["-a@b"]);
    assert!(told(&mut pager, &muted).is_empty());
    assert_eq!(told(&mut pager, &open), ["+a@b"]);
}

#[test]
fn after_a_crash_a_finding_that_nobody_knows_is_over_only_if_it_is_not_found_again() {
    let mut pager = Told::default();
    pager.add(&[alert("a@b")]);
    assert!(told(&mut pager, &looked(Vec::new())).is_empty(), "it may be found again");
    assert!(told(&mut pager, &looked(vec![finding("a@b", CAUSE, &[])])).is_empty(), "it was");
    let before = Looked { closed: [("a@b".to_owned(), Millis(BEGUN.0 - 1))].into(), ..looked(Vec::new()) };
    assert!(told(&mut pager, &before).is_empty(), "it closed before it opened again");
    let later = Looked { uptime: UNKNOWN, ..looked(Vec::new()) };
    assert_eq!(told(&mut pager, &later), ["-a@b"]);
}

#[test]
fn other_kinds_and_the_failure_of_the_receiver_itself_are_not_told_to_it() {
    let own = finding("alerts-do-not-arrive@receiver:pager", FindingKind::Failure, &[]);
    let open = looked(vec![finding("a@b", CAUSE, &[]), finding("slow@server", IMPACT, &[]), own]);
    let mut pager = Told::default();
    let ids = |alerts: Vec<Alert>| alerts.into_iter().map(|alert| alert.id).collect::<Vec<_>>();
    assert_eq!(ids(pager.unknown("pager", &[IMPACT, FindingKind::Failure], &open, &teller(""))), ["slow@server"]);
    assert_eq!(pager.unknown("chat", FindingKind::ALL, &open, &teller("")).len(), 3);
    pager.add(&[Alert { kind: CAUSE, ..alert("a@b") }]);
    let narrower = pager.unknown("pager", &[FindingKind::Failure], &open, &teller(""));
    assert_eq!(ids(narrower), ["a@b"], "the settings have changed, and its end is told");
}

#[test]
fn a_state_is_for_the_receiver_that_it_was_written_for_and_is_read_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let file = StateFile::new(folder.path().join("alerts").join("pager.json"));
    let mut pager = Told::load(&file, "one", &Log::silent());
    pager.add(&[alert("a@b")]);
    file.write(&pager.bytes().unwrap()).unwrap();
    assert_eq!(Told::load(&file, "one", &Log::silent()), pager);
    assert_eq!(Told::load(&file, "two", &Log::silent()).open(), 0);
    file.write(b"{").unwrap();
    assert_eq!(Told::load(&file, "one", &Log::silent()).open(), 0);
}

#[test]
fn what_is_told_again_has_present_figures_and_the_same_identity() {
    let mut pager = Told::default();
    pager.add(&[Alert { since: Millis(7), ..alert("a@b") }]);
    let open = looked(vec![Finding { sentence: "It is slower".to_owned(), ..finding("a@b", CAUSE, &[]) }]);
    let again = pager.again(&open);
    assert_eq!((&*again[0].sentence, again[0].since), ("It is slower", Millis(7)));
}

#[test]
fn an_alert_whose_answer_was_lost_is_told_again_with_its_number_or_its_end_is() {
    let mut pager = Told::default();
    let open = looked(vec![finding("a@b", CAUSE, &[])]);
    let mut first = pager.unknown("pager", FindingKind::ALL, &open, &teller(""));
    assert_eq!(pager.attempt(&mut first), ["a@b"]);
    let read: Told = serde_json::from_slice(&pager.bytes().unwrap()).unwrap();
    assert_eq!((read.open(), &read), (0, &pager), "a restart knows it");
    let mut second = pager.unknown("pager", FindingKind::ALL, &open, &teller(""));
    assert!(pager.attempt(&mut second).is_empty());
    assert_eq!(first, second, "the same number");
    let muted = Looked { muted: ["a@b".to_owned()].into(), ..looked(Vec::new()) };
    assert_eq!(told(&mut pager, &muted), ["-a@b"]);
    assert!(told(&mut pager, &muted).is_empty());
    let mut anew = pager.unknown("pager", FindingKind::ALL, &open, &teller(""));
    let marked = pager.attempt(&mut anew);
    assert_ne!(anew[0].telling, first[0].telling, "it is told again");
    pager.unmark(&marked);
    assert!(told(&mut pager, &muted).is_empty(), "nothing of it was taken");
}

#[test]
fn an_alert_that_was_refused_for_good_is_neither_known_nor_told_again_until_it_is_over() {
    let mut pager = Told::default();
    let open = looked(vec![finding("a@b", CAUSE, &[])]);
    let mut alerts = pager.unknown("pager", FindingKind::ALL, &open, &teller(""));
    let marked = pager.attempt(&mut alerts);
    pager.refuse(&alerts);
    pager.unmark(&marked);
    assert!(told(&mut pager, &open).is_empty());
    assert_eq!((pager.open(), pager.refused()), (0, 1));
    let over = closed("a@b", 50);
    assert!(told(&mut pager, &over).is_empty(), "it has no end");
    pager.keep_refused(&over);
    assert_eq!(pager.refused(), 0);
    assert_eq!(told(&mut pager, &open), ["+a@b"]);
}

#[test]
fn what_all_nodes_find_alike_has_no_node_and_is_left_to_the_one_that_tells_it() {
    let open = looked(vec![finding("disk-fills@disk", CAUSE, &[]), finding("name-collisions@group:all", CAUSE, &[])]);
    let mut pager = Told::default();
    let alerts = pager.unknown("pager", FindingKind::ALL, &open, &teller("n1"));
    let nodes: Vec<_> = alerts.iter().map(|alert| (alert.id.as_str(), alert.node.as_str())).collect();
    assert_eq!(nodes, [("disk-fills@disk", "n1"), ("name-collisions@group:all", "")]);
    pager.add(&alerts);
    pager.leave_shared();
    let own = looked(vec![finding("disk-fills@disk", CAUSE, &[])]);
    assert!(told(&mut pager, &Looked { uptime: UNKNOWN, ..own }).is_empty(), "its end is not told either");
}
