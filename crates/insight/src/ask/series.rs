//! Figures for each stretch of time and each group.

use super::aggregates::{Aggregates, NO_GROUP};
use super::cells::Cells;
use super::columns::{Chosen, Columns, turns};
use super::keys::{Local, fold};
use super::question::Question;
use crate::column::Column;
use crate::hash::FastMap;
use crate::part::Unreadable;

/// Cells: a stretch of time of a group, with figures.
#[derive(Debug)]
pub(super) struct Series {
    /// The length of a stretch in milliseconds.
    per: i64,
    cells: Vec<Cell>,
    places: FastMap<Cell, u32>,
    pub(super) aggregates: Aggregates,
}

/// A stretch of time of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Cell {
    /// The stretch begins so many stretches after 1970-01-01T00:00:00Z.
    pub(super) stretch: i64,
    /// The number of the group.
    pub(super) group: u32,
}

/// The figures of some groups for each stretch of time.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct SeriesFigures {
    /// The stretch and the group of each cell.
    cells: Vec<(i64, u32)>,
    counted: Vec<Cells>,
}

/// An estimate of the memory of a cell without its figures, in bytes.
const CELL_BYTES: usize = 3 * size_of::<Cell>() + 8;

impl Series {
    /// The series of a question that has one.
    pub(super) fn new(question: &Question) -> Option<Self> {
        let per = i64::try_from(question.per).ok().filter(|per| *per > 0)?;
        let aggregates = Aggregates::new(&question.measures).seeded(question.seed);
        Some(Self { per, cells: Vec::new(), places: FastMap::default(), aggregates })
    }

    /// An estimate of the memory that is used, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.cells.len() * CELL_BYTES + self.aggregates.bytes()
    }

    /// The cells, numbered as in the aggregates.
    pub(super) fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The length of a stretch in milliseconds.
    pub(super) fn per(&self) -> i64 {
        self.per
    }

    /// Counts the chosen rows of a part. `groups` has the group of each, below `count`.
    pub(super) fn count(
        &mut self,
        columns: &mut Columns,
        chosen: &Chosen,
        groups: &[u32],
        count: usize,
    ) -> Result<(), Unreadable> {
        let at = columns.numbers(Column::At)?;
        let at = chosen.rows.pick(&at);
        let mut stretches = Vec::with_capacity(at.len());
        turns(at.len()).for_each(|turn| stretches.extend(at[turn].iter().map(|at| at.div_euclid(self.per))));
        // The number behind the last group is for rows without one.
        let coded = groups.iter().map(|group| (*group).min(count as u32)).collect();
        let keys = [Local::numbers(&stretches), Local::coded(coded, count + 1)];
        let folded = fold(&keys, groups.len());
        let number = |first: &Option<u32>| match first.map(|row| row as usize) {
            Some(row) if groups[row] != NO_GROUP => self.cell(Cell { stretch: stretches[row], group: groups[row] }),
            _ => NO_GROUP,
        };
        let number: Vec<u32> = folded.first.iter().map(number).collect();
        let cells: Vec<u32> = folded.numbers.iter().map(|place| number[*place as usize]).collect();
        self.aggregates.grow(self.cells.len());
        self.aggregates.count(columns, chosen, &cells)
    }

    fn cell(&mut self, cell: Cell) -> u32 {
        *self.places.entry(cell).or_insert_with(|| {
            self.cells.push(cell);
            self.cells.len() as u32 - 1
        })
    }

    /// The cells of these groups, which get the numbers of their places, with their counts.
    pub(super) fn of(&self, groups: &[u32]) -> SeriesFigures {
        let places: FastMap<u32, u32> = groups.iter().copied().zip(0..).collect();
        let kept = |(at, cell): (u32, &Cell)| Some((at, (cell.stretch, *places.get(&cell.group)?)));
        let (kept, cells): (Vec<u32>, _) = (0..).zip(&self.cells).filter_map(kept).unzip();
        SeriesFigures { cells, counted: self.aggregates.of(&kept) }
    }

    /// Whether these are such cells, of so many groups.
    pub(super) fn fits(&self, groups: usize, other: &SeriesFigures) -> bool {
        let is_known = |(_, group): &(i64, u32)| (*group as usize) < groups;
        other.cells.iter().all(is_known) && self.aggregates.fits(other.cells.len(), &other.counted)
    }

    /// Adds cells that fit. `groups` has the number here of each of their groups.
    pub(super) fn merge(&mut self, groups: &[u32], other: &SeriesFigures) {
        let cell = |(stretch, group): &(i64, u32)| Cell { stretch: *stretch, group: groups[*group as usize] };
        let places: Vec<u32> = other.cells.iter().map(|known| self.cell(cell(known))).collect();
        self.aggregates.grow(self.cells.len());
        self.aggregates.merge(&places, &other.counted);
    }

    /// The groups have new numbers. Cells of groups that are gone are dropped.
    pub(super) fn renumber(&mut self, renumbered: &[u32]) {
        let group = |cell: &Cell| renumbered[cell.group as usize];
        let kept = |place: &u32| group(&self.cells[*place as usize]) != NO_GROUP;
        let kept: Vec<u32> = (0..self.cells.len() as u32).filter(kept).collect();
        self.aggregates.keep(&kept);
        let cells = kept.iter().map(|place| self.cells[*place as usize]);
        self.cells = cells.map(|cell| Cell { group: group(&cell), ..cell }).collect();
        self.places = self.cells.iter().zip(0..).map(|(cell, place)| (*cell, place)).collect();
    }
}
