//! Why an answer of a hub cannot be read, and where.

/// An answer cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at byte {at}: {why}")]
pub struct Unreadable {
    /// The position in the decoded answer, in bytes.
    pub at: u64,
    /// The problem.
    pub why: Why,
}

/// The problem with an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// It is not XML, or not in UTF-8.
    #[error("it is not XML: {0}")]
    NotXml(String),
    /// It ends too early.
    #[error("the answer ends before it is complete")]
    Cut,
    /// It has a document type, which could define entities.
    #[error("it has a document type")]
    Doctype,
    /// It refers to an entity that XML does not define.
    #[error("it refers to an entity that XML does not define")]
    Entity,
    /// It is longer than this number of bytes.
    #[error("the answer is longer than {0} bytes")]
    Long(u64),
    /// One text or one tag is longer than this number of bytes.
    #[error("a text or a tag is longer than {0} bytes")]
    LongPart(usize),
    /// The texts of one row together are longer than this number of bytes.
    #[error("the texts of a row are longer than {0} bytes")]
    LongRow(usize),
    /// Values are nested more deeply than this.
    #[error("values are nested more than {0} times")]
    Deep(usize),
    /// There are more rows, or more members in one, than this.
    #[error("there are more than {0} values of one kind")]
    Many(usize),
    /// It is XML, but not XML-RPC.
    #[error("it is not XML-RPC: {0}")]
    NotRpc(&'static str),
    /// It is XML-RPC, but not an answer to the question.
    #[error("it is not an answer to `{0}`")]
    NotAnswer(&'static str),
    /// A row lacks a member that it needs, or has one of another type.
    #[error("a row has no usable `{0}`")]
    Member(&'static str),
}

impl Why {
    /// Whether the answer is larger than a limit, and not wrong.
    pub fn is_of_size(&self) -> bool {
        matches!(self, Why::Long(_) | Why::Many(_))
    }
}
