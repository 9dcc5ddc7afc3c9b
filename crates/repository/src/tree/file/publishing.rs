//! What matters only when a file is published: the checksums that are kept as files, and the rules for its path.

use super::{File, Layout};
use crate::error::Error;
use crate::record::RepositoryRecord;
use format::tree::Checksum;

impl<'a> File<'a> {
    /// The file whose checksum this is by its ending, in formats that store checksums as ordinary files.
    pub(crate) fn kept_checksum(&self) -> Option<(File<'a>, Checksum)> {
        match &self.layout {
            Layout::Maven(_) | Layout::Gem(_) => None,
            Layout::Raw(path) => {
                let (of, checksum) = path.checksum()?;
                Some((Self { path: of.0, folder: self.folder, layout: Layout::Raw(of) }, checksum))
            }
        }
    }

    /// Whether the format stores checksums as ordinary files.
    pub(crate) fn keeps_checksums(&self) -> bool {
        matches!(self.layout, Layout::Raw(_))
    }

    /// Whether the settings of a hosted repository let a file be published at its path.
    pub(crate) fn check_layout(&self, record: &RepositoryRecord) -> Result<(), Error> {
        match &self.layout {
            Layout::Maven(path) => path.check_layout(record),
            Layout::Raw(_) | Layout::Gem(_) => Ok(()),
        }
    }

    /// Whether the settings of a hosted repository accept its version.
    pub(crate) fn check_version(&self, record: &RepositoryRecord) -> Result<(), Error> {
        match &self.layout {
            Layout::Maven(path) => path.check_version(record),
            Layout::Raw(_) | Layout::Gem(_) => Ok(()),
        }
    }

    /// The name in its path that no client could ask for: an expression, a range, or a version that stands for another.
    pub(crate) fn placeholder(&self) -> Option<&'a str> {
        match &self.layout {
            Layout::Maven(path) => path.placeholder(),
            Layout::Raw(_) | Layout::Gem(_) => None,
        }
    }
}
