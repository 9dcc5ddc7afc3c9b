//! Which findings a file defines, and which are refused with which message.

use super::super::{Environment, Error, Machine, Settings, load};
use std::io::Write;

const MACHINE: Machine = Machine { cores: 2, memory_bytes: 8 << 30, descriptors: 4096, disk_bytes: Some(100 << 30) };
const QUESTION: &str = "question = \"p95(duration_ms) where repository = maven from -5m\"\n";

fn read(text: &str) -> Result<Settings, Error> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    load(Some(file.path()), &Environment::default(), &[], MACHINE).map(|(settings, _)| settings)
}

/// The message from the line on, and the remedy.
fn refused(text: &str) -> (String, Option<String>) {
    let error = read(text).unwrap_err();
    let text = error.to_string();
    (text.split_once(".tmp").map_or_else(|| text.clone(), |(_, rest)| rest[6..].to_owned()), error.hint())
}

#[test]
fn a_finding_has_a_name_a_question_a_threshold_and_a_sentence() {
    let text = format!(
        "[[finding]]\nname = \"slow-maven\"\n{QUESTION}above = 500\nsentence = \"Builds are slow\"\n\n\
         [[finding]]\nname = \"no-builds\"\nquestion = \"count from -1d\"\nbelow = 0.5\nsentence = \"Nothing is built\"\n"
    );
    let settings = read(&text).unwrap();
    let names: Vec<&str> = settings.findings.iter().map(|declared| declared.finding.name()).collect();
    assert_eq!(names, ["slow-maven", "no-builds"]);
    assert_eq!(settings.findings[0].written[2], ("above", serde_json::json!(500.0)));
}

#[test]
fn a_finding_that_cannot_be_is_refused_with_its_line() {
    let of = |lines: &str| format!("\n[[finding]]\nname = \"slow\"\n{lines}sentence = \"It is slow\"\n");
    for (text, message) in [
        (of(QUESTION), ":2: a finding needs `above` or `below`"),
        (of("above = 1\n"), ":2: a finding needs `question`"),
        (of(&format!("{QUESTION}above = 1\nbelow = 2\n")), ":2: a finding has one of `above` and `below`"),
        (of(&format!("{QUESTION}above = \"much\"\n")), ":5: `finding.above` must be a number, not `much`"),
        (of(&format!("{QUESTION}above = nan\n")), ":5: `finding.above` must be a number, not `nan`"),
        (of("question = \"count where class = downlods\"\nabove = 1\n"), ":4: no event can meet the question: "),
        (of(&format!("{QUESTION}abov = 1\n")), ":5: there is no setting or section `finding.abov`"),
        (of("question = \"count by pakage\"\nabove = 1\n"), ":4: the question cannot be read: "),
        (of("question = \"count by package\"\nabove = 1\n"), ":4: the question cannot be answered from the counts"),
        (format!("[[finding]]\nname = \"A b\"\n{QUESTION}above = 1\nsentence = \"x\"\n"), ":2: the name of a finding"),
        (
            format!("[[finding]]\nname = \"disk-fills\"\n{QUESTION}above = 1\nsentence = \"x\"\n"),
            ":1: the server has a check",
        ),
        (format!("{0}{0}", of(&format!("{QUESTION}above = 1\n"))), ":8: the finding `slow` is defined already"),
        ("[finding]\nname = \"slow\"\n".to_owned(), ":1: write `[[finding]]`, once for each finding"),
    ] {
        let (said, hint) = refused(&text);
        assert!(hint.is_some() || said.contains("write `[[finding]]`"), "{text}: {said}");
        assert!(said.starts_with(message), "{text}: {said}");
    }
    let (_, hint) = refused(&of("question = \"count by package\"\nabove = 1\n"));
    assert!(hint.unwrap().contains("outcome and status are counted"));
}
