//! Segments against a model, with damage, and with filters.

mod forms;

use super::*;
use crate::column::{Column, ColumnKind};
use crate::disk;
use crate::part::{Coded, Part, Span, Unreadable};
use crate::texts::Texts;
use proptest::prelude::*;
use proptest::test_runner::TestRng;
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows as a model has them: for each column all cells, as texts or as numbers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rows {
    pub(super) texts: HashMap<Column, Vec<String>>,
    pub(super) numbers: HashMap<Column, Vec<i64>>,
}

impl Rows {
    /// `count` rows whose texts come from a stock of `different` ones for each column. Some columns are the same in all rows.
    fn random(rng: &mut TestRng, count: usize, different: u32) -> Self {
        let mut rows = Self { texts: HashMap::new(), numbers: HashMap::new() };
        for column in Column::ALL {
            let constant = rng.random_range(0..3) == 0;
            let mut pick = || if constant { 7 } else { rng.random_range(0..different) };
            match column.kind() {
                ColumnKind::Text => {
                    let text = |at: u32| {
                        if at == 0 { String::new() } else { format!("{}ü{at}", "x".repeat(at as usize % 9)) }
                    };
                    rows.texts.insert(*column, (0..count).map(|_| text(pick())).collect());
                }
                ColumnKind::Number | ColumnKind::Duration | ColumnKind::Moment | ColumnKind::Id => {
                    let number = |at: u32| i64::from(at) * i64::from(at) * 1000 - 5;
                    rows.numbers.insert(*column, (0..count).map(|_| number(pick())).collect());
                }
            }
        }
        rows
    }

    /// The rows of several parts, in the order of time.
    fn join(parts: &[Self]) -> Self {
        let at: Vec<i64> = parts.iter().flat_map(|part| part.numbers[&Column::At].clone()).collect();
        let mut order: Vec<usize> = (0..at.len()).collect();
        order.sort_by_key(|place| at[*place]);
        let texts = |column: Column| parts.iter().flat_map(move |part| part.texts[&column].clone()).collect::<Vec<_>>();
        let numbers =
            |column: Column| parts.iter().flat_map(move |part| part.numbers[&column].clone()).collect::<Vec<_>>();
        let (with_texts, others): (Vec<Column>, Vec<Column>) = Column::ALL.iter().partition(|column| column.is_text());
        Self {
            texts: with_texts.into_iter().map(|column| (column, pick(&texts(column), &order))).collect(),
            numbers: others.into_iter().map(|column| (column, pick(&numbers(column), &order))).collect(),
        }
    }

    /// All cells of a part.
    fn of(part: &dyn Part) -> Result<Self, Unreadable> {
        let mut rows = Self { texts: HashMap::new(), numbers: HashMap::new() };
        for column in Column::ALL {
            if column.is_text() {
                let Coded { texts, codes } = part.texts(*column)?;
                rows.texts.insert(*column, codes.iter().map(|code| texts[*code as usize].to_owned()).collect());
            } else {
                rows.numbers.insert(*column, part.numbers(*column)?);
            }
        }
        Ok(rows)
    }
}

fn pick<T: Clone>(cells: &[T], order: &[usize]) -> Vec<T> {
    order.iter().map(|place| cells[*place].clone()).collect()
}

impl Part for Rows {
    fn span(&self) -> Span {
        let (at, weight) = (&self.numbers[&Column::At], &self.numbers[&Column::Weight]);
        let events = weight.iter().map(|weight| weight.unsigned_abs()).sum();
        let (from, to) = (at.iter().min().copied().unwrap_or(0), at.iter().max().copied().unwrap_or(0));
        Span { rows: at.len(), events, from, to }
    }

    fn may_have(&self, column: Column, text: &str) -> bool {
        self.texts[&column].iter().any(|cell| cell == text)
    }

    fn range(&self, column: Column) -> Option<(i64, i64)> {
        let cells = self.numbers.get(&column)?;
        Some((*cells.iter().min()?, *cells.iter().max()?))
    }

    fn texts(&self, column: Column) -> Result<Coded, Unreadable> {
        // A text that no row has comes first, as in parts that are a choice of rows.
        let mut texts = Texts::from_iter(["in no row"]);
        let mut places = HashMap::new();
        let codes = self.texts[&column].iter().map(|text| {
            *places.entry(text).or_insert_with(|| {
                texts.push(text);
                texts.len() as u32 - 1
            })
        });
        let codes = codes.collect();
        Ok(Coded { texts: Arc::new(texts), codes })
    }

    fn numbers(&self, column: Column) -> Result<Vec<i64>, Unreadable> {
        Ok(self.numbers[&column].clone())
    }
}

fn written(parts: &[Rows]) -> (tempfile::TempDir, PathBuf, Segment) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let segment = write(&path, &parts.iter().map(|part| part as &dyn Part).collect::<Vec<_>>()).unwrap();
    (folder, path, segment)
}

