//! Sends parts of files that are handed out one after the other: by the kernel where it can, otherwise in chunks that are read.

use crate::body::buffer_pool;
use crate::body::chunk::Data;
use crate::body::delivery::Delivery;
use crate::body::file_reader::{FileAccess, FileReader};
use crate::body::sendfile::FilePart;
use crate::connection::state::ConnectionState;
use std::fs::File;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A file up to this size fits into one buffer. One read and one write then cost no more than sendfile.
pub(crate) const SENDFILE_ABOVE: u64 = buffer_pool::SIZE as u64;

/// Sends the parts of one body.
pub(crate) struct FileParts {
    /// The part that is being read.
    reader: Option<FileReader>,
    state: Rc<ConnectionState>,
    file_access: FileAccess,
    /// Whether the kernel can send files on this connection.
    kernel: bool,
}

impl FileParts {
    pub(crate) fn new(state: &Rc<ConnectionState>, file_access: &FileAccess, kernel: bool) -> Self {
        Self { reader: None, state: state.clone(), file_access: file_access.clone(), kernel }
    }

    /// Begins a part, of at most [`TURN`](crate::body::sendfile::TURN) bytes: h2 and hyper may cut a stand-in, and it must then be
    /// shown whole. `None`: the part is read, and [`FileParts::poll_rest`] has its bytes.
    pub(crate) fn begin(&mut self, file: Arc<File>, at: u64, len: u64, delivery: &Rc<Delivery>) -> Option<Data> {
        if self.kernel && len > SENDFILE_ABOVE {
            let part = FilePart::new(file, at, len, delivery.clone(), self.file_access.threads.clone());
            self.state.show_file(&part);
            return Some(Data::File(part));
        }
        self.reader = Some(FileReader::new(file, at, len, self.file_access.clone()));
        None
    }

    /// The next bytes of the part that is being read. `None`: no part is.
    pub(crate) fn poll_rest(&mut self, cx: &mut Context<'_>, delivery: &Delivery) -> Option<Poll<io::Result<Data>>> {
        let reader = self.reader.as_mut().filter(|reader| reader.left() > 0)?;
        Some(reader.poll_next(cx, delivery).map_ok(Data::Memory))
    }

    /// The bytes of that part that are still to be read.
    pub(crate) fn left(&self) -> u64 {
        self.reader.as_ref().map_or(0, FileReader::left)
    }
}
