//! Files of `/info` with lines at which clients fail.

use super::super::{Checksum, Info, Refusal};
use bytes::Bytes;

const SUM: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

fn read(lines: &[&str]) -> Info {
    Info::read(file(lines)).unwrap()
}

fn file(lines: &[&str]) -> Bytes {
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    format!("---\n{lines}").into()
}

#[test]
fn a_file_that_clients_can_read_is_relayed_as_it_is() {
    let base64 = "A".repeat(43);
    let lines = [
        format!("1.0 |checksum:{SUM}"),
        format!(
            "1.1-java b:>= 1.0&< 2,c:= 1|checksum:{base64}=,ruby:>= 2.7&< 4,rubygems:> 1.3.1,created_at:2026-05-01T12:00:00Z"
        ),
        format!("1.2.pre b:>= 0|checksum:{base64},licences:MIT"),
        format!("1.18.9-78be552b |checksum:{SUM},ruby:~> 3.4.0,platform:= x86_64-linux-musl"),
        "2.0 b:>= 0".into(),
        "2.1 ".into(),
        "2.2 |".into(),
    ];
    let lines = lines.each_ref().map(String::as_str);
    let body = file(&lines);
    let info = Info::read(body.clone()).unwrap();
    assert_eq!((info.body().as_ptr(), info.body().len(), info.unreadable()), (body.as_ptr(), body.len(), 0));
    let read: Vec<_> = info.lines().collect();
    assert!(read.iter().map(|line| line.text).eq(lines));
    assert_eq!((read[1].number(), read[1].platform(), read[1].token), ("1.1", "java", "1.1-java"));
    assert_eq!((read[0].platform(), read[3].platform()), ("ruby", "x86_64-linux-musl"));
    assert_eq!(read[1].created_at(), Some(1_777_636_800));
    assert_eq!(read[1].brief(), "1.1-java b:>= 1.0&< 2,c:= 1");
    assert_eq!(read[0].brief(), "1.0");
    assert_eq!(read[0].checksum(), Checksum::parse(SUM));
    assert_eq!((read[1].checksum(), read[4].checksum()), (Some(Checksum([0; 32])), None));
}

#[test]
fn lines_that_clients_fail_at_are_left_out_and_an_empty_checksum_is_none() {
    let fine = format!("1.0 a:>= 0|checksum:{SUM}");
    let bad = [
        format!("0.4.0 |checksum:{}", &SUM[..30]),
        format!("0.4.1 |checksum:{SUM}0"),
        format!("0.4.2 a:>= 0,,b:>= 0|checksum:{SUM}"),
        format!("0.4.3 a:>= x|checksum:{SUM}"),
        format!("v1 |checksum:{SUM}"),
        format!("1.0\u{1b} |checksum:{SUM}"),
        format!("0.4.4 |checksum:{SUM},ruby:nope"),
        format!(" |checksum:{SUM}"),
        "1/2 ".into(),
        // These would break the syntax of the JSON lists that are made of them.
        format!("1.0-ruby\",\"x |checksum:{SUM}"),
        format!("1.0 a\"b:>= 1|checksum:{SUM}"),
        format!("1.0 a\\:>= 1|checksum:{SUM}"),
    ];
    let mut lines: Vec<&str> = bad.iter().map(String::as_str).collect();
    lines.insert(4, &fine);
    lines.push("");
    lines.push("0.3.0 |checksum:");
    lines.push("0.3.1 a:>= 0|checksum:,ruby:>= 2");
    let info = read(&lines);
    assert_eq!(*info.body(), *format!("---\n{fine}\n0.3.0 |\n0.3.1 a:>= 0|ruby:>= 2\n"));
    assert_eq!(info.unreadable(), bad.len() as u64);
    let again = Info::read(info.body().clone()).unwrap();
    assert_eq!((again.body(), again.unreadable()), (info.body(), 0));
    assert_eq!(Info::read(Bytes::from_static(b"---\n1.0 |\n\xff 1\n")).unwrap().unreadable(), 1);
}

#[test]
fn hidden_lines_are_left_out_and_a_gem_without_any_is_an_empty_file() {
    let info = read(&["1 |", "2 |", "2-java |"]);
    assert_eq!(info.visible(|line| line.number() == "2"), "---\n1 |\n");
    assert_eq!(info.visible(|_| true), "---\n");
    assert_eq!(info.visible(|_| false).as_ptr(), info.body().as_ptr());
}

#[test]
fn what_is_no_index_is_refused_and_a_cut_is_told() {
    let read = |text: &'static str| Info::read(Bytes::from_static(text.as_bytes()));
    assert_eq!(read("<html>\n---\n"), Err(Refusal::Html));
    assert_eq!(read("not found"), Err(Refusal::NoHeader));
    assert_eq!(read(""), Err(Refusal::NoHeader));
    assert!(!read("---\n1.0 |").unwrap().ends_in_newline());
    assert!(read("---\n1.0 |\n").unwrap().ends_in_newline());
    let cut = |text| read(text).unwrap().without_cut_line();
    assert_eq!(cut("---\n1.0 |\n2.0 |ruby:>= 2").body(), "---\n1.0 |\n");
    assert_eq!((cut("---\n1.0 |ruby:>= 2").body(), cut("---\n1.0 |").unreadable()), (&Bytes::from("---\n"), 1));
    assert_eq!(cut("---\n1.0 |\n2.0 |checksum:").body(), "---\n1.0 |\n");
    assert_eq!(cut("---\n1.0 |\n"), read("---\n1.0 |\n").unwrap());
    assert_eq!(read("---\n").unwrap().lines().count(), 0);
    let huge = Bytes::from(vec![b'-'; super::super::INFO_BYTES + 1]);
    assert!(matches!(Info::read(huge), Err(Refusal::TooLarge(_))));
}
