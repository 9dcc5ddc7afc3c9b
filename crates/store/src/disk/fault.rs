//! A disk in memory that loses unsynced data, for tests. Behind the feature `fault` for other crates.
//!
//! A crash of the machine keeps of a file the synced bytes and any part of the later ones, perhaps as zeros; of a folder it keeps
//! the synced names and any subset of the later changes. That is more loss than real file systems cause.
//!
//! SQLite's files are not in it: they are real files in the same folder.

use crate::disk::{Disk, DiskFile, DiskFolder, Failpoint, SpaceBytes};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use telemetry::lock;

/// How a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The process was killed: the operating system keeps all its writes.
    Process,
    /// The machine stopped. The number is the seed that decides which unsynced data is lost.
    Machine(u64),
}

/// The disk. Clones share it.
#[derive(Debug, Clone)]
pub struct SimDisk {
    /// The real folder in its place. It must exist for the locks and SQLite.
    root: PathBuf,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
enum Node {
    File { bytes: Vec<u8>, synced: usize },
    Folder { names: BTreeMap<String, usize>, lasting: BTreeMap<String, usize>, pending: Vec<(String, Option<usize>)> },
}

#[derive(Debug)]
struct State {
    nodes: Vec<Node>,
    /// Every point that was passed, in order.
    trace: Vec<Failpoint>,
    crash_at: Option<usize>,
    fail_next: Option<Failpoint>,
    crashed: bool,
    /// Counts restarts: handles from before the last one no longer work.
    life: u64,
    space: SpaceBytes,
}

impl SimDisk {
    /// An empty disk in place of the folder `root`.
    pub fn new(root: &Path) -> Self {
        let state = State {
            nodes: vec![Node::folder()],
            trace: Vec::new(),
            crash_at: None,
            fail_next: None,
            crashed: false,
            life: 0,
            space: SpaceBytes { total: 1 << 40, free: 1 << 39 },
        };
        Self { root: root.to_owned(), state: Arc::new(Mutex::new(state)) }
    }

    /// Crashes at the `n`th point from now (0: the next). Every operation fails from then on.
    pub fn crash_at(&self, n: usize) {
        let mut state = lock(&self.state);
        state.crash_at = Some(state.trace.len() + n);
    }

    /// The next operation of that kind fails once, without an effect.
    pub fn fail_next(&self, point: Failpoint) {
        lock(&self.state).fail_next = Some(point);
    }

    /// Whether the crash has happened.
    pub fn crashed(&self) -> bool {
        lock(&self.state).crashed
    }

    /// Every point passed so far, in order.
    pub fn trace(&self) -> Vec<Failpoint> {
        lock(&self.state).trace.clone()
    }

    /// Restarts with the data that survived.
    pub fn restart(&self, loss: Loss) {
        let mut state = lock(&self.state);
        (state.crashed, state.crash_at, state.fail_next) = (false, None, None);
        state.life += 1;
        if let Loss::Machine(seed) = loss {
            let mut dice = Dice(seed);
            state.nodes.iter_mut().for_each(|node| node.lose(&mut dice));
        }
    }

    /// Overwrites bytes of a file in place, as a failing disk would.
    pub fn damage(&self, path: &Path, with: &[u8]) -> io::Result<()> {
        let mut state = lock(&self.state);
        let node = state.find(&self.root, path)?;
        match &mut state.nodes[node] {
            Node::File { bytes, synced } => {
                *bytes = with.to_vec();
                *synced = with.len();
                Ok(())
            }
            Node::Folder { .. } => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    fn change<T>(&self, point: Failpoint, effect: impl FnOnce(&mut State) -> io::Result<T>) -> io::Result<T> {
        let mut state = lock(&self.state);
        if state.crashed {
            return Err(crashed());
        }
        if state.fail_next == Some(point) {
            state.fail_next = None;
            return Err(io::Error::other("the simulated disk failed"));
        }
        state.crashed = state.crash_at == Some(state.trace.len());
        state.trace.push(point);
        if !state.crashed {
            return effect(&mut state);
        }
        // The operation may have been done, but it has synced nothing.
        if !matches!(point, Failpoint::SyncFile | Failpoint::SyncFolder) {
            let _ = effect(&mut state);
        }
        Err(crashed())
    }

    fn look<T>(&self, read: impl FnOnce(&State) -> io::Result<T>) -> io::Result<T> {
        let state = lock(&self.state);
        if state.crashed { Err(crashed()) } else { read(&state) }
    }
}

fn crashed() -> io::Error {
    io::Error::other("the simulated machine has crashed")
}

fn name(path: &Path) -> io::Result<(&Path, String)> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    Ok((folder, name.to_string_lossy().into_owned()))
}

impl Node {
    fn folder() -> Self {
        Self::Folder { names: BTreeMap::new(), lasting: BTreeMap::new(), pending: Vec::new() }
    }

    fn lose(&mut self, dice: &mut Dice) {
        match self {
            Self::File { bytes, synced } => {
                bytes.truncate(*synced + dice.below(bytes.len() - *synced + 1));
                if dice.below(2) == 0 {
                    bytes[*synced..].fill(0);
                }
                *synced = bytes.len();
            }
            Self::Folder { names, lasting, pending } => {
                for (name, node) in pending.drain(..) {
                    match node {
                        _ if dice.below(2) == 0 => {}
                        Some(node) => drop(lasting.insert(name, node)),
                        None => drop(lasting.remove(&name)),
                    }
                }
                names.clone_from(lasting);
            }
        }
    }
}

impl State {
    fn find(&self, root: &Path, path: &Path) -> io::Result<usize> {
        let inside = path.strip_prefix(root).map_err(|_| io::ErrorKind::InvalidInput)?;
        let step = |node: usize, name: std::path::Component<'_>| match &self.nodes[node] {
            Node::Folder { names, .. } => {
                names.get(&*name.as_os_str().to_string_lossy()).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
            }
            Node::File { .. } => Err(io::ErrorKind::NotADirectory.into()),
        };
        inside.components().try_fold(0, step)
    }

