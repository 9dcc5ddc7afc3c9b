//! The state of a name after its lines, a log that follows a rewritten file, and the gems that a file name may mean.

use super::super::full_name::{Candidate, candidates, content_address};
use super::super::{Difference, HELD_MAX, LINE_BYTES, NAME_BYTES, Refusal, Said, Versions, append, begin, difference};
use super::{MD5, OTHER, body, versions};
use bytes::Bytes;

fn said(tokens: &[&str], md5: &str) -> Option<Said> {
    Some(Said { tokens: tokens.iter().map(|token| (*token).to_owned()).collect(), md5: md5.to_owned() })
}

/// The lines that a log with some lines needs for a file with other lines. The log then lists the same, and a second
/// call finds no difference.
fn gains(log: &[&str], file: &[&str]) -> Vec<String> {
    let (mut log, file) = (versions(log), versions(file));
    let gained = difference(&log, &file, |_, _| false);
    log.push(gained.lines.clone().into()).unwrap();
    assert_eq!(difference(&log, &file, |_, _| false).lines, b"");
    String::from_utf8(gained.lines).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn what_is_said_of_a_name_is_its_tokens_and_the_last_md5() {
    let index = versions(&["a 1,2-java x", "b 1 x", "a -1,3 y", "a 3 z", "c 1 x", "c -1 y", "d 0 x"]);
    assert_eq!(index.said("a"), said(&["2-java", "3"], "z"));
    assert_eq!(index.said("b"), said(&["1"], "x"));
    assert_eq!(index.said("c"), said(&[], "y"));
    assert_eq!(index.said("e"), None);
    assert!(index.said("d").unwrap().is_zero() && index.zeros() == 1);
    assert_eq!((index.names(), index.lines(), index.is_clean()), (4, 7, true));
    let lines: Vec<String> = index.sums().collect();
    assert_eq!(lines, ["b 1 x", "a 2-java,3 z", "c -0 y", "d 0 x"]);
    let names: Vec<String> = index.all().map(|(name, _)| name).collect();
    assert_eq!(names, ["b", "a", "c", "d"]);
    assert!(index.ever_said("a", "x") && index.ever_said("a", "z") && !index.ever_said("a", "w"));
    assert!(!index.ever_said("e", "x"));
    assert_eq!((index.removed("c", usize::MAX).len(), index.removed("e", usize::MAX).len()), (1, 0));
    let line = |hidden: &dyn Fn(&str) -> bool| index.said("a").unwrap().line("a", hidden, "m");
    assert_eq!((line(&|token| token == "3"), line(&|_| true)), ("a 2-java m".into(), "a -0 m".into()));
}

/// An upstream may list a hundred thousand versions of a gem, each in its own line. With a search in all earlier lines,
/// this would take minutes.
#[test]
fn what_many_lines_of_a_name_say_is_found_in_one_pass() {
    const MANY: usize = 100_000;
    let mut lines = vec!["a 0 first".to_owned()];
    lines.extend((1..=MANY).map(|n| format!("a {n} {n}")));
    let mut index = versions(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let md5 = |index: &Versions| index.md5_without("a", usize::MAX, |token| token != "0", |_| true);
    assert_eq!(md5(&index), Some("first".to_owned()));
    let end = index.text().len();
    index.push(format!("a -{MANY},{MANY} x\na -{MANY} y\na -0,0 z\n").into()).unwrap();
    assert_eq!(md5(&index), None, "a line that removes a token may change any file");
    let at = index.withdrawn("a", &MANY.to_string(), end).unwrap();
    assert_eq!(&index.text().pieces().concat()[at..][..3 + MANY.to_string().len()], format!("a -{MANY}").as_bytes());
    assert!(at > end, "a version that is removed and added in one line is listed");
    assert_eq!((index.withdrawn("a", "0", end), index.withdrawn("b", "0", 0)), (None, None));
    index.push("a -7 x\na -9,-7,7 y\na -7 z\nb -0 w\n".into()).unwrap();
    let removed = [7, 9, MANY].map(|token| token.to_string());
    assert_eq!(index.removed("a", usize::MAX), removed, "the last removed first");
    assert_eq!((index.removed("a", end).len(), index.removed("b", usize::MAX).len()), (0, 0));
}

#[test]
fn a_file_with_very_many_names_that_have_no_md5_is_none() {
    let lines = |count: usize| (0..count).fold(String::new(), |lines, n| lines + &format!("a{n} 1\n"));
    let checked = |count| {
        let mut file = Versions::appended();
        file.push(lines(count).into()).unwrap();
        file.check_names()
    };
    assert_eq!(checked(HELD_MAX), Ok(()));
    assert_eq!(checked(HELD_MAX + 1), Err(Refusal::TooManyHeld(HELD_MAX)));
}

#[test]
fn a_line_without_an_md5_is_held_back_until_its_name_has_one() {
    let mut index = versions(&["a 1 x", "a 2 ", "b 1"]);
    assert_eq!((index.said("a"), index.said("b")), (said(&["1"], "x"), None));
    assert!(index.held().iter().eq(["a", "b"]) && !index.is_clean());
    index.push("a 3 y\n".into()).unwrap();
    assert_eq!(index.said("a"), said(&["1", "2", "3"], "y"));
    assert!(index.held().iter().eq(["b"]));
    assert_eq!(gains(&["a 1 x"], &["a 1 x", "a 2 ", "b 1 "]), [""; 0]);
    assert_eq!(gains(&["a 1 x", "b 1 x"], &["a 2 ", "b 1 x"]), [""; 0], "no name vanishes in between");
    assert_eq!(gains(&["a 1 x"], &["a 1 x", "a 2 y", "b 1 z"]), ["a 2 y", "b 1 z"]);
}

#[test]
fn lines_that_no_client_can_read_are_left_out_and_counted_and_blank_ones_only_left_out() {
    let odd = ["", "a 1 x", "   ", "repo:b 1 x", "c 1\u{7f} x", "d", "a 2 y\r"];
    let index = versions(&odd);
    assert_eq!((index.unreadable(), index.names(), index.is_clean()), (3, 1, false));
    assert_eq!(gains(&[], &odd), ["a 1,2 y"]);
    let mut index = Versions::new();
    assert_eq!(index.push(vec![b'-'; 70 << 10].into()), Err(Refusal::NoHeader));
    let mut index = versions(&[]);
    assert_eq!(index.push(vec![b'a'; LINE_BYTES + 1].into()), Err(Refusal::LineTooLong(LINE_BYTES)));
}

#[test]
fn a_file_read_in_pieces_says_what_it_says_as_a_whole() {
    let lines: Vec<String> = (0..3_000).map(|n| format!("gem{} {n},{n}-java {MD5}", n % 700)).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let whole = versions(&lines);
    for size in [1, 3, 40, 65_536] {
        let mut pieces = Versions::new();
        body(&lines).chunks(size).for_each(|piece| pieces.push(Bytes::copy_from_slice(piece)).unwrap());
        assert!(pieces.sums().eq(whole.sums()) && pieces.is_clean());
    }
    assert_eq!((whole.names(), whole.lines()), (700, 3_000));
}

#[test]
fn any_change_of_a_file_becomes_a_line_for_each_name_that_says_something_else() {
    // The file is rewritten: it has one line for each name, and no names without versions.
    assert_eq!(
        gains(&["a 1 x", "b 1 y", "a 2 z"], &["b 1 y", "a 2,1 z"]),
        [""; 0],
        "the order of versions does not count"
    );
    let nothing = Said::nothing_md5();
    assert_eq!(gains(&["a 1 x", &format!("b 1 {nothing}"), "b -1 y"], &["a 1 x"]), [format!("b -0 {nothing}")]);
    assert_eq!(gains(&["a 1 x", "b 1 x", &format!("b -1 {nothing}")], &["a 1 x"]), [""; 0]);
    // A line in the middle, a corrected MD5, a replaced version, a vanished name.
    assert_eq!(gains(&["a 1 x", "b 1 x"], &["a 1 x", "a 1.1 y", "b 1 x"]), ["a 1.1 y"]);
    assert_eq!(gains(&["a 1,2-java x"], &["a 1,2-java y"]), ["a -2-java,2-java y"]);
    assert_eq!(gains(&["a 1,2 x"], &["a 3,1 y"]), ["a -2,3 y"]);
    assert_eq!(gains(&["a 1,2 x", "b 1 x"], &["b 1 x"]), [format!("a -1,-2 {nothing}")]);
    assert_eq!(gains(&[], &["b 1 x", "a 1 y", "b 2 z"]), ["a 1 y", "b 1,2 z"]);
    assert_eq!(gains(&["a 1,2 x"], &["a 0 x"]), ["a -1,-2,0 x"]);
}

#[test]
fn an_md5_that_is_known_to_be_wrong_does_not_come_back() {
    // The upstream lists `x`, its `/info` has `y`, and the log was corrected.
    let log = versions(&["a 1 x", "a -1,1 y"]);
    let wrong = |name: &str, md5: &str| (name, md5) == ("a", "x");
    assert_eq!(difference(&log, &versions(&["a 1 x"]), wrong).lines, b"");
    // Another version has another file, so `y` is as wrong as `x`, and belongs to the older one.
    assert_eq!(difference(&log, &versions(&["a 1,2 x"]), wrong).lines, b"a 2 x\n");
    assert_eq!(difference(&log, &versions(&["a 1,2 z"]), wrong).lines, b"a 2 z\n");
}

#[test]
fn appended_lines_are_relayed_as_they_came_and_tell_whom_they_touch() {
    let log = versions(&["a 1 x", "b 1 x"]);
    let mut appended = Versions::appended();
    appended.push("a 2 y\nb -1 z\na -1,3 z\n".into()).unwrap();
    let gained = append(&log, &appended).unwrap();
    assert_eq!(gained.lines, b"a 2 y\nb -1 z\na -1,3 z\n");
    let [b, a] = &gained.changes[..] else { panic!("{gained:?}") };
    assert!(b.name == "b" && b.gone == ["1"] && b.new.is_empty() && b.vanished);
    assert!(a.name == "a" && a.gone == ["1"] && a.new == ["2", "3"] && !a.vanished);
    assert_eq!((gained.names, gained.vanished), (2, 1));
    let append = |text: &str| {
        let mut appended = Versions::appended();
        appended.push(text.to_owned().into()).unwrap();
        append(&log, &appended)
    };
    for odd in ["a 4 z\r\n", "a 4 z", "a 4 \na 5 z\n"] {
        assert_eq!(append(odd), None, "{odd:?}");
    }
    // Lines without a state are left out, and the others relayed.
    for odd in ["a 4 \n", "\n", "<p>\n", "c 1\n"] {
        assert_eq!(append(odd), Some(Difference { names: 2, ..Difference::default() }), "{odd:?}");
        let gained = append(&format!("\n\n{odd}b 2 z\n{odd}\n")).unwrap();
        assert_eq!((&*gained.lines, gained.changes.len()), (&b"b 2 z\n"[..], 1), "{odd:?}");
    }
}

#[test]
fn what_of_a_file_can_be_relayed_is_its_other_lines_byte_for_byte() {
    let index = versions(&["", "a 1 x", "<p>", " ", "b 1 ", "a 2 y", "c 1 z", ""]);
    assert_eq!((index.relayable(), index.is_separable()), (None, true));
    assert!(index.relayed().concat() == body(&["a 1 x", "a 2 y", "c 1 z"]));
    assert!(begin(&index).unwrap() == body(&["a 1 x", "a 2 y", "c 1 z"]));
    let index = versions(&["a 1 x", "a 2 ", "b 1 x\r", "a 3 y"]);
    assert!(index.relayed().concat() == body(&["a 1 x", "a 3 y"]));
    assert!(!index.is_separable(), "the second version counts, but its line cannot be relayed");
    assert!(begin(&index).unwrap() == body(&["a 1 x", "a 3 y", "b 1 x", "a 2 y"]));
    let index = versions(&["a 1 x"]);
    assert!(index.relayed().concat() == body(&["a 1 x"]) && index.relayable() == Some(index.text().len()));
}

#[test]
fn a_file_that_is_cut_or_older_says_only_what_was_said_earlier() {
    let log = versions(&["a 1 x", "b 1 x", "a 2 y", "b -1 y", "c 1 z"]);
    let is_earlier = |file: &[&str]| difference(&log, &versions(file), |_, _| false).is_earlier_file();
    let lines = ["a 1 x", "b 1 x", "a 2 y", "b -1 y", "c 1 z"];
    assert!((0..lines.len()).all(|end| is_earlier(&lines[..end])) && !is_earlier(&lines));
    assert!(!is_earlier(&["a 1,2 y", "b -1 y", "c 1 z"]), "started again");
    assert!(!is_earlier(&["a 1,2 y", "b -1 y", "d 1 z"]), "a token is new");
    assert!(!is_earlier(&["a 1 w", "b -1 y", "c 1 z"]), "a version was removed");
}

#[test]
fn a_change_that_no_line_can_say_leaves_the_name_as_it_was() {
    let many = |first: usize| (first..first + 20_000).map(|n| format!("1.0.0.{n:020}")).collect::<Vec<_>>().join(",");
    let log = versions(&[&format!("a {} x", many(0)), "b 1 x"]);
    let gained = difference(&log, &versions(&[&format!("a {} y", many(50_000)), "b 2 x"]), |_, _| false);
    assert_eq!((&*gained.lines, gained.changes.len()), (&b"b -1,2 x\n"[..], 1));
}

#[test]
fn many_names_that_vanish_at_once_are_a_mass_removal() {
    let mass = |names, vanished| Difference { names, vanished, ..Difference::default() }.is_mass_removal();
    assert!(mass(1_000, 11) && mass(500_000, 1_000) && mass(2, 2));
    assert!(!mass(1_000, 10) && !mass(500_000, 999) && !mass(2, 1) && !mass(0, 0));
    let lines: Vec<String> = (0..200).map(|n| format!("gem{n} 1 {OTHER}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let gained = difference(&versions(&lines), &versions(&lines[100..]), |_, _| false);
    assert!(gained.is_mass_removal() && gained.vanished == 100 && gained.names == 200);
    assert!(gained.changes.iter().all(|change| change.vanished && change.gone == ["1"]));
}

#[test]
fn a_file_name_means_the_listed_versions_that_it_can_be_read_as() {
    let index = versions(&["a 1.0-2,1.0,1.18.9-78be552b,2-x86_64-linux-gnu x", "a-1.0 2 x", "b 1 x"]);
    let found = |full_name: &str| {
        let found = candidates(&index, full_name);
        found.into_iter().map(|Candidate { name, token }| format!("{name} {token}")).collect::<Vec<_>>()
    };
    assert_eq!(found("a-1.0"), ["a 1.0"]);
    assert_eq!(found("a-1.0-2"), ["a 1.0-2", "a-1.0 2"]);
    assert_eq!(found("a-1.18.9-78be552b"), ["a 1.18.9-78be552b"]);
    assert_eq!(found("a-2-x86_64-linux"), ["a 2-x86_64-linux-gnu"], "the platform in the spelling of clients");
    for nothing in ["a", "a-1", "b-1-java", "c-1", "", "-"] {
        assert_eq!(found(nothing), [""; 0], "{nothing}");
    }
    assert_eq!(content_address("1.18.9-78be552b"), Some("78be552b"));
    assert!(["1.0", "1-java", "1-78BE552B", "1-78be55"].iter().all(|token| content_address(token).is_none()));
}

#[test]
fn what_is_read_for_a_request_about_a_name_is_bounded_whatever_its_upstream_lists() {
    let line = format!("a 1 {MD5}\n");
    let mut index = versions(&["b 1 x"]);
    let more = NAME_BYTES / line.len() + 5_000;
    index.push(line.repeat(more).into()).unwrap();
    assert!(index.lines() < more && index.unreadable() > 900 && !index.is_clean());
    assert_eq!((index.said("a"), index.said("b")), (said(&["1"], MD5), said(&["1"], "x")));
}

#[test]
fn the_md5_of_a_whole_file_is_not_taken_for_that_of_a_part() {
    let without = |index: &Versions| index.md5_without("a", usize::MAX, |token| token == "2", |_| true);
    assert_eq!(without(&versions(&["a 1 x", "a 2 y"])).as_deref(), Some("x"));
    // Our log had the MD5 of the file with the second version before the index listed that version.
    assert_eq!(without(&versions(&["a 1 x", "a -1,1 y", "a 2 y"])), None);
    assert_eq!(without(&versions(&["a 1 x", "a 3 y"])).as_deref(), Some("y"));
    // A line for more than one change may hide that an earlier version has other bytes.
    let index = versions(&["a 1 x", "a 2 y", "a 2.1 z"]);
    let text = index.text().pieces().concat();
    let of = |line: &str| text.windows(line.len()).position(|window| window == line.as_bytes()).unwrap();
    let without_after = |line: &str| index.md5_without("a", usize::MAX, |token| token != "1", |at| at != of(line));
    assert_eq!(without_after("a 1 x").as_deref(), Some("x"));
    assert_eq!((without_after("a 2 y"), without_after("a 2.1 z")), (None, None));
}
