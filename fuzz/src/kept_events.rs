//! Segments of stored events, and questions about events.

use super::text;
use flate2::Crc;
use insight::{
    Asked, Asker, AskerOptions, Block, Caller, Column, NotAnswered, Part, Parts, QUESTION_BYTES_MAX, Question,
    RepositoryFacts, Row, Segment,
};
use serde_json::json;
use std::cell::RefCell;
use std::io::{Seek as _, Write as _};
use std::sync::{Arc, LazyLock, mpsc};
use telemetry::{Clock, Event, Layer, Log, Millis, Op, Outcome, Tick};
use tempfile::NamedTempFile;

thread_local! {
    static FILE: RefCell<NamedTempFile> = RefCell::new(NamedTempFile::new().expect("a temporary file"));
}

/// A file of Parquet ends with this, and before that with the length of its footer.
const PARQUET: &[u8] = b"PAR1";
/// Ends the index of a segment, after its length and its checksum.
const INDEX: &[u8] = b"DAYLEVT1";

/// A segment: a file whose index has the right checksum, or pages of columns that are put into a file. Its columns are read whole and row by
/// row, or are refused.
pub(crate) fn event_segment(bytes: &[u8]) {
    let made = if bytes.ends_with(PARQUET) { checked(bytes) } else { from_pages(bytes) };
    FILE.with_borrow_mut(|file| {
        let handle = file.as_file_mut();
        let bytes = made.as_deref().unwrap_or(bytes);
        handle.set_len(0).and_then(|()| handle.rewind()).and_then(|()| handle.write_all(bytes)).expect("a disk");
        match Segment::open(file.path()) {
            Ok(segment) => read(&segment),
            Err(unreadable) => assert!(!unreadable.cause.is_empty()),
        }
    });
}

fn read(segment: &Segment) {
    let rows = segment.span().rows;
    for column in Column::ALL {
        let last = rows.saturating_sub(1);
        let _ = (segment.may_have(*column, "lamp"), segment.range(*column), segment.bytes(*column));
        if column.is_text() {
            let _ = (segment.text(*column, last), segment.text(*column, rows));
            let Ok(coded) = segment.texts(*column) else { continue };
            assert_eq!(coded.codes.len(), rows);
            assert!(coded.codes.iter().all(|code| (*code as usize) < coded.texts.len()));
        } else if let Ok(cells) = segment.numbers(*column) {
            assert_eq!(cells.len(), rows);
        }
    }
}

/// The file with the right checksum of its index. `None`: it has no index. Columns keep their checksums: bytes that were changed are not
/// decoded.
fn checked(bytes: &[u8]) -> Option<Vec<u8>> {
    let (rest, length) = bytes.strip_suffix(PARQUET)?.split_last_chunk::<4>()?;
    let (rest, footer) = rest.split_at_checked(rest.len().checked_sub(u32::from_le_bytes(*length) as usize)?)?;
    let (rest, _) = rest.strip_suffix(INDEX)?.split_last_chunk::<4>()?;
    let (rest, index) = rest.split_last_chunk::<4>()?;
    let (columns, index) = rest.split_at_checked(rest.len().checked_sub(u32::from_le_bytes(*index) as usize)?)?;
    Some(file(columns, index, footer))
}

fn file(columns: &[u8], index: &[u8], footer: &[u8]) -> Vec<u8> {
    let [size, length] = [index, footer].map(|bytes| (bytes.len() as u32).to_le_bytes());
    [columns, index, &size, &checksum(index).to_le_bytes(), INDEX, footer, &length, PARQUET].concat()
}

/// The columns of [`from_pages`].
const COLUMNS: [Column; 4] = [Column::Path, Column::Status, Column::Package, Column::Duration];

/// A file with these pages: for each a byte with the column and the kind, one with the rows, one with the length of its bytes, and these.
/// The first byte is the number of all rows.
fn from_pages(mut bytes: &[u8]) -> Option<Vec<u8>> {
    let (rows, rest) = bytes.split_first()?;
    bytes = rest;
    let mut columns: [Vec<u8>; COLUMNS.len()] = Default::default();
    while let [kind, count, length, rest @ ..] = bytes {
        let (page, rest) = rest.split_at(rest.len().min(usize::from(*length)));
        let place = usize::from(*kind) % COLUMNS.len();
        // Numbers without a dictionary are decoded by the library, which trusts bytes with the right checksum.
        let first = !COLUMNS[place].is_text() && columns[place].is_empty();
        columns[place].extend_from_slice(&stored(if first { 0 } else { kind / COLUMNS.len() as u8 }, *count, page));
        bytes = rest;
    }
    let (mut at, mut known) = (0, Vec::new());
    for (column, pages) in COLUMNS.iter().zip(&columns) {
        let place = json!({ "at": at, "bytes": pages.len(), "crc": checksum(pages) });
        known.push(json!({ "name": column.as_str(), "pages": place }));
        at += pages.len();
    }
    let index = json!({ "form": 1, "rows": rows, "events": rows, "from": 0, "to": 0, "columns": known });
    Some(file(&columns.concat(), index.to_string().as_bytes(), &[]))
}