fn replace(path: &Path, bytes: &[u8]) {
    let mut file = disk::NewFile::begin(path).unwrap();
    file.write_all(bytes).unwrap();
    file.finish().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_segment_has_the_rows_of_all_its_parts_in_the_order_of_time(
        sizes in prop::collection::vec(1_usize..300, 1..4),
        different in prop_oneof![2_u32..10, 60_u32..2000],
        mut rng in any::<u64>().prop_perturb(|_, rng| rng),
    ) {
        let parts: Vec<Rows> = sizes.iter().map(|count| Rows::random(&mut rng, *count, different)).collect();
        let expected = Rows::join(&parts);
        let (_folder, path, segment) = written(&parts);
        let again = Segment::open(&path).unwrap();
        for segment in [&segment, &again] {
            prop_assert_eq!(segment.span(), expected.span());
            prop_assert_eq!(&Rows::of(segment).unwrap(), &expected);
            has_cells(segment, &expected, &[0, expected.span().rows / 2, expected.span().rows - 1]);
            for column in Column::ALL {
                prop_assert_eq!(segment.range(*column), expected.range(*column));
                if column.is_text() {
                    prop_assert!(expected.texts[column].iter().all(|text| segment.may_have(*column, text)));
                    let texts = segment.texts(*column).unwrap().texts;
                    let different: std::collections::HashSet<&str> = texts.iter().collect();
                    prop_assert_eq!(different.len(), texts.len());
                }
            }
        }
    }

    #[test]
    fn a_damaged_segment_is_unreadable_or_has_the_same_rows(
        damage in prop::collection::vec((any::<prop::sample::Index>(), 1_u8..), 1..4),
        cut in prop_oneof![Just(None), any::<prop::sample::Index>().prop_map(Some)],
        mut rng in any::<u64>().prop_perturb(|_, rng| rng),
    ) {
        let (_folder, path, segment) = written(&[Rows::random(&mut rng, 100, 90)]);
        let expected = Rows::of(&segment).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        for (place, with) in &damage {
            *place.get_mut(&mut bytes) ^= with;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        // The segment that is already open sees the damage as well.
        replace(&path, &bytes);
        for segment in [Ok(segment), Segment::open(&path)].into_iter().flatten() {
            prop_assert!(Rows::of(&segment).is_err() || Rows::of(&segment).unwrap() == expected);
            for column in Column::ALL.iter().filter(|column| column.is_text()) {
                prop_assert!(expected.texts[column].iter().all(|text| segment.may_have(*column, text)));
            }
        }
        if cut.is_some() {
            prop_assert!(Segment::open(&path).is_err());
        }
    }
}

/// Compares single cells.
fn has_cells(segment: &Segment, expected: &Rows, rows: &[usize]) {
    for (column, row) in Column::ALL.iter().flat_map(|column| rows.iter().map(move |row| (*column, *row))) {
        match column.is_text() {
            true => {
                assert_eq!(segment.text(column, row).unwrap(), expected.texts[&column][row], "{column:?}, row {row}")
            }
            false => assert_eq!(segment.number(column, row).unwrap(), expected.numbers[&column][row]),
        }
    }
}

#[test]
fn a_cell_is_found_in_any_page() {
    let mut rng = TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha);
    // Two pages and a part of a third one.
    let parts = [Rows::random(&mut rng, 66_000, 3000)];
    let (_folder, _path, segment) = written(&parts);
    has_cells(&segment, &Rows::join(&parts), &[0, 32_767, 32_768, 65_536, 65_999]);
    assert_eq!(
        (segment.text(Column::Path, 66_000).unwrap(), segment.number(Column::At, 66_000).unwrap()),
        (String::new(), 0)
    );
    assert_eq!((segment.text(Column::At, 0).unwrap(), segment.number(Column::Path, 0).unwrap()), (String::new(), 0));
}

/// `DAYLIGHT_GROWTH` is the number of rows (`make torture`: 1,000,000).
#[test]
#[expect(clippy::disallowed_methods, reason = "a test that increases the number for `make torture`")]
fn whatever_is_in_many_rows_every_segment_is_read_back() {
    const AT_MOST: usize = 20_000;
    let mut left = std::env::var("DAYLIGHT_GROWTH").map_or(6_000, |rows| rows.parse().unwrap());
    let mut rng = TestRng::deterministic_rng(Default::default());
    for (segment, longest) in [0, 8, 200].into_iter().cycle().enumerate() {
        let count = AT_MOST.min(left).min(1_000 << segment.min(10));
        if count == 0 {
            break;
        }
        left -= count;
        // At 0, all cells of most columns are the same; otherwise all texts and numbers are random.
        let mut rows = Rows::random(&mut rng, count, 2);
        if longest > 0 {
            let mut text = || {
                let length = rng.random_range(0..=longest);
                (0..length).map(|_| char::from(rng.random_range(b' '..=b'~'))).collect()
            };
            rows.texts.values_mut().for_each(|cells| cells.fill_with(&mut text));
            rows.numbers
                .iter_mut()
                .filter(|(column, _)| !matches!(column, Column::At | Column::Weight))
                .for_each(|(_, cells)| cells.fill_with(|| rng.random_range(i64::MIN / 2..i64::MAX / 2)));
        }
        let expected = Rows::join(std::slice::from_ref(&rows));
        let (_folder, path, _) = written(&[rows]);
        assert!(Rows::of(&Segment::open(&path).unwrap()).unwrap() == expected, "segment {segment} of {count} rows");
    }
}

#[test]
fn no_rows_make_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let failed = write(&folder.path().join("a.parquet"), &[]).unwrap_err();
    assert_eq!(failed.to_string(), "there are no events");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_text_that_no_row_has_is_mostly_known_to_be_missing() {
    let mut rows = Rows::random(&mut TestRng::deterministic_rng(Default::default()), 2000, 5);
    for column in [Column::Path, Column::Run, Column::More] {
        rows.texts.insert(column, (0..2000).map(|at| format!("/{at}")).collect());
    }
    let (_folder, _, segment) = written(&[rows]);
    for column in [Column::Path, Column::Run] {
        let passed = (2000..12_000).filter(|at| segment.may_have(column, &format!("/{at}"))).count();
        assert!(passed < 300, "{passed} of 10,000 pass the filter of `{}`", column.as_str());
    }
    assert!(!segment.may_have(Column::Layer, "moon"));
    assert!(segment.may_have(Column::More, "moon"), "without a filter any text may be there");
}
