//! Ages, moments, and the versions that were listed by a moment.

use super::*;

const MD5: &str = "0123456789abcdef0123456789abcdef";

#[test]
fn a_version_is_as_old_as_the_file_that_listed_it_first_or_as_its_first_sight() {
    let mut listing = Listing::default();
    let first = format!("created_at: 2026-11-01T00:00:00Z\n---\na 1,2 {MD5}\nb 1 {MD5}\na 3 {MD5}\nc 1 {MD5}\n");
    let (start, later) = (Millis(1_793_600_000_000), Millis(1_793_700_000_000));
    listing.add(first.into(), start, Lines::Relayed, true).unwrap();
    listing.add(format!("a -1,4 {MD5}\n").into(), later, Lines::Relayed, false).unwrap();
    let written = Millis(moment("2026-11-01T00:00:00Z").unwrap() * 1000);
    let version = |token: &str, since, from_start, dated| {
        let seen = if from_start { start } else { later };
        ListedVersion { token: token.into(), since, seen, from_start, dated, asked: since == Millis(1) }
    };
    let a = [
        version("2", written, true, Dated::By),
        version("3", start, true, Dated::No),
        version("4", later, false, Dated::No),
    ];
    assert_eq!(listing.gem("a").unwrap().versions, a);
    assert_eq!(listing.gem("c").unwrap().versions, [version("1", start, true, Dated::No)]);
    // The upstream's date of a later version is not believed.
    listing.date("a", vec![("3".into(), Millis(1)), ("4".into(), Millis(1))]);
    let a = [
        version("2", written, true, Dated::By),
        version("3", Millis(1), true, Dated::On),
        version("4", later, false, Dated::No),
    ];
    assert_eq!(listing.gem("a").unwrap().versions, a);
    assert_eq!(listing.gem("d"), None);
    // Lists name a version of the first file until its `/info` was read. Without a date there, it is as old as its first sight.
    let in_lists = |listing: &Listing, name: &str| listing.gem(name).unwrap().versions[0].moments().age_in_lists();
    assert_eq!((in_lists(&listing, "c"), in_lists(&listing, "b")), (Since::Always, Since::Always));
    let mut asked = listing.clone();
    asked.date("c", vec![("1".into(), start)]);
    assert_eq!(in_lists(&asked, "c"), Since::FirstSeen(start));
    // A line that changes only the MD5 makes no version younger. A version that disappeared and returns is new.
    let mut again = listing.clone();
    again
        .add(format!("a -3,3 {MD5}\na -4 {MD5}\na 4 {MD5}\n").into(), Millis(later.0 + 1), Lines::Made, false)
        .unwrap();
    let seen: Vec<_> = again.gem("a").unwrap().versions.into_iter().map(|one| (one.token, one.seen)).collect();
    let seen_at = |token: &str, at| (token.to_owned(), at);
    assert_eq!(seen, [seen_at("2", start), seen_at("3", start), seen_at("4", Millis(later.0 + 1))]);
    // Lines with one version do not show when they were written.
    let mut young = Listing::default();
    young
        .add(
            format!("created_at: 2026-11-01T00:00:00Z\n---\na 1 {MD5}\nb 2 {MD5}\n").into(),
            start,
            Lines::Relayed,
            true,
        )
        .unwrap();
    assert_eq!(young.gem("a").unwrap().versions, [version("1", start, true, Dated::No)]);
    let grown = |moment: Millis| listing.grown_since(moment);
    assert_eq!((grown(Millis(0)), grown(start), grown(later)), (44 - 4, 44 - 4, 0));
    // As of a moment.
    assert_eq!((listing.end(Millis(start.0 - 1)), listing.since()), (None, Some(start)));
    let end = listing.end(Millis(later.0 - 1)).unwrap();
    let tokens = |gem: Listed| gem.versions.into_iter().map(|version| version.token).collect::<Vec<_>>();
    assert_eq!(tokens(listing.gem_by("a", end).unwrap()), ["1", "2", "3"]);
    assert_eq!((listing.gone("a", "1", end), listing.gone("a", "2", end)), (Some(later), None));
    assert_eq!(tokens(listing.gem_by("a", listing.end(later).unwrap()).unwrap()), ["2", "3", "4"]);
    let names: Vec<_> = listing.all(|_, gem| gem.versions.len());
    assert_eq!(names, [("a".to_owned(), 3), ("b".to_owned(), 1), ("c".to_owned(), 1)]);
}
