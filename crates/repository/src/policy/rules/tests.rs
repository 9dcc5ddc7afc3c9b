//! What policies hide and allow.

use super::*;
use store::RepositoryKind;

const DAY: i64 = 86_400_000;

fn rules(name: &str, policy: PolicyRecord) -> Rules {
    let mut record = RepositoryRecord::new(name, "maven", RepositoryKind::Hosted, Millis(0));
    record.policy = Some(Box::new(policy));
    Rules::of(&record, Format::named("maven").unwrap())
}

fn view(rules: &Rules, now: i64) -> View<'_> {
    View { as_of: None, exceptions_by: None, now: Millis(now), rules }
}

/// `org.example:lamp:1.0`, of day 10.
fn lamp() -> PackageVersion<'static> {
    PackageVersion::maven("org/example", "lamp", "1.0", Since::Moment(Millis(10 * DAY)))
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn exception(until: Option<i64>) -> ExceptionRecord {
    let (package, why, who) = ("org.example:lamp:1.0".into(), "urgent".into(), "ops".into());
    ExceptionRecord { package, why, who, made: Millis(0), since: None, until: until.map(Millis) }
}

#[test]
fn what_is_denied_is_hidden_whatever_allows_it_and_so_is_what_is_not_allowed() {
    let hides = |allow: &[&str], deny: &[&str]| {
        let policy = PolicyRecord { allow: texts(allow), deny: texts(deny), ..PolicyRecord::default() };
        let rules = rules("maven", policy);
        rules.hides(&lamp(), view(&rules, 0)).map(|hidden| hidden.why)
    };
    assert_eq!(hides(&[], &[]), None);
    assert_eq!(hides(&["org.example.*"], &[]), Some(Why::NotAllowed));
    assert_eq!(hides(&["a", "org.*"], &[]), None);
    assert_eq!(hides(&["org.*"], &["*:lamp:1.*"]), Some(Why::Denied("*:lamp:1.*".into())));
}

#[test]
fn what_is_young_is_hidden_until_it_is_old_enough() {
    let rules = rules("maven", PolicyRecord { cooldown_s: Some(7 * 86_400), ..PolicyRecord::default() });
    let at = |what: PackageVersion<'_>, now| {
        (rules.hides(&what, view(&rules, now)).is_some(), rules.next_change(&what, view(&rules, now)))
    };
    assert_eq!(at(lamp(), 10 * DAY), (true, Some(Millis(17 * DAY))));
    assert_eq!(at(lamp(), 17 * DAY - 1), (true, Some(Millis(17 * DAY))));
    assert_eq!(at(lamp(), 17 * DAY), (false, None));
    assert_eq!(at(lamp().since(Since::Unknown), 100 * DAY), (true, None));
    assert_eq!(at(lamp().since(Since::Always), 0), (false, None));
    let then = View { as_of: Some(Millis(12 * DAY)), ..view(&rules, 100 * DAY) };
    assert!(rules.hides(&lamp(), then).is_some(), "it was hidden then");
    assert_eq!(rules.next_change(&lamp(), then), None);
    let change = View { as_of: Some(Millis(i64::MAX)), ..view(&rules, 12 * DAY) };
    assert!(rules.hides(&lamp(), change).is_some(), "a change names no moment");
    assert_eq!(rules.next_change(&lamp(), change), Some(Millis(17 * DAY)));
}

