//! Answers from memory are sampled, and the weights of the sample sum to all of them. Everything else is kept.

use super::*;
use crate::{Event, Figures, Kind, Layer, MemberRecord, MemberSaid, Millis, More, Outcome, Tick, Trace};
use proptest::prelude::*;

fn hit(at: i64, repository: &str) -> Event {
    let mut event = *Event::request(Millis(at), Tick(0));
    (event.layer, event.outcome, event.status) = (Layer::Page, Some(Outcome::Answered), 200);
    event.subject.repository = repository.into();
    event
}

fn see(keeper: &mut Keeper, event: &Event) -> u32 {
    keeper.see(&Glance::of(event, &Figures::of(event))).weight
}

#[test]
fn what_somebody_may_ask_about_is_kept_in_any_flood() {
    let mut keeper = Keeper::default();
    let flood = hit(1, "a");
    let mut kept = vec![hit(1, "a"); 8];
    kept[0].outcome = Some(Outcome::Failed);
    kept[1].outcome = Some(Outcome::Shed);
    kept[2].first_byte = 1_000_000_001;
    kept[3].members = vec![MemberRecord::new("far", MemberSaid::Stale, None)];
    kept[4].more = Some(Box::new(More { trace: Some(Trace { id: 1, parent: 2 }), ..More::default() }));
    kept[5].kind = Kind::Job;
    kept[6].layer = Layer::Hosted;
    kept[7].layer = Layer::None;
    for _ in 0..10_000 {
        see(&mut keeper, &flood);
        for event in &kept {
            assert_eq!(see(&mut keeper, event), 1, "{event:?}");
        }
    }
}

#[test]
fn the_first_hits_of_each_second_are_kept_whole_and_a_flood_is_sampled() {
    let mut keeper = Keeper::default();
    for second in 0..3 {
        let weights: Vec<u32> = (0..50_000).map(|_| see(&mut keeper, &hit(second * 1000, "a"))).collect();
        let kept = weights.iter().filter(|weight| **weight > 0).count();
        assert!((100..400).contains(&kept), "{kept}");
        let whole = weights.iter().skip(1).take_while(|weight| **weight == 1).count();
        assert!(whole >= Keeper::EACH as usize - 2, "{whole}");
        // A repository that is asked rarely is not crowded out by the others.
        assert_eq!(see(&mut keeper, &hit(second * 1000, "b")), 1);
    }
}

#[test]
fn with_many_busy_repositories_some_thousands_a_second_are_kept() {
    let mut keeper = Keeper::default();
    let names: Vec<String> = (0..500).map(|number| format!("r{number}")).collect();
    let hits: Vec<Event> = names.iter().map(|name| hit(1, name)).collect();
    let kept = (0..100).flat_map(|_| &hits).filter(|hit| see(&mut keeper, hit) > 0).count();
    assert!((500..4000).contains(&kept), "{kept}");
}

proptest! {
    #[test]
    fn the_weights_of_the_sample_sum_to_all_hits(hits in prop::collection::vec((0i64..4, 0usize..3, 1u32..400), 1..60)) {
        let (mut keeper, mut seen, mut kept) = (Keeper::default(), [0u64; 3], [0u64; 3]);
        for (second, repository, count) in hits {
            for _ in 0..count {
                seen[repository] += 1;
                kept[repository] += u64::from(see(&mut keeper, &hit(second * 1000, ["a", "b", "c"][repository])));
            }
            keeper.pause();
        }
        for (repository, name) in ["a", "b", "c"].iter().enumerate() {
            let since = keeper.places.get(*name).map_or(0, |place| keeper.samples[*place].since);
            prop_assert_eq!(kept[repository] + u64::from(since), seen[repository]);
        }
    }
}
