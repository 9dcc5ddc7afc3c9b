//! The files and folders of one level of a tree of paths, without reading the rows further below: after the first row of a folder
//! comes the first one behind it.

use super::Store;
use crate::cache::{Cache, CachedFile, Origin};
use crate::error::Result;
use crate::journal::entry::{Entry, State};
use crate::journal::record::{RepositoryId, Seq};
use crate::pool::lane::Lane;
use crate::truth::as_of::CatalogAsOf;
use crate::truth::catalog::Catalog;
use telemetry::{Event, Op, give_way};

/// Number of rows that are read at once where files follow each other.
const FILES: usize = 64;
/// Number of rows of a folder in which a row of an earlier moment is looked for.
const ROWS_THEN: usize = 64;

/// A part of one level: the children of a folder, at most `limit`, in the byte order of their names.
#[derive(Debug, Clone)]
pub struct LevelRequest {
    /// The folder, without a slash at the end; empty: the root.
    pub folder: String,
    /// The name of the last child of the part before; empty: this is the first part.
    pub after: String,
    /// The most children.
    pub limit: usize,
}

/// A file, or a folder with files at or below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Child<T> {
    /// Its name in the folder. That of a folder ends with a slash.
    pub name: String,
    /// The row of the file, or the first row below the folder, by path. Of a moment: `None` if none of the first rows below the
    /// folder existed then.
    pub first: Option<T>,
}

impl Store {
    /// The children of a folder of a hosted tree, from its live entries.
    pub async fn children(
        &self,
        id: RepositoryId,
        level: LevelRequest,
        event: &mut Event,
    ) -> Result<Vec<Child<Entry>>> {
        let read = move |truth: &mut dyn Catalog| {
            let above = level.above();
            let rows = |after: &str, limit| truth.live_entries_beginning(id, &above, after, limit);
            let children = level.walk(rows, |entry| &entry.key)?;
            Ok(children.into_iter().map(|(name, first)| Child { name, first: Some(first) }).collect())
        };
        self.read(Lane::Index, event, read).await
    }

    /// The same directly after the change `through`. Children that did not exist then are left out, except folders of which too
    /// many rows would have to be read. There may be fewer than `limit` although more follow: the name of the last child that was
    /// read is returned too, unless it is the last one of the folder.
    pub async fn children_then(
        &self,
        id: RepositoryId,
        level: LevelRequest,
        through: Seq,
        event: &mut Event,
    ) -> Result<(Vec<Child<Entry>>, Option<String>)> {
        let read = move |truth: &mut dyn Catalog| {
            let above = level.above();
            let children =
                level.walk(|after, limit| truth.entries_beginning(id, &above, after, limit), |entry| &entry.key)?;
            let last = children.last().filter(|_| children.len() == level.limit).map(|(name, _)| name.clone());
            let mut then = Vec::with_capacity(children.len());
            for (name, first) in children {
                give_way();
                let below = if name.ends_with('/') { format!("{above}{name}") } else { first.key };
                let limit = if name.ends_with('/') { ROWS_THEN } else { 1 };
                let now = truth.entries_beginning(id, &below, "", limit)?.len();
                let rows = CatalogAsOf::new(truth, through).entries_beginning(id, &below, limit)?;
                let first = rows.into_iter().find(|row| row.state == State::Live);
                if first.is_some() || now == ROWS_THEN {
                    then.push(Child { name, first });
                }
            }
            Ok((then, last))
        };
        self.read(Lane::Index, event, read).await
    }

    /// The children of a folder of an upstream, from its cached files, each with the path of its row.
    pub async fn cached_children(
        &self,
        of: Origin,
        level: LevelRequest,
        event: &mut Event,
    ) -> Result<Vec<Child<(String, CachedFile)>>> {
        let read = move |cache: &mut Cache| {
            let above = level.above();
            let children = level.walk(|after, limit| cache.files(of, &above, after, limit), |(path, _)| path)?;
            Ok(children.into_iter().map(|(name, first)| Child { name, first: Some(first) }).collect())
        };
        self.cached(Op::CacheRead, event, read).await
    }
}

impl LevelRequest {
    /// The prefix of all paths below the folder.
    fn above(&self) -> String {
        if self.folder.is_empty() { String::new() } else { format!("{}/", self.folder) }
    }

    /// Reads the children with `rows`, which returns at most so many rows after a path, in byte order.
    fn walk<T>(
        &self,
        mut rows: impl FnMut(&str, usize) -> Result<Vec<T>>,
        path: impl Fn(&T) -> &str,
    ) -> Result<Vec<(String, T)>> {
        let above = self.above();
        let behind = |name: &str| match name.ends_with('/') {
            // No path has the last character of Unicode, so this is behind all paths below the folder.
            true => format!("{above}{name}{}", char::MAX),
            false => format!("{above}{name}"),
        };
        let mut after = if self.after.is_empty() { String::new() } else { behind(&self.after) };
        let (mut children, mut step) = (Vec::new(), 1);
        while children.len() < self.limit {
            let read = rows(&after, step)?;
            let last = read.len() < step;
            for row in read {
                if path(&row) <= after.as_str() || children.len() == self.limit {
                    continue;
                }
                let Some(rest) = path(&row).strip_prefix(above.as_str()) else { continue };
                // A slash after a `?` ends no folder.
                let folder = rest.split_once('/').map(|(folder, _)| folder).filter(|folder| !folder.contains('?'));
                let name = folder.map_or_else(|| rest.to_owned(), |folder| format!("{folder}/"));
                step = if name.ends_with('/') { 1 } else { (step * 2).min(FILES) };
                after = behind(&name);
                children.push((name, row));
            }
            if last {
                break;
            }
        }
        Ok(children)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn the_parts_of_a_level_together_are_what_all_paths_say(
            paths in proptest::collection::btree_set("[ab.]{1,2}(/[ab-]{1,2}){0,3}", 0..40),
            folder in "([ab]{1,2}(/[ab]{1,2})?)?",
            limit in 1_usize..5,
        ) {
            let all: Vec<&String> = paths.iter().collect();
            let above = if folder.is_empty() { String::new() } else { format!("{folder}/") };
            let mut expected: BTreeMap<String, String> = BTreeMap::new();
            for path in &all {
                let Some(rest) = path.strip_prefix(&above) else { continue };
                let name = rest.split_once('/').map_or_else(|| rest.to_owned(), |(first, _)| format!("{first}/"));
                expected.entry(name).or_insert_with(|| (*path).clone());
            }
            let (mut found, mut after) = (Vec::new(), String::new());
            loop {
                let level = LevelRequest { folder: folder.clone(), after: after.clone(), limit };
                let rows = |after: &str, limit| {
                    let rest = all.iter().filter(|path| path.starts_with(&above) && path.as_str() > after);
                    Ok(rest.take(limit).map(|path| (*path).clone()).collect())
                };
                let part = level.walk(rows, |path: &String| path).unwrap();
                prop_assert!(part.len() <= limit);
                let Some((last, _)) = part.last() else { break };
                after.clone_from(last);
                found.extend(part);
            }
            prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
        }
    }
}