#[test]
fn an_exception_lets_one_version_through_until_it_ends_and_never_what_is_denied() {
    let with = |until, deny: &[&str]| {
        let exceptions = vec![exception(until)];
        rules(
            "maven",
            PolicyRecord { cooldown_s: Some(7 * 86_400), exceptions, deny: texts(deny), ..PolicyRecord::default() },
        )
    };
    let open = with(None, &[]);
    assert_eq!(
        (open.hides(&lamp(), view(&open, 11 * DAY)), open.next_change(&lamp(), view(&open, 11 * DAY))),
        (None, None)
    );
    let said: Vec<_> = open.exceptions(&lamp(), view(&open, 11 * DAY)).collect();
    assert_eq!(said, [("maven", &exception(None))]);
    let words =
        "`org.example:lamp:1.0` is let through by the policy of `maven`: ops said so at 1970-01-01T00:00:00.000Z";
    assert_eq!(open.describe_exceptions(&lamp(), view(&open, 11 * DAY)).unwrap(), format!("{words}, because: urgent"));
    let ends = with(Some(12 * DAY), &[]);
    let until = ", until 1970-01-13T00:00:00.000Z, because: urgent";
    assert_eq!(ends.describe_exceptions(&lamp(), view(&ends, 11 * DAY)).unwrap(), format!("{words}{until}"));
    assert_eq!(open.exceptions(&lamp(), view(&open, 20 * DAY)).count(), 0, "it is old enough by itself");
    assert_eq!(open.describe_exceptions(&lamp(), view(&open, 20 * DAY)), None);
    let other = PackageVersion { version: "1.1".into(), ..lamp() };
    assert!(open.hides(&other, view(&open, 11 * DAY)).is_some());
    let short = with(Some(12 * DAY), &[]);
    assert_eq!(short.next_change(&lamp(), view(&short, 11 * DAY)), Some(Millis(12 * DAY)));
    assert!(short.hides(&lamp(), view(&short, 12 * DAY)).is_some());
    let then = View { as_of: Some(Millis(11 * DAY)), ..view(&short, 12 * DAY) };
    assert!(short.hides(&lamp(), then).is_some(), "it has ended, also for who looks back");
    assert_eq!((short.ends(Millis(0)), short.ends(Millis(12 * DAY))), (Some(Millis(12 * DAY)), None));
    let denied = with(None, &["org.example"]);
    assert!(denied.hides(&lamp(), view(&denied, 11 * DAY)).is_some());
}

#[test]
fn an_exception_lets_nothing_through_as_of_a_moment_before_it_was_made_and_one_that_renews_keeps_its_beginning() {
    let with = |made: i64, since: Option<i64>| {
        let made = ExceptionRecord { made: Millis(made), since: since.map(Millis), ..exception(None) };
        rules("maven", PolicyRecord { cooldown_s: Some(7 * 86_400), exceptions: vec![made], ..PolicyRecord::default() })
    };
    let hidden = |rules: &Rules, by: Option<i64>| {
        let as_of = by.map(Millis);
        rules.hides(&lamp(), View { as_of, exceptions_by: as_of, ..view(rules, 14 * DAY) }).is_some()
    };
    let late = with(12 * DAY, None);
    assert_eq!(
        [Some(11), Some(12), Some(13), None].map(|day| hidden(&late, day.map(|day| day * DAY))),
        [true, false, false, false]
    );
    let renewed = with(13 * DAY, Some(11 * DAY));
    assert_eq!(
        [Some(10), Some(11), Some(12), None].map(|day| hidden(&renewed, day.map(|day| day * DAY))),
        [true, false, false, false]
    );
}

#[test]
fn what_either_a_member_or_its_group_hides_is_hidden_and_says_by_whom() {
    let member = rules("central", PolicyRecord { deny: texts(&["*:lamp:2.*"]), ..PolicyRecord::default() });
    let group = rules(
        "all",
        PolicyRecord { cooldown_s: Some(60), exceptions: vec![exception(None)], ..PolicyRecord::default() },
    );
    let both = member.within(&group);
    let by = |version: &'static str| {
        let what = PackageVersion { version: version.into(), ..lamp() };
        both.hides(&what, view(&both, 10 * DAY)).map(|hidden| hidden.repository)
    };
    assert_eq!((by("1.0"), by("1.1"), by("2.0")), (None, Some("all".to_owned()), Some("central".to_owned())));
    assert!(Rules::default().is_open() && !both.is_open());
}

