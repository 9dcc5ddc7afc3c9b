//! The names of the columns in a log. Another version of the program, which has other columns, reads the log by them.

use crate::column::Column;

/// The first line of the names: the program and the form of the log.
const FORM: &str = "daylight events 1";

/// The columns of the batches in a log.
#[derive(Debug)]
pub(super) struct Columns {
    /// The checksum of the names. Each batch begins with it.
    pub(super) tag: [u8; 4],
    /// `None`: this version has no such column.
    pub(super) columns: Vec<Option<Column>>,
}

/// The names of the columns of this version.
pub(super) fn names() -> String {
    Column::ALL.iter().fold(FORM.to_owned(), |names, column| names + "\n" + column.as_str())
}

impl Columns {
    /// The columns of this version.
    pub(super) fn own() -> Self {
        let columns = Column::ALL.iter().copied().map(Some).collect();
        Self { tag: tag(names().as_bytes()), columns }
    }

    /// The columns with these names. `None`: the bytes are no list of names.
    pub(super) fn read(plain: &[u8]) -> Option<Self> {
        let names = plain.strip_prefix(FORM.as_bytes())?.strip_prefix(b"\n")?;
        let columns = std::str::from_utf8(names).ok()?.split('\n').map(Column::read).collect();
        Some(Self { tag: tag(plain), columns })
    }
}

fn tag(names: &[u8]) -> [u8; 4] {
    crc32fast::hash(names).to_le_bytes()
}
