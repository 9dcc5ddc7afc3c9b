//! Which groups a question keeps when there are too many: the ones that lead so far.
//!
//! A table that is full keeps the better half of its groups. After that a new group is admitted only if it does better in one part than
//! the best group that was not kept did in all. So a group that leads is kept, whenever it begins to lead, and a path that was requested
//! once does not displace it.

use super::aggregates::{Aggregates, NO_GROUP};
use super::columns::{Chosen, Columns, turns};
use super::groups::{Finder, Groups};
use super::keys::{Local, fold};
use super::question::{Measure, Question};
use crate::column::Column;
use crate::part::Unreadable;

/// The groups of a question with their figures.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) groups: Groups,
    pub(super) aggregates: Aggregates,
    most: usize,
    leads: Leads,
    /// Each row is a group of its own.
    unique: bool,
    /// The figure of the best group that was not kept.
    floor: Option<f64>,
    left_out: u64,
}

/// By which figure groups are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leads {
    Events,
    Sum(Column),
    Most(Column),
    /// The question asks for the smallest groups. The ones are kept that were admitted first.
    First,
}

impl Table {
    /// A table for at most so many groups of a question. It counts these measures.
    pub(super) fn new(question: &Question, measures: &[Measure], most: usize) -> Self {
        let leads = match question.measures.get(question.order.measure) {
            _ if question.order.ascending => Leads::First,
            Some(Measure::Sum(column)) => Leads::Sum(*column),
            Some(Measure::Max(column)) => Leads::Most(*column),
            _ => Leads::Events,
        };
        let by: Vec<Column> = question.by.iter().map(|key| key.0).collect();
        let unique = by.contains(&Column::Id);
        let (groups, aggregates) = (Groups::new(&by), Aggregates::new(measures).seeded(question.seed));
        Self { groups, aggregates, most, leads, unique, floor: None, left_out: 0 }
    }