/// A page with its header, which is a struct of Thrift in the compact form, and in a frame of zstd that is not compressed.
fn stored(kind: u8, count: u8, page: &[u8]) -> Vec<u8> {
    let block = ((page.len() as u32) << 3 | 1).to_le_bytes();
    let frame = [&b"\x28\xb5\x2f\xfd\xa0"[..], &(page.len() as u32).to_le_bytes(), &block[..3], page].concat();
    // Numbers are doubled, and seven bits are in each byte.
    let number = |number: usize| [(number << 1) as u8 & 0x7F | 0x80, (number >> 6) as u8 & 0x7F];
    let (plain, packed, count) = (number(page.len()), number(frame.len()), number(count.into()));
    let (dictionary, encoding) = [(true, 0), (false, 8), (false, 0)][usize::from(kind % 3)];
    let [begin, after] = match dictionary {
        true => [vec![0x15, 4, 0x15], [&[0x4C, 0x15][..], &count, &[0x15, 0, 0, 0]].concat()],
        false => {
            [vec![0x15, 0, 0x15], [&[0x2C, 0x15][..], &count, &[0x15, encoding << 1, 0x15, 6, 0x15, 6, 0, 0]].concat()]
        }
    };
    [&begin[..], &plain, &[0x15], &packed, &after, &frame].concat()
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}

const NOW: Millis = Millis(1_800_000_000_000);

/// Answers questions about a few events.
static ASKER: LazyLock<Asker> = LazyLock::new(|| {
    let block = |from: u64| -> Arc<dyn Part> {
        let mut block = Block::default();
        for number in from..from + 40 {
            let mut event = *Event::request(Millis(NOW.0 - 3_600_000 + number.cast_signed() * 50_000), Tick(0));
            event.subject.repository = ["gems", "maven", ""][number as usize % 3].into();
            event.subject.package = format!("org.example:lamp{}", number % 7).into();
            (event.path, event.layer) =
                (format!("/repository/gems/{number}"), Layer::ALL[number as usize % Layer::COUNT]);
            (event.status, event.outcome) =
                ([200, 404, 503][number as usize % 3], Some(Outcome::ALL[number as usize % 4]));
            (event.bytes_out, event.duration, event.weight) =
                (number << (number % 60), number * 1_000_003, 1 + number as u32 % 5);
            event.add(Op::TruthRead, number * 999_983);
            block.push(&Row::of(&event, RepositoryFacts { kind: "hosted", format: "gem" }));
        }
        Arc::new(block.narrow())
    };
    let all = vec![block(40), block(0)];
    let parts: Parts = Arc::new(move |_, _| all.clone());
    let (clock, log) = (Clock::at(NOW), Log::silent());
    Asker::start(AskerOptions { parts, rollups: None, memory_bytes: 64 << 20, clock, log })
});

/// A question in JSON or in the text form: it is written so that it can be read again, and has an answer.
pub(crate) fn question(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let question = match Asked::read(text, NOW) {
        Ok(Asked::Question(question)) => *question,
        Ok(Asked::Next { .. }) => return,
        Err(mistake) => return assert!(!mistake.to_string().is_empty()),
    };
    let written = question.to_string();
    // Written out, a question may be too long for the text form, which may have a quarter of all bytes.
    if written.len() as u64 <= QUESTION_BYTES_MAX / 4 {
        assert_eq!(Asked::read(&written, NOW), Ok(Asked::Question(Box::new(question.clone()))), "{written}");
    }
    let (done, answered) = mpsc::channel();
    ASKER.ask(Question { wait_ms: 60_000, ..question.clone() }, Caller::default(), move |answer| {
        drop(done.send(answer))
    });
    match answered.recv().expect("an answer") {
        Ok(answer) => {
            assert!(answer.rows.len() <= Question::ROWS_MAX && answer.complete <= 1.0);
            assert!(answer.rows.iter().all(|row| row.len() == answer.names.len()), "{written}");
            assert!(!serde_json::to_vec(&answer).expect("JSON").is_empty());
        }
        Err(NotAnswered::TooFew { message, .. }) => assert!(question.compare.is_some() && !message.is_empty()),
        Err(why) => panic!("{why}: {written}"),
    }
}