#[test]
fn private_names_are_hidden_where_they_are_an_upstreams() {
    let policy = PolicyRecord { private_prefixes: texts(&["org.example"]), ..PolicyRecord::default() };
    let with = |policy| rules("all", policy);
    let open = with(policy.clone());
    assert_eq!(open.hides(&lamp(), view(&open, 0)), None);
    let why = open.hides(&lamp().upstream(), view(&open, 0)).unwrap().why;
    assert_eq!(why, Why::Private("org.example".into()));
    let shared = with(PolicyRecord { shared: texts(&["org.example:lamp"]), ..policy });
    assert_eq!(shared.hides(&lamp().upstream(), view(&shared, 0)), None);
}

/// Pseudo-random numbers that are the same in each run (Knuth's multiplier).
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % sides
    }

    fn day(&mut self) -> Option<Millis> {
        (self.throw(3) > 0).then(|| Millis(i64::try_from(self.throw(30)).unwrap() * DAY))
    }
}

/// An answer stays right until the moment that the rules give for its next change: pages rely on that.
#[test]
fn nothing_is_seen_otherwise_before_the_moment_that_is_told() {
    let mut dice = Dice(7);
    let mut turned = 0;
    for _ in 0..500 {
        let one = |dice: &mut Dice| {
            let patterns = ["org.example:lamp:1.0", "org.example:lamp", "*:*:1.*", "org.other"];
            let exceptions = (0..dice.throw(3)).map(|_| ExceptionRecord {
                package: patterns[usize::try_from(dice.throw(4)).unwrap()].to_owned(),
                until: dice.day(),
                ..exception(None)
            });
            let exceptions = exceptions.collect();
            let cooldown_s = (dice.throw(4) > 0).then(|| dice.throw(15) * 86_400);
            rules("all", PolicyRecord { cooldown_s, exceptions, ..PolicyRecord::default() })
        };
        let rules = one(&mut dice).within(&one(&mut dice));
        let what = lamp().since(dice.day().map_or(Since::Unknown, Since::Moment));
        let seen = |day: i64| rules.hides(&what, view(&rules, day * DAY)).is_none();
        for day in 0..45 {
            let now = Millis(day * DAY);
            let told = [rules.next_change(&what, view(&rules, now.0)), rules.ends(now)].into_iter().flatten().min();
            let until = told.map_or(45, |told| told.0 / DAY);
            assert!(until > day, "a moment to come");
            assert!(
                (day..until).all(|later| seen(later) == seen(day)),
                "{rules:?} {what:?} on day {day} until {until}"
            );
            turned += usize::from(until < 45 && seen(until) != seen(day));
        }
    }
    assert!(turned > 500, "{turned}");
}

#[test]
fn where_a_policy_comes_changes_or_goes_only_packages_that_it_names_may_differ() {
    let deny = |name: &str, deny: &[&str]| rules(name, PolicyRecord { deny: texts(deny), ..PolicyRecord::default() });
    let differ = |one: &Rules, other: &Rules| {
        assert_eq!(one.names_of_difference(other), other.names_of_difference(one));
        one.names_of_difference(other).map(|names| names.into_iter().collect::<Vec<_>>())
    };
    let (none, member, group) = (Rules::default(), deny("member", &["oil", "lamp:1.0"]), deny("group", &["wick"]));
    assert_eq!(differ(&none, &none), Some(texts(&[])));
    assert_eq!(differ(&none, &member), Some(texts(&["lamp", "oil"])));
    assert_eq!(differ(&none.within(&group), &member.within(&group)), Some(texts(&["lamp", "oil"])));
    assert_eq!(differ(&member, &member.within(&group)), Some(texts(&["wick"])));
    assert_eq!(differ(&member, &deny("member", &["oil"])), Some(texts(&["lamp"])));
    assert_eq!(differ(&none, &deny("member", &["oil*"])), None);
    let policies = [
        PolicyRecord { cooldown_s: Some(1), ..PolicyRecord::default() },
        PolicyRecord { allow: texts(&["oil"]), ..PolicyRecord::default() },
    ];
    for policy in policies {
        assert_eq!(differ(&none, &rules("member", policy)), None);
    }
}
