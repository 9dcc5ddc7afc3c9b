//! Segments of stored events and files of counts are Parquet files that other engines read to the same figures.

mod counts;

use crate::world::engines;
use insight::{Block, Coded, Column, ColumnKind, Part, RepositoryFacts, Row, segment};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use telemetry::{Event, EventId, Kind, MemberRecord, MemberSaid, Millis, Op, Outcome};

/// The rows of one part. There are three, so texts of several lists come together in the file.
const ROWS: u64 = 5000;

/// An event whose values follow from its number.
fn event(number: u64) -> Event {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
    let mut event = Event::default();
    (event.kind, event.method) = (Kind::Request, "GET");
    // Some events come late, as those of long requests do.
    event.at = Millis(1_800_000_000_000 + number.cast_signed() * 3 - (mixed % 500).cast_signed());
    event.id = EventId(event.at.0.cast_unsigned() << 22 | number & 1023);
    let package = mixed % 1000 * (mixed % 7) / 6;
    event.subject.repository = ["gems", "maven", ""][mixed as usize % 3].into();
    event.subject.package = format!("paket-ü{package}").into();
    event.path = format!("/gems/info/{package}/{}", mixed % 5);
    event.agent =
        format!("bundler/2.5.{} rubygems/3.5.6 ruby/3.3.0 command/install {:016x}", mixed % 4, mixed % 90).into();
    (event.status, event.outcome) =
        if mixed.is_multiple_of(50) { (502, Some(Outcome::Failed)) } else { (200, Some(Outcome::Answered)) };
    event.bytes_out = mixed % 1_000_003;
    event.add(Op::PageLookup, mixed % 30_000);
    event.add(Op::TruthRead, mixed % 7_000_000);
    // Rounding makes the unaccounted time negative now and then.
    event.duration = mixed % 30_000 + mixed % 7_000_000 + mixed % 3000;
    event.first_byte = event.duration;
    event.weight = 1 + (mixed % 3) as u32 * 49;
    if mixed.is_multiple_of(11) {
        event.absorb(MemberRecord { nanos: mixed % 900_000, ..MemberRecord::new("mirror", MemberSaid::Hit, None) });
    }
    event
}

/// The figures of the rows in memory, in the form in which `read.py` prints those of the file.
fn figures(parts: &[Block], path: &str) -> Value {
    let (mut sums, mut texts) = (BTreeMap::new(), BTreeMap::new());
    let numbers = |column| parts.iter().flat_map(move |part| part.numbers(column).unwrap()).collect::<Vec<i64>>();
    let words = |column| {
        let words = |Coded { texts, codes }: Coded| {
            codes.iter().map(|code| texts[*code as usize].to_owned()).collect::<Vec<_>>()
        };
        parts.iter().flat_map(move |part| words(part.texts(column).unwrap())).collect::<Vec<String>>()
    };
    for column in Column::ALL {
        if column.kind() == ColumnKind::Text {
            let words = words(*column);
            let filled = words.iter().filter(|word| !word.is_empty()).count();
            texts.insert(column.as_str(), [filled, words.iter().collect::<HashSet<_>>().len()]);
        } else {
            sums.insert(column.as_str(), numbers(*column).into_iter().map(i128::from).sum::<i128>().to_string());
        }
    }
    let mut durations = numbers(Column::Duration);
    durations.sort_unstable();
    let quantile = |percent: usize| durations[(durations.len() * percent).div_ceil(100) - 1];
    let mut bytes: HashMap<String, i64> = HashMap::new();
    let paths = words(Column::Path);
    paths
        .iter()
        .zip(numbers(Column::BytesOut))
        .for_each(|(path, sent)| *bytes.entry(path.clone()).or_default() += sent);
    let mut top: Vec<(String, i64)> = bytes.into_iter().collect();
    top.sort_by(|(path, sent), (other, more)| more.cmp(sent).then(path.cmp(other)));
    top.truncate(20);
    json!({
        "rows": durations.len(),
        "sums": sums,
        "texts": texts,
        "quantiles": [quantile(50), quantile(95), quantile(99)],
        "top": top,
        "found": paths.iter().filter(|found| *found == path).count(),
    })
}

#[test]
fn pyarrow_and_duckdb_read_a_segment_to_the_same_figures() {
    let facts = RepositoryFacts { kind: "hosted", format: "gem" };
    let part = |part: u64| {
        let mut block = Block::default();
        (part * ROWS..(part + 1) * ROWS).for_each(|number| block.push(&Row::of(&event(number), facts)));
        block.narrow()
    };
    let parts: Vec<Block> = (0..3).map(part).collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("events.parquet");
    segment::write(&file, &parts.iter().map(|part| part as &dyn Part).collect::<Vec<_>>()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/segments/read.py");
    // Few rows have the first path, and none has the second one, which the Bloom filter tells.
    for path in [&event(7).path, "/gems/info/none"] {
        let read = engines(&script, &[file.to_str().unwrap(), path]);
        let expected = figures(&parts, path);
        assert_eq!(expected["found"] == 0, path.ends_with("none"));
        assert_eq!(read["pyarrow"], expected, "PyArrow");
        assert_eq!(read["duckdb"], expected, "DuckDB");
    }
}
