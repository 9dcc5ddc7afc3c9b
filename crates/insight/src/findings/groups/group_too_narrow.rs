//! A group has more members than it asks at once, so some wait for others.

use super::advice;
use crate::findings::check::{Change, Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::findings::gauge::Gauge;
use crate::findings::saves::{Saves, waits_left};
use crate::findings::wording;
use crate::signals::members::GroupSeen;
use crate::signals::seen::Seen;
use serde_json::json;

/// The setting.
const SETTING: &str = "upstream.max_concurrent";

pub(super) const CHECK: Check = Check {
    key: "group-too-narrow",
    kind: FindingKind::Cause,
    about: "A group asks its members in turns, because it has more of them than it asks at once",
    when: "its requests ask more members than `upstream.max_concurrent`, and in five minutes 5 s or more were spent beyond the slowest member",
    unless: "that is less than 1 % of the time of all requests",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    let groups = seen.recent.members.groups.iter();
    Verdict::Looked(groups.filter_map(|(name, group)| problem(seen, name, group)).collect())
}

fn problem(seen: &Seen, name: &str, group: &GroupSeen) -> Option<Problem> {
    let width = seen.facts.setting(SETTING)?.number?;
    let lost = advice::seconds(group.serial_nanos);
    if group.wide_asked <= width * group.wide || !advice::is_worth_telling(seen, lost) {
        return None;
    }
    let never: Vec<&str> =
        group.members.iter().map(|(of, _)| &**of).filter(|of| advice::never_decides(seen, name, of)).collect();
    let fewer = match never.as_slice() {
        [] => String::new(),
        never => format!(". {} of its members never have anything", never.len()),
    };
    let sentence = format!(
        "`{name}` asks {} members for one answer, {width} at a time, so some wait for others: requests waited {} in {} beyond \
         the slowest member. If {} are asked at once, nobody waits{fewer}",
        group.asked_most,
        wording::seconds(lost),
        wording::length(&seen.recent),
        group.asked_most,
    );
    // Members that are asked in turns wait for those before them, as calls wait for places.
    let asked = group.wide_asked as f64 / group.wide.max(1) as f64;
    let saved = |at_once: f64| lost * (1.0 - waits_left(asked, width as f64, at_once));
    let to = group.asked_most;
    let saves = Saves::new(saved(to as f64), Gauge::Wide(name.to_owned())).at_values(width, to, saved);
    Some(Problem {
        subject: format!("group:{name}"),
        lost: Lost::of([(name, lost)]),
        saves: Some(saves),
        confidence: 0.9,
        sentence,
        changes: Change::of_setting(seen, SETTING, group.asked_most).into_iter().collect(),
        evidence: json!({
            "where": [["repository", "=", name], ["members", ">", width]],
            "by": ["file"],
            "measures": ["count", "max(members)", "sum(members_ask_ms)", "sum(slowest_member_ms)"],
        }),
        event: group.worst_serial.event,
        guards: vec![
            Guard::passed("members asked for one answer", group.wide_asked / group.wide.max(1)),
            Guard::passed("share of the time of all requests", advice::share(seen, lost)),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::super::staged::{found, staged, with};
    use super::*;
    use crate::signals::facts::SettingFact;

    fn told(asked: u64, ms: u64, all_s: f64) -> Vec<Problem> {
        let mut seen = staged();
        let setting =
            SettingFact { key: SETTING.to_owned(), number: Some(8), limits: Some((1, 256)), ..SettingFact::default() };
        std::sync::Arc::get_mut(&mut seen.facts).unwrap().settings.push(setting);
        let change = |group: &mut GroupSeen| {
            (group.asked_most, group.wide, group.wide_asked) = (asked, 3, 3 * asked);
            group.serial_nanos = ms * 1_000_000;
        };
        found(look(&with(seen, change, all_s)))
    }

    #[test]
    fn it_names_the_group_and_the_width_for_all_its_members() {
        let found = told(64, 7500, 100.0);
        let [problem] = &found[..] else { panic!("{found:?}") };
        let change = &problem.changes[0];
        assert_eq!((&*problem.subject, problem.lost.recent_s), ("group:company", 7.5));
        assert_eq!((change.setting.as_deref(), &change.to), (Some("upstream.max_concurrent"), &Some(64.into())));
        assert_eq!(told(300, 7500, 100.0)[0].changes[0].to, Some(256.into()), "the limit of the setting");
    }

    #[test]
    fn each_guard_alone_silences_it() {
        assert_eq!(told(9, 5000, 100.0).len(), 1, "just enough");
        assert!(told(8, 5000, 100.0).is_empty(), "all at once");
        assert!(told(9, 4999, 100.0).is_empty(), "too few seconds");
        assert!(told(9, 5000, 501.0).is_empty(), "a small part of all");
    }
}
