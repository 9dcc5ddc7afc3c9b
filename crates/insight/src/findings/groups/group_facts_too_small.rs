//! There is no space for the facts about upstreams, so groups ask members again for folders about which they had answered.

use super::advice;
use crate::findings::check::{Change, Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::findings::gauge::Gauge;
use crate::findings::saves::Saves;
use crate::findings::wording;
use crate::signals::bounds::BoundSeen;
use crate::signals::members::MemberSeen;
use crate::signals::seen::Seen;
use crate::signals::worst::Worst;
use serde_json::json;
use telemetry::BoundName;

/// The share of its capacity from which on facts are evicted.
const FULL_PERCENT: u64 = 90;
/// The fewest calls in five minutes.
const CALLS_MIN: u64 = 100;
/// The least share of the calls that were made before.
const REPEATED_MIN: f64 = 0.3;
/// The setting.
const SETTING: &str = "store.facts_bytes";

pub(super) const CHECK: Check = Check {
    key: "group-facts-too-small",
    kind: FindingKind::Cause,
    about: "Facts about the folders of upstreams are evicted, so groups ask members again that lack them",
    when: "`store.facts_bytes` is used to 90 %, and in five minutes 30 % or more of 100 calls or more were for a folder that was asked \
           for before; requests waited for that 5 s or more",
    unless: "that is less than 1 % of the time of all requests",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

/// Whether facts are evicted.
pub(super) fn is_full(facts: &BoundSeen) -> bool {
    facts.capacity > 0 && facts.used_max * 100 >= facts.capacity * FULL_PERCENT
}

/// The calls of a member for files that another one had, and for folders the number of different ones.
fn calls(member: &MemberSeen) -> (u64, u64) {
    let prefixes = member.prefixes.list.iter();
    prefixes.fold((0, 0), |(calls, folders), (_, seen)| (calls + seen.others, folders + seen.others_folders.count()))
}

/// The share of its calls that were for a folder that was asked for before.
pub(super) fn repeated(member: &MemberSeen) -> f64 {
    let (calls, folders) = calls(member);
    if calls == 0 { 0.0 } else { (1.0 - folders as f64 / calls as f64).max(0.0) }
}

fn look(seen: &Seen) -> Verdict {
    let Some(facts) = seen.recent.bounds.of(BoundName::Facts, "").filter(|facts| is_full(facts)) else {
        return Verdict::QUIET;
    };
    let (mut made, mut again, mut folders, mut spared, mut worst) = (0, 0.0, 0, 0.0, Worst::default());
    let mut lost = Vec::new();
    for (group, name, member) in seen.recent.members.all() {
        let Some(_) = advice::asked_by_file(seen, group, name) else { continue };
        let (calls, different) = calls(member);
        (made, again) = (made + calls, again + calls as f64 * repeated(member));
        folders = folders.max(different);
        lost.push((group, advice::seconds(member.order_nanos) * repeated(member)));
        spared += advice::seconds(member.order_spared) * repeated(member);
        worst.add(&member.worst_order);
    }
    let lost_s: f64 = lost.iter().map(|(_, seconds)| seconds).sum();
    let share = again / f64::max(made as f64, 1.0);
    if made < CALLS_MIN || share < REPEATED_MIN || !advice::is_worth_telling(seen, lost_s) {
        return Verdict::QUIET;
    }
    // All folders of these minutes were asked for within them, and did not fit. Each of their facts takes about as much as those kept.
    let to = facts.capacity.saturating_mul(4).max(folders * 1024).next_power_of_two();
    let sentence = format!(
        "facts about upstreams have {} bytes and use them up, so groups asked members again for folders about which they had answered: \
         {} of {made} calls in {}, for which requests waited {}. With {to} bytes the facts of these folders stay",
        facts.capacity,
        wording::percent(share),
        wording::length(&seen.recent),
        wording::seconds(lost_s),
    );
    Verdict::Looked(vec![Problem {
        subject: "bound:facts".to_owned(),
        lost: Lost::of(lost.iter().copied()),
        saves: Some(Saves::new(spared, Gauge::Groups)),
        confidence: 0.9,
        sentence,
        changes: Change::of_setting(seen, SETTING, to).into_iter().collect(),
        evidence: json!({
            "where": [["layer", "=", "group"], ["members", ">", 1]],
            "by": ["repository"],
            "measures": ["count", "distinct(package)", "sum(slowest_member_ms)"],
        }),
        event: worst.event,
        guards: vec![
            Guard::passed("bytes used", facts.used_max),
            Guard::passed("calls that were made before, of all", share),
            Guard::passed("share of the time of all requests", advice::share(seen, lost_s)),
        ],
    }])
}

#[cfg(test)]
mod tests {
    use super::super::staged::{found, slow, staged, with};
    use super::*;
    use crate::signals::facts::SettingFact;
    use crate::signals::members::GroupSeen;
    use crate::signals::prefixes::PrefixSeen;

    fn told(calls: u64, folders: u64, used: u64, s: u64, all_s: f64) -> Vec<Problem> {
        let change = |group: &mut GroupSeen| {
            let mut prefix = PrefixSeen { others: calls, ..PrefixSeen::default() };
            (0..folders).for_each(|n| prefix.others_folders.add(&format!("org/example/{n}")));
            let slow = slow(group);
            slow.prefixes.list.push(("org.example".into(), prefix));
            slow.order_nanos = s * 1_000_000_000;
        };
        let mut seen = staged();
        let setting = SettingFact { key: SETTING.to_owned(), number: Some(65_536), ..SettingFact::default() };
        std::sync::Arc::get_mut(&mut seen.facts).unwrap().settings.push(setting);
        let mut seen = with(seen, change, all_s);
        let bound = BoundSeen { capacity: 65_536, used_max: used, ..BoundSeen::default() };
        seen.recent.bounds.0.insert((BoundName::Facts, "".into()), bound);
        found(look(&seen))
    }

    #[test]
    fn it_names_the_setting_and_a_value_for_the_folders() {
        let found = told(900, 300, 64_000, 30, 100.0);
        let [problem] = &found[..] else { panic!("{found:?}") };
        assert_eq!(problem.changes[0].setting.as_deref(), Some("store.facts_bytes"));
        assert!(problem.changes[0].to.as_ref().unwrap().as_u64().unwrap() >= 300 * 512);
        assert!((problem.lost.recent_s - 20.0).abs() < 2.0, "{}", problem.lost.recent_s);
    }

    #[test]
    fn each_guard_alone_silences_it() {
        assert_eq!(told(100, 50, 60_000, 20, 100.0).len(), 1, "just enough");
        assert!(told(99, 50, 60_000, 20, 100.0).is_empty(), "too few calls");
        assert!(told(100, 90, 60_000, 90, 100.0).is_empty(), "too few again");
        assert!(told(100, 50, 50_000, 20, 100.0).is_empty(), "there is space");
        assert!(told(100, 50, 60_000, 8, 100.0).is_empty(), "too few seconds");
        assert!(told(100, 50, 60_000, 20, 2000.0).is_empty(), "a small part of all");
    }
}