    fn set(&mut self, root: &Path, path: &Path, node: Option<usize>) -> io::Result<()> {
        let (folder, name) = name(path)?;
        let folder = self.find(root, folder)?;
        let Node::Folder { names, pending, .. } = &mut self.nodes[folder] else {
            return Err(io::ErrorKind::NotADirectory.into());
        };
        match node {
            Some(node) => drop(names.insert(name.clone(), node)),
            None => drop(names.remove(&name).ok_or(io::ErrorKind::NotFound)?),
        }
        pending.push((name, node));
        Ok(())
    }

    fn add(&mut self, root: &Path, path: &Path, node: Node) -> io::Result<usize> {
        if self.find(root, path).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.nodes.push(node);
        let node = self.nodes.len() - 1;
        self.set(root, path, Some(node)).map(|()| node)
    }
}

impl Disk for SimDisk {
    fn make_folder(&self, path: &Path) -> io::Result<()> {
        self.change(Failpoint::MakeFolder, |state| match state.add(&self.root, path, Node::folder()) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made.map(|_| ()),
        })
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.change(Failpoint::Create, |state| {
            let node = state.add(&self.root, path, Node::File { bytes: Vec::new(), synced: 0 })?;
            Ok(Box::new(SimFile { disk: self.clone(), node, life: state.life }) as Box<dyn DiskFile>)
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change(Failpoint::Rename, |state| {
            let node = state.find(&self.root, from)?;
            state.set(&self.root, to, Some(node))?;
            state.set(&self.root, from, None)
        })
    }

    fn open_folder(&self, path: &Path) -> io::Result<Box<dyn DiskFolder>> {
        self.change(Failpoint::OpenFolder, |state| {
            let node = state.find(&self.root, path)?;
            Ok(Box::new(SimFolder { disk: self.clone(), node, life: state.life }) as Box<dyn DiskFolder>)
        })
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        self.change(Failpoint::Unlink, |state| state.set(&self.root, path, None))
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.unlink(path)
    }

    fn remove_empty_folder(&self, path: &Path) -> io::Result<bool> {
        self.change(Failpoint::Unlink, |state| match state.find(&self.root, path).map(|node| &state.nodes[node]) {
            Ok(Node::Folder { names, .. }) if names.is_empty() => state.set(&self.root, path, None).map(|()| true),
            _ => Ok(false),
        })
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        self.look(|state| match &state.nodes[state.find(&self.root, path)?] {
            Node::File { bytes, .. } => {
                let mut copy = File::from(rustix::fs::memfd_create("sim", rustix::fs::MemfdFlags::CLOEXEC)?);
                copy.write_all(bytes)?;
                copy.rewind()?;
                Ok(copy)
            }
            Node::Folder { .. } => Err(io::ErrorKind::IsADirectory.into()),
        })
    }

    fn size(&self, path: &Path) -> io::Result<Option<u64>> {
        self.look(|state| match state.find(&self.root, path).map(|node| &state.nodes[node]) {
            Ok(Node::File { bytes, .. }) => Ok(Some(bytes.len() as u64)),
            Ok(Node::Folder { .. }) => Ok(Some(0)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        })
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.look(|state| match &state.nodes[state.find(&self.root, path)?] {
            Node::Folder { names, .. } => Ok(names.keys().cloned().collect()),
            Node::File { .. } => Err(io::ErrorKind::NotADirectory.into()),
        })
    }

    fn space(&self, _: &Path) -> io::Result<SpaceBytes> {
        self.look(|state| Ok(state.space))
    }

    fn point(&self, point: Failpoint) -> io::Result<()> {
        self.change(point, |_| Ok(()))
    }
}

#[derive(Debug)]
struct SimFolder {
    disk: SimDisk,
    node: usize,
    life: u64,
}

impl DiskFolder for SimFolder {
    fn sync(&self) -> io::Result<()> {
        self.disk.change(Failpoint::SyncFolder, |state| match &mut state.nodes[self.node] {
            Node::Folder { names, lasting, pending } if state.life == self.life => {
                lasting.clone_from(names);
                pending.clear();
                Ok(())
            }
            _ => Err(crashed()),
        })
    }
}

#[derive(Debug)]
struct SimFile {
    disk: SimDisk,
    node: usize,
    life: u64,
}

impl SimFile {
    fn change(&self, point: Failpoint, effect: impl FnOnce(&mut Vec<u8>, &mut usize)) -> io::Result<()> {
        self.disk.change(point, |state| match &mut state.nodes[self.node] {
            Node::File { bytes, synced } if state.life == self.life => {
                effect(bytes, synced);
                Ok(())
            }
            _ => Err(crashed()),
        })
    }
}

impl DiskFile for SimFile {
    fn write(&mut self, more: &[u8]) -> io::Result<()> {
        self.change(Failpoint::Write, |bytes, _| bytes.extend_from_slice(more))
    }

    fn sync(&mut self) -> io::Result<()> {
        self.change(Failpoint::SyncFile, |bytes, synced| *synced = bytes.len())
    }
}

/// SplitMix64: the same seed always loses the same data.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as usize % end.max(1)
    }
}

#[cfg(test)]
mod tests;
