//! The cluster that a data folder belongs to: the id of its database, in the file `cluster`, from the first connection on. A backup does not
//! copy it, so a restored folder belongs to none.

use crate::disk::Disk;
use crate::disk::layout::Layout;
use crate::disk::space::Space;
use crate::error::{Error, Result};
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;

/// More bytes than an id has.
const BYTES_MAX: u64 = 256;

/// The id, and the file that has it.
#[derive(Debug)]
pub(crate) struct ClusterId {
    path: PathBuf,
    temporary: PathBuf,
    space: Arc<Space>,
    id: Option<String>,
}

impl ClusterId {
    /// Reads the file of a folder.
    pub(crate) fn read(disk: &dyn Disk, layout: &Layout, space: Arc<Space>) -> Result<Self> {
        let path = layout.cluster();
        let mut id = None;
        if disk.size(&path).map_err(Error::io("look at", &path))?.is_some() {
            let mut text = String::new();
            let file = disk.open(&path).map_err(Error::io("open", &path))?;
            file.take(BYTES_MAX).read_to_string(&mut text).map_err(Error::io("read", &path))?;
            id = Some(text.trim_end().to_owned());
        }
        Ok(Self { temporary: layout.data().join("cluster.new"), path, space, id })
    }

    /// The id; `None`: the folder belongs to no cluster.
    pub(crate) fn get(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// From now on the folder belongs to this cluster.
    pub(crate) fn join(&mut self, id: &str) -> Result<()> {
        self.space.put(&self.temporary, &self.path, format!("{id}\n").as_bytes())?;
        self.id = Some(id.to_owned());
        Ok(())
    }

    /// The folder belongs to no cluster again.
    pub(crate) fn leave(&mut self) -> Result<()> {
        self.space.remove(&self.path)?;
        self.id = None;
        Ok(())
    }
}
