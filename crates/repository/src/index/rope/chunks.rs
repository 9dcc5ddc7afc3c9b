//! Files with the entries of units in the order of their names, in chunks of about a thousand units. A change of a unit
//! makes its chunk again; all other chunks stay.

#[cfg(test)]
mod tests;

use crate::error::Result;
use crate::index::rope::coded::Coded;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Number of units in a new chunk. A chunk of twice that size is split.
pub(crate) const UNITS: usize = 1000;

/// The entries of a unit in one of the files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ChunkPart {
    pub(crate) bytes: Vec<u8>,
    /// The number of entries.
    pub(crate) count: u32,
}

/// A unit and its entries in each file.
type Said<const N: usize> = (Box<str>, [ChunkPart; N]);

/// N files, each with entries for the same units (the names of gems), in chunks.
#[derive(Debug)]
pub(crate) struct Chunks<const N: usize>(Vec<Chunk<N>>);

#[derive(Debug)]
struct Chunk<const N: usize> {
    /// In the order of their names; never empty.
    units: Vec<Unit<N>>,
    files: [Coded; N],
}

/// A unit in a chunk. The lengths of its parts give their offsets in the decoded chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Unit<const N: usize> {
    name: Box<str>,
    parts: [Extent; N],
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Extent {
    len: u32,
    count: u32,
}

/// The saved form of a chunk: its units, and for each file the encoded length, the checksum and the length.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Written {
    units: Vec<(String, Vec<Extent>)>,
    files: Vec<(usize, u32, u64)>,
}

impl<const N: usize> Chunks<N> {
    pub(crate) fn new() -> Self {
        Self(Vec::new())
    }

    /// Whether a unit has an entry.
    pub(crate) fn holds(&self, name: &str) -> bool {
        let chunk = self.0.get(self.place(name));
        chunk.is_some_and(|chunk| chunk.units.binary_search_by(|unit| (*unit.name).cmp(name)).is_ok())
    }

    /// The approximate size in memory, in bytes.
    pub(crate) fn weight(&self) -> u64 {
        const BESIDE_NAME: usize = 16;
        let each = |chunk: &Chunk<N>| {
            let names = chunk.units.iter().map(|unit| size_of::<Unit<N>>() + unit.name.len() + BESIDE_NAME);
            names.sum::<usize>() + chunk.files.iter().map(|file| file.deflate.len()).sum::<usize>()
        };
        self.0.iter().map(each).sum::<usize>() as u64
    }

    /// The number of entries in a file, and its chunks.
    pub(crate) fn file(&self, at: usize) -> (usize, Vec<&Coded>) {
        let counts = self.0.iter().flat_map(|chunk| &chunk.units).map(|unit| unit.parts[at].count as usize);
        (counts.sum(), self.0.iter().map(|chunk| &chunk.files[at]).collect())
    }

    /// Appends a chunk. `units` are sorted, and their names come after all present ones.
    pub(crate) fn append(&mut self, units: Vec<(String, [ChunkPart; N])>) -> Result<()> {
        let said = units.into_iter().filter(|(_, parts)| !silent(parts)).map(|(name, parts)| (name.into(), parts));
        let units: Vec<_> = said.collect();
        if !units.is_empty() {
            self.0.push(Chunk::of(&units, None)?);
        }
        Ok(())
    }

    /// Replaces the entries of units. Units without entries are removed. Returns whether anything changed.
    pub(crate) fn change(&mut self, changes: BTreeMap<String, [ChunkPart; N]>) -> Result<bool> {
        let mut by_chunk: BTreeMap<usize, Vec<(String, [ChunkPart; N])>> = BTreeMap::new();
        for (name, parts) in changes {
            by_chunk.entry(self.place(&name)).or_default().push((name, parts));
        }
        let mut changed = false;
        // From the end, because chunks may be split or removed.
        for (place, changes) in by_chunk.into_iter().rev() {
            let before = self.0.get(place);
            let mut units = before.map_or(Ok(Vec::new()), Chunk::open)?;
            let mut differs = false;
            for (name, parts) in changes {
                match units.binary_search_by(|(held, _)| (**held).cmp(&name)) {
                    Ok(at) if units[at].1 == parts => continue,
                    Ok(at) if silent(&parts) => drop(units.remove(at)),
                    Ok(at) => units[at].1 = parts,
                    Err(_) if silent(&parts) => continue,
                    Err(at) => units.insert(at, (name.into(), parts)),
                }
                differs = true;
            }
            if differs {
                let each = if units.len() < 2 * UNITS { units.len().max(1) } else { units.len().div_ceil(2) };
                let made = units.chunks(each).map(|units| Chunk::of(units, before)).collect::<Result<Vec<_>, _>>()?;
                self.0.splice(place..(place + 1).min(self.0.len()), made);
                changed = true;
            }
        }
        Ok(changed)
    }

