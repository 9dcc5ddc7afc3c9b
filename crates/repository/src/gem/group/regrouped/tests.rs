//! The difference between the members and the recorded ones.

use super::*;

fn stood(id: u64, stands: i64) -> Stood {
    Stood { member: Member { id: RepositoryId(id), origin: -7, known: id > 1 }, stands: Millis(stands) }
}

fn noted(members: &[Stood]) -> String {
    members.iter().map(Stood::to_string).collect::<Vec<_>>().join(",")
}

fn regrouping(added: &[Stood], removed: &[Stood], moved: bool) -> Option<Regrouping> {
    let [added, removed] = [added, removed].map(|members| members.iter().map(|stood| stood.member).collect());
    Some(Regrouping { added, removed, moved })
}

#[test]
fn what_was_added_removed_or_moved_is_told_from_what_stays() {
    let (one, two, three) = (stood(1, 5), stood(2, 5), stood(3, 6));
    let before = noted(&[one, two]);
    assert_eq!(Regrouping::of(&before, &[one, two]), regrouping(&[], &[], false));
    assert_eq!(Regrouping::of(&before, &[one, three, two]), regrouping(&[three], &[], false));
    assert_eq!(Regrouping::of(&before, &[two]), regrouping(&[], &[one], false));
    assert_eq!(Regrouping::of(&before, &[stood(2, 9), one]), regrouping(&[], &[], true));
    // The order can change although no member of the group moved: a member was listed twice, once in a nested group.
    assert_eq!(Regrouping::of(&before, &[two, one]), regrouping(&[], &[], true));
    assert_eq!(Regrouping::of("", &[one]), None);
    assert_eq!(Regrouping::of("something else", &[one]), None);
}

#[test]
fn an_upstream_that_is_known_now_or_is_another_is_another_member() {
    let two = stood(2, 5);
    let unknown = Stood { member: Member { known: false, ..two.member }, ..two };
    let other = Stood { member: Member { origin: 8, ..two.member }, ..two };
    assert_eq!(Regrouping::of(&noted(&[unknown]), &[two]), regrouping(&[two], &[unknown], false));
    assert_eq!(Regrouping::of(&noted(&[other]), &[two]), regrouping(&[two], &[other], false));
}
