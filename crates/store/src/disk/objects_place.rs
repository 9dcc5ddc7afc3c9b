//! Which place in object storage a data folder names.

use super::Disk;
use super::layout::Layout;
use crate::error::{Error, Result};
use std::io;

impl Layout {
    /// The place in object storage that has the blobs of this folder, if the folder names one.
    pub(crate) fn objects_url(&self, disk: &dyn Disk) -> Result<Option<String>> {
        let path = self.objects();
        match disk.open(&path) {
            Ok(file) => Ok(Some(io::read_to_string(file).map_err(Error::io("read", &path))?.trim().to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("open", &path)(error)),
        }
    }
}
