//! The cells of the chosen rows of one part, read column by column when they are needed.

use crate::column::Column;
use crate::part::{Coded, Part, Unreadable};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use telemetry::give_way;

/// Rows after which a thread gives way.
const TURN: usize = 4096;

/// The places 0 to `count` in pieces. The thread gives way before each of them.
pub(super) fn turns(count: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(TURN).map(move |from| {
        give_way();
        from..count.min(from + TURN)
    })
}

/// The rows of a part that count.
#[derive(Debug, Clone)]
pub(super) enum Rows {
    /// All of them: so many.
    All(usize),
    /// The rows at these places.
    At(Vec<u32>),
}

impl Rows {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        match self {
            Rows::All(count) => *count,
            Rows::At(places) => places.len(),
        }
    }

    /// The place of a row of these in the part.
    pub(super) fn place(&self, row: usize) -> usize {
        match self {
            Rows::All(_) => row,
            Rows::At(places) => places[row] as usize,
        }
    }

    /// The values of these rows.
    pub(super) fn pick<'v, T: Copy>(&self, all: &'v [T]) -> Cow<'v, [T]> {
        let Rows::At(places) = self else { return Cow::Borrowed(all) };
        let mut picked = Vec::with_capacity(places.len());
        for turn in turns(places.len()) {
            picked.extend(places[turn].iter().map(|place| all[*place as usize]));
        }
        Cow::Owned(picked)
    }
}

/// The rows of a part that count, with their weights.
#[derive(Debug)]
pub(super) struct Chosen {
    /// The rows.
    pub(super) rows: Rows,
    /// How many events each row stands for. `None`: one each.
    pub(super) weights: Option<Vec<i64>>,
}

impl Chosen {
    /// The events for which a row stands.
    pub(super) fn weight(&self, row: usize) -> u64 {
        self.weights.as_ref().map_or(1, |weights| weights[row].max(0).cast_unsigned())
    }
}

/// The columns of one part.
#[derive(Debug)]
pub(super) struct Columns {
    part: Arc<dyn Part>,
    rows: usize,
    texts: HashMap<Column, Arc<Coded>>,
    numbers: HashMap<Column, Arc<Vec<i64>>>,
    /// The columns that stay in memory.
    cached: Arc<[Column]>,
    bytes: u64,
}

impl Columns {
    /// The columns of a part. `cached` stay in memory.
    pub(super) fn new(part: Arc<dyn Part>, cached: Arc<[Column]>) -> Self {
        let rows = part.span().rows;
        Self { part, rows, texts: HashMap::new(), numbers: HashMap::new(), cached, bytes: 0 }
    }

    /// The part.
    pub(super) fn part(&self) -> &dyn Part {
        &*self.part
    }

    /// An estimate of the memory of the columns that stay in it, in bytes.
    pub(super) fn memory(&self) -> usize {
        let texts = self.texts.values().map(|cells| cells.texts.bytes() + cells.codes.len() * size_of::<u32>());
        let numbers = self.numbers.values().map(|cells| cells.len() * size_of::<i64>());
        texts.chain(numbers).sum()
    }

    /// The part, to hold it while columns are read.
    pub(super) fn shared_part(&self) -> Arc<dyn Part> {
        self.part.clone()
    }

    /// The rows of the part.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The bytes that were read from the disk.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads a column that stays in memory.
    pub(super) fn load(&mut self, column: Column) -> Result<(), Unreadable> {
        if column.is_text() { self.texts(column).map(drop) } else { self.numbers(column).map(drop) }
    }

    /// The cells of a column of texts.
    pub(super) fn texts(&mut self, column: Column) -> Result<Arc<Coded>, Unreadable> {
        if let Some(known) = self.texts.get(&column) {
            return Ok(known.clone());
        }
        give_way();
        let read = Arc::new(self.part.texts(column)?);
        // Copies: the compiler compares many of them at once.
        let places = read.codes.iter().copied().max().map_or(0, |highest| highest as usize + 1);
        self.check(column, read.codes.len(), places <= read.texts.len())?;
        if self.cached.contains(&column) {
            self.texts.insert(column, read.clone());
        }
        Ok(read)
    }

    /// The cells of a column without texts.
    pub(super) fn numbers(&mut self, column: Column) -> Result<Arc<Vec<i64>>, Unreadable> {
        if let Some(known) = self.numbers.get(&column) {
            return Ok(known.clone());
        }
        give_way();
        let read = Arc::new(self.part.numbers(column)?);
        self.check(column, read.len(), true)?;
        if self.cached.contains(&column) {
            self.numbers.insert(column, read.clone());
        }
        Ok(read)
    }

    /// Counts a column that was read. Its cells must be those of all rows.
    fn check(&mut self, column: Column, cells: usize, valid: bool) -> Result<(), Unreadable> {
        self.bytes += self.part.bytes(column);
        if cells == self.rows && valid {
            return Ok(());
        }
        let cause = match valid {
            true => format!("it has {cells} cells for {} rows", self.rows),
            false => "a cell has no text".to_owned(),
        };
        Err(Unreadable { what: format!("column `{}`", column.as_str()), cause })
    }
}
