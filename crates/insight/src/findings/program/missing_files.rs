//! Published files have no bytes.

use crate::findings::check::{Change, Check, FindingKind, Guard, Problem, Verdict};
use crate::signals::seen::Seen;
use serde_json::json;
use std::time::Duration;
use telemetry::Reason;

/// Why a request for such a file is refused.
const REFUSED: [Reason; 2] = [Reason::BlobMissing, Reason::ObjectMissing];

pub(super) const CHECK: Check = Check {
    key: "missing-files",
    kind: FindingKind::Failure,
    about: "Published files were requested whose bytes are neither on the disk nor in object storage",
    when: "at least one file",
    unless: "",
    after: Duration::ZERO,
    keeps: Duration::from_secs(60),
    look,
};

fn look(seen: &Seen) -> Verdict {
    let files = seen.facts.program.missing_files;
    if files == 0 {
        return Verdict::QUIET;
    }
    let evidence = json!({
        "measures": ["count"], "by": ["repository", "path"],
        "where": [{ "any": REFUSED.map(|reason| json!(["reason", "=", reason.as_str()])) }],
    });
    Verdict::Looked(vec![Problem {
        subject: "server".to_owned(),
        confidence: 1.0,
        sentence: format!(
            "{files} published files were requested whose bytes are nowhere: bring back the folder `blobs` of the data folder or the objects, or publish them again"
        ),
        changes: vec![Change::by_command("daylight check".to_owned())],
        evidence,
        guards: vec![Guard::passed("files without bytes", files)],
        ..Problem::default()
    }])
}

#[cfg(test)]
mod tests {
    use super::super::told::{found, told};
    use super::*;
    use crate::signals::program::ProgramFacts;

    #[test]
    fn files_without_bytes_are_told_until_they_have_them_again() {
        let of = |missing_files| found(&CHECK, &told(ProgramFacts { missing_files, ..ProgramFacts::default() }));
        assert!(of(0).is_empty());
        let problem = of(3).remove(0);
        assert!(problem.sentence.starts_with("3 published files were requested"), "{}", problem.sentence);
        assert_eq!((problem.subject.as_str(), problem.changes.len()), ("server", 1));
    }
}
