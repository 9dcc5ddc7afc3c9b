//! The answers of Koji hubs.

use format::koji::answer::Answer;
use format::koji::left_out;
use format::koji::model::{BuildId, EventId, TagId};
use format::koji::question::Question;
use format::koji::reading::{AnswerReader, Reply};
use format::koji::url;

/// The most bytes of an answer.
const MAX_BYTES: u64 = 12_000;

/// The first byte selects the questions, the second the pieces. Answers do not depend on how the bytes are cut, and no file of an archive
/// that is not left out is outside of the folder of its build.
pub(crate) fn answer(bytes: &[u8]) {
    let Some(([first, second], bytes)) = bytes.split_first_chunk() else { return };
    let tag = TagId(4);
    let all = [
        Question::TaggedArchives { tag, event: None, inherit: false, plain: false },
        Question::Archives { build: BuildId(7) },
        Question::Tagged { tag, event: None, inherit: true },
        Question::History { tag, after: Some(EventId(1)) },
        Question::Tags { pattern: "*".to_owned() },
        Question::LastEvent,
        Question::Build { build: BuildId(7) },
        Question::ChangedSince { event: EventId(1), tags: vec![tag] },
    ];
    let questions = match usize::from(*first) {
        n if n < all.len() => vec![all[n].clone()],
        n => all.iter().cycle().skip(n).take(1 + n % 3).cloned().collect(),
    };
    let whole = read(&questions, bytes.len().max(1), bytes);
    let cut = read(&questions, usize::from(*second) + 1, bytes);
    assert_eq!(whole.as_ref().ok(), cut.as_ref().ok());
    let Ok(Reply::Answers(answers)) = whole else { return };
    assert_eq!(answers.len(), questions.len());
    for answer in answers {
        let archives = match answer {
            Ok(Answer::TaggedArchives { archives, .. } | Answer::Archives(archives)) => archives,
            Err(fault) => {
                assert!(fault.text.chars().count() <= 300);
                continue;
            }
            Ok(_) => continue,
        };
        for archive in archives.iter().filter(|archive| left_out::archive(archive).is_none()) {
            let folder = format!("{}/{}/{}", archive.group.replace('.', "/"), archive.artifact, archive.version);
            let nvr = format::koji::model::Nvr { name: "n".into(), version: "1".into(), release: "1".into() };
            let path = url::path(&nvr, "DEFAULT", &folder, &archive.filename).expect("every part is plain");
            assert!(path.starts_with("packages/n/1/1/maven/"));
            assert!(path.split('/').all(|part| !matches!(part, "" | "." | "..")));
        }
    }
}

/// The answers, or that they cannot be read. Errors of a cut answer may be found at another place.
fn read(questions: &[Question], piece: usize, bytes: &[u8]) -> Result<Reply, ()> {
    let mut reader = AnswerReader::new(questions.to_vec(), MAX_BYTES);
    let mut read = 0;
    for piece in bytes.chunks(piece) {
        read += piece.len() as u64;
        let pushed = reader.push(piece);
        assert!(pushed.is_err() || read <= MAX_BYTES);
        pushed.map_err(|error| assert!(error.at <= read))?;
    }
    reader.finish().map_err(|error| assert!(error.at <= read))
}