    /// An estimate of the memory that is used, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.groups.bytes() + self.aggregates.bytes()
    }

    /// Events that the filter chose and that are in no group.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Whether each group has one event.
    pub(super) fn is_unique(&self) -> bool {
        self.unique
    }

    /// The columns that are read to count.
    pub(super) fn columns(&self, columns: &mut Vec<Column>) {
        self.aggregates.columns(columns);
    }

    /// A column and the least cell with which a row can be in the answer.
    pub(super) fn least(&self) -> Option<(Column, i64)> {
        match (self.leads, self.floor) {
            (Leads::Most(column), Some(floor)) if self.unique => Some((column, floor as i64)),
            _ => None,
        }
    }

    /// The group of each chosen row of a part. Groups are admitted while there is room. If groups that were there are
    /// not kept, `moved` gets the new number of each.
    pub(super) fn admit(
        &mut self,
        columns: &mut Columns,
        chosen: &Chosen,
        moved: &mut impl FnMut(&[u32]),
    ) -> Result<Vec<u32>, Unreadable> {
        if self.groups.by().is_empty() {
            let group = self.groups.admit(std::iter::empty());
            self.aggregates.grow(self.groups.len());
            return Ok(vec![group; chosen.rows.len()]);
        }
        let by = self.groups.by().to_vec();
        let keys: Result<Vec<Local>, Unreadable> =
            by.iter().map(|column| Local::of(*column, columns, &chosen.rows)).collect();
        let keys = keys?;
        let folded = fold(&keys, chosen.rows.len());
        let mut finder = Finder::new(&keys);
        let mut number = vec![NO_GROUP; folded.first.len()];
        let mut new = Vec::new();
        for turn in turns(folded.first.len()) {
            for place in turn {
                let Some(row) = folded.first[place] else { continue };
                let found = finder.keys(&self.groups, row as usize);
                match self.groups.find(&found) {
                    Some(group) => number[place] = group,
                    None => new.push(place as u32),
                }
            }
        }
        let crowded = self.groups.len() + new.len() > self.most;
        if crowded {
            let figures = self.figures(&folded.numbers, folded.first.len(), columns, chosen)?;
            self.choose(&mut new, &figures, |renumbered| {
                let known = number.iter_mut().filter(|number| **number != NO_GROUP);
                known.for_each(|number| *number = renumbered[*number as usize]);
                moved(renumbered);
            });
        }
        for place in new {
            if let Some(row) = folded.first[place as usize] {
                number[place as usize] = self.groups.admit(finder.values(row as usize));
            }
        }
        self.aggregates.grow(self.groups.len());
        let groups: Vec<u32> = folded.numbers.iter().map(|place| number[*place as usize]).collect();
        if crowded && self.least().is_none() {
            let out = groups.iter().enumerate().filter(|(_, group)| **group == NO_GROUP);
            self.left_out += out.map(|(row, _)| chosen.weight(row)).sum::<u64>();
        }
        Ok(groups)
    }

    /// Keeps only the new groups for which there is room, after room was made. `figures` are those of the new groups in this part.
    fn choose(&mut self, new: &mut Vec<u32>, figures: &[f64], moved: impl FnOnce(&[u32])) {
        if self.leads == Leads::First {
            return new.truncate(self.most.saturating_sub(self.groups.len()));
        }
        new.retain(|place| self.exceeds(figures[*place as usize]));
        if self.groups.len() + new.len() > self.most && self.groups.len() > self.most / 2 {
            moved(&self.keep(self.most / 2));
            new.retain(|place| self.exceeds(figures[*place as usize]));
        }
        let room = self.most.saturating_sub(self.groups.len());
        if new.len() > room {
            let better = |a: &u32, b: &u32| figures[*b as usize].total_cmp(&figures[*a as usize]);
            let (_, cut, _) = new.select_nth_unstable_by(room, better);
            self.raise(figures[*cut as usize]);
            new.truncate(room);
        }
    }

    /// Whether a new group does well enough in one part.
    fn exceeds(&self, figure: f64) -> bool {
        self.floor.is_none_or(|floor| figure > floor)
    }

    /// A group with this figure was not kept.
    fn raise(&mut self, figure: f64) {
        self.floor = Some(self.floor.map_or(figure, |floor| floor.max(figure)));
    }

    /// Keeps the `count` groups that lead. Returns the new number of each group.
    pub(super) fn keep(&mut self, count: usize) -> Vec<u32> {
        let aggregates = &self.aggregates;
        let figure = |group: u32| match self.leads {
            Leads::Events => aggregates.events(group as usize) as f64,
            Leads::Sum(column) => aggregates.sum_of(column, group as usize) as f64,
            Leads::Most(column) => aggregates.most_of(column, group as usize) as f64,
            Leads::First => -f64::from(group),
        };
        let mut kept: Vec<(f64, u32)> = (0..self.groups.len() as u32).map(|group| (figure(group), group)).collect();
        if count < kept.len() {
            let (_, cut, _) = kept.select_nth_unstable_by(count, |a, b| b.0.total_cmp(&a.0));
            let cut = cut.0;
            self.raise(cut);
            if self.least().is_none() {
                let dropped = kept[count..].iter().map(|(_, group)| self.aggregates.events(*group as usize));
                self.left_out += dropped.sum::<u64>();
            }
            kept.truncate(count);
        }
        let mut kept: Vec<u32> = kept.into_iter().map(|(_, group)| group).collect();
        kept.sort_unstable();
        let mut renumbered = vec![NO_GROUP; self.groups.len()];
        kept.iter().enumerate().for_each(|(place, group)| renumbered[*group as usize] = place as u32);
        self.groups.keep(&kept);
        self.aggregates.keep(&kept);
        renumbered
    }

    /// The figure by which groups are kept, for each number of a row in this part.
    fn figures(
        &self,
        numbers: &[u32],
        count: usize,
        columns: &mut Columns,
        chosen: &Chosen,
    ) -> Result<Vec<f64>, Unreadable> {
        let (column, most) = match self.leads {
            Leads::Events | Leads::First => (None, false),
            Leads::Sum(column) => (Some(column), false),
            Leads::Most(column) => (Some(column), true),
        };
        let cells = column.map(|column| columns.numbers(column)).transpose()?;
        let cells = cells.as_ref().map(|cells| chosen.rows.pick(cells));
        let mut figures = vec![if most { f64::NEG_INFINITY } else { 0.0 }; count];
        for turn in turns(numbers.len()) {
            for row in turn {
                let cell = cells.as_ref().map_or(1.0, |cells| cells[row] as f64);
                let figure = &mut figures[numbers[row] as usize];
                *figure = if most { figure.max(cell) } else { *figure + cell * chosen.weight(row) as f64 };
            }
        }
        Ok(figures)
    }
}