    /// The index of the chunk that contains or would contain a name.
    fn place(&self, name: &str) -> usize {
        self.0.partition_point(|chunk| *chunk.units[0].name <= *name).saturating_sub(1)
    }

    /// The saved form.
    pub(crate) fn parts(&self) -> (Vec<Written>, Vec<Bytes>) {
        let written = |chunk: &Chunk<N>| Written {
            units: chunk.units.iter().map(|unit| (unit.name.to_string(), unit.parts.to_vec())).collect(),
            files: chunk.files.iter().map(|file| (file.deflate.len(), file.crc, file.len)).collect(),
        };
        let files = self.0.iter().flat_map(|chunk| chunk.files.iter().map(|file| file.deflate.clone()));
        (self.0.iter().map(written).collect(), files.collect())
    }

    /// Reads the saved form; `None`: it is not valid.
    pub(crate) fn read(written: Vec<Written>, mut bytes: Bytes) -> Option<Self> {
        let mut chunks = Vec::with_capacity(written.len());
        for Written { units, files } in written {
            let file = |(len, crc, whole)| {
                (len <= bytes.len()).then(|| Coded { deflate: bytes.split_to(len), crc, len: whole })
            };
            let files = files.into_iter().map(file).collect::<Option<Vec<_>>>()?.try_into().ok()?;
            let unit =
                |(name, parts): (String, Vec<Extent>)| Some(Unit { name: name.into(), parts: parts.try_into().ok()? });
            let units = units.into_iter().map(unit).collect::<Option<Vec<_>>>()?;
            chunks.push(Chunk { units, files });
        }
        let names = chunks.iter().flat_map(|chunk| &chunk.units).map(|unit| &unit.name);
        let whole = chunks.iter().all(Chunk::is_whole) && names.is_sorted_by(|a, b| a < b) && bytes.is_empty();
        whole.then_some(Self(chunks))
    }
}

impl<const N: usize> Chunk<N> {
    /// A chunk of these units, of which there is at least one. Files that are unchanged since `before` are not encoded
    /// again.
    fn of(units: &[Said<N>], before: Option<&Self>) -> Result<Self> {
        let mut files: [Coded; N] = std::array::from_fn(|_| Coded::default());
        for (at, file) in files.iter_mut().enumerate() {
            let whole = units.iter().map(|(_, parts)| &parts[at].bytes[..]).collect::<Vec<_>>().concat();
            let before = before.map(|before| &before.files[at]);
            let same = before.filter(|file| file.len == whole.len() as u64 && file.crc == crc32fast::hash(&whole));
            *file = match same {
                Some(same) if same.bytes()? == whole => same.clone(),
                _ => Coded::of(&whole)?,
            };
        }
        let extent = |part: &ChunkPart| Extent { len: part.bytes.len() as u32, count: part.count };
        let unit = |(name, parts): &(Box<str>, [ChunkPart; N])| Unit {
            name: name.clone(),
            parts: parts.each_ref().map(extent),
        };
        Ok(Self { units: units.iter().map(unit).collect(), files })
    }

    /// Decodes the units and their entries.
    fn open(&self) -> Result<Vec<Said<N>>> {
        let mut wholes = Vec::with_capacity(N);
        for file in &self.files {
            wholes.push(file.bytes()?);
        }
        let mut from = [0; N];
        let unit = |unit: &Unit<N>| {
            let part = |at: usize| {
                let Extent { len, count } = unit.parts[at];
                let begin = from[at];
                from[at] += len as usize;
                ChunkPart { bytes: wholes[at][begin..from[at]].to_vec(), count }
            };
            (unit.name.clone(), std::array::from_fn(part))
        };
        Ok(self.units.iter().map(unit).collect())
    }

    /// Whether its lengths add up and its files can be decoded.
    fn is_whole(&self) -> bool {
        let len = |at: usize| self.units.iter().map(|unit| u64::from(unit.parts[at].len)).sum::<u64>();
        let adds_up = !self.units.is_empty() && (0..N).all(|at| len(at) == self.files[at].len);
        adds_up && self.files.iter().all(|file| file.bytes().is_ok())
    }
}

fn silent(parts: &[ChunkPart]) -> bool {
    parts.iter().all(|part| part.bytes.is_empty())
}
