//! A member was asked a thousand times, never had anything, and requests waited for that.

use super::advice;
use crate::findings::check::{Change, Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::findings::gauge::Gauge;
use crate::findings::saves::Saves;
use crate::findings::wording;
use crate::signals::facts::RepositoryFact;
use crate::signals::members::MemberSeen;
use crate::signals::seen::Seen;
use serde_json::json;

pub(super) const CHECK: Check = Check {
    key: "member-never-decides",
    kind: FindingKind::Cause,
    about: "A member of a group never has anything, and requests wait for its answers",
    when: "it answered 1,000 times or more in a day that it lacks what was asked for, and never had anything; in five minutes requests waited \
           for it 5 s or more",
    unless: "that is less than 1 % of the time of all requests",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    let all = seen.recent.members.all();
    Verdict::Looked(all.filter_map(|(group, name, member)| problem(seen, group, name, member)).collect())
}

fn problem(seen: &Seen, group: &str, name: &str, member: &MemberSeen) -> Option<Problem> {
    let lost = advice::seconds(member.vain_nanos());
    if !advice::is_worth_telling(seen, lost) || !advice::never_decides(seen, group, name) {
        return None;
    }
    let [of, _] = advice::asked_by_file(seen, group, name)?;
    // It was taken out since it was waited for.
    if !of.leaves.iter().any(|leaf| leaf == name) {
        return None;
    }
    let day = seen.day.members.of(group, name)?;
    let (change, then) = advise(seen, of, name);
    let sentence = format!(
        "`{name}` had none of the {} files and lists that `{group}` asked it for in {}, so it has fewer than {:.1} % of such \
         names, and requests waited {} for it in {}, up to {} each. {then}",
        day.not_found,
        advice::period(seen),
        300.0 / day.not_found as f64,
        wording::seconds(lost),
        wording::length(&seen.recent),
        wording::seconds(advice::seconds(member.worst.nanos)),
    );
    Some(Problem {
        subject: format!("member:{group}/{name}"),
        lost: Lost::of([(group, lost)]),
        saves: Some(Saves::new(advice::seconds(member.vain_spared), Gauge::group(group))),
        // The rule of three.
        confidence: 0.95,
        sentence,
        changes: change.into_iter().collect(),
        evidence: json!({
            "where": [["repository", "=", group], ["slowest_member", "=", name], ["answered_by", "!=", name]],
            "by": ["answered_by", "status"],
            "measures": ["count", "sum(slowest_member_ms)", "max(slowest_member_ms)"],
        }),
        event: member.worst.event,
        guards: vec![
            Guard::passed("answers of the last day that it has nothing", day.not_found),
            Guard::passed("answers with something", day.hits),
            Guard::passed("share of the time of all requests", advice::share(seen, lost)),
        ],
    })
}

/// The change that ends the wait, and what to do.
fn advise(seen: &Seen, of: &RepositoryFact, name: &str) -> (Option<Change>, String) {
    match advice::without(of, name) {
        Some(change) if advice::has_hours(seen) => (
            Some(change),
            "Without it they wait for nothing; add `--preview` to see that no answer of the last day changes".to_owned(),
        ),
        Some(change) => (
            Some(advice::previewed(change)),
            "Without it they wait for nothing. That is a short time: wait some hours, and see which answers of the last day would change; \
             without `--preview` the members are set"
                .to_owned(),
        ),
        None => (
            None,
            match advice::holder(seen, of, name) {
                Some(holder) => format!("Take it out of `{}`, which has it as a member", holder.name),
                None => format!("It is the only member of `{}`, through which nobody gets anything then", of.name),
            },
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::staged::{found, slow, staged, with};
    use super::*;

    fn seen(not_found: u64, hits: u64, order_ms: u64, nobody_ms: u64, all_s: f64) -> Seen {
        let change = |group: &mut _| {
            let slow = slow(group);
            (slow.asked, slow.not_found, slow.hits) = (not_found + hits, not_found, hits);
            (slow.order_nanos, slow.nobody_nanos) = (order_ms * 1_000_000, nobody_ms * 1_000_000);
        };
        with(staged(), change, all_s)
    }

    fn told(not_found: u64, hits: u64, order_ms: u64, nobody_ms: u64, all_s: f64) -> Vec<Problem> {
        found(look(&seen(not_found, hits, order_ms, nobody_ms, all_s)))
    }

    /// The result if `company` has these members.
    fn told_of(members: &[&str]) -> Vec<Problem> {
        let mut seen = seen(1500, 0, 9000, 6000, 100.0);
        let facts = std::sync::Arc::get_mut(&mut seen.facts).unwrap();
        let company = facts.repositories.iter_mut().find(|fact| fact.name == "company").unwrap();
        company.members = members.iter().map(|name| (*name).to_owned()).collect();
        company.leaves.clone_from(&company.members);
        found(look(&seen))
    }

    #[test]
    fn after_a_start_the_command_shows_what_it_would_change() {
        let young = |seconds| {
            let uptime = std::time::Duration::from_secs(seconds);
            let found = found(look(&Seen { uptime, ..seen(1500, 0, 9000, 6000, 100.0) }));
            found[0].changes[0].command.clone().unwrap()
        };
        assert_eq!(young(4 * 3600 - 1), "daylight repo set company --member ours --member central --preview");
        assert_eq!(young(4 * 3600), "daylight repo set company --member ours --member central");
    }

    #[test]
    fn the_only_member_has_no_command_and_one_that_was_taken_out_is_not_told_any_more() {
        let found = told_of(&["slow"]);
        assert!(found[0].changes.is_empty() && found[0].sentence.contains("the only member of `company`"), "{found:?}");
        assert!(told_of(&["ours", "central"]).is_empty());
    }

    #[test]
    fn it_names_the_member_and_the_command_that_takes_it_out() {
        let found = told(1500, 0, 9000, 6000, 100.0);
        let [problem] = &found[..] else { panic!("{found:?}") };
        assert_eq!((&*problem.subject, problem.lost.recent_s), ("member:company/slow", 15.0));
        let command = problem.changes[0].command.as_deref();
        assert_eq!(command, Some("daylight repo set company --member ours --member central"));
        assert!(problem.sentence.contains("fewer than 0.2 % of such names"), "{}", problem.sentence);
    }

    #[test]
    fn each_guard_alone_silences_it() {
        assert_eq!(told(1000, 0, 2500, 2500, 100.0).len(), 1, "just enough");
        assert!(told(999, 0, 2500, 2500, 100.0).is_empty(), "asked too rarely");
        assert!(told(1000, 1, 2500, 2500, 100.0).is_empty(), "it had something");
        assert!(told(1000, 0, 2500, 2499, 100.0).is_empty(), "too few seconds");
        assert!(told(1000, 0, 2500, 2500, 501.0).is_empty(), "a small part of all");
    }
}
