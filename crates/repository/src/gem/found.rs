//! The answer of a gem repository.

use crate::content::Growing;
use crate::error::{Error, Result};
use crate::gem::indexes::specs::Packed;
use crate::index::document::Index;
use bytes::Bytes;
use format::gem::call;
use format::gem::dependencies::Form;
use std::fs::File;
use std::sync::Arc;
use store::Hashes;
use telemetry::Millis;

/// The answer of a gem repository. Clones share the bytes.
#[derive(Debug, Clone)]
pub enum Found {
    /// A complete index.
    Index(Index),
    /// An upstream's index that is still arriving.
    Arriving(ArrivingIndex),
    /// A gemspec, in its own compression.
    Gemspec(Index),
    /// A complete file of the older index.
    Packed(Packed),
    /// A published gem.
    File {
        /// The file name for people who save it.
        name: String,
        /// Other requests read it at the same time. Read it by offset, never with its cursor.
        file: Arc<File>,
        /// The digests and the size of its bytes.
        hashes: Hashes,
    },
    /// Dependencies of versions in this format: buffers that are sent one after the other.
    Dependencies(Arc<[Bytes]>, Form),
    /// An answer for a program, in this format.
    Document(Index, call::Form),
    /// A redirect to this path, relative to the folder of the request's path.
    Elsewhere(String),
    /// A change was made. The client shows the sentence to its user.
    Said(String),
}

/// An upstream's index that is still arriving. It becomes complete only if it has these digests.
#[derive(Debug, Clone)]
pub struct ArrivingIndex {
    /// The bytes that have arrived.
    pub growing: Growing,
    /// The announced MD5, hexadecimal.
    pub md5: String,
    /// The announced SHA-256, if there is one.
    pub sha256: Option<[u8; 32]>,
}

impl Found {
    /// A complete index.
    pub(crate) fn index(self) -> Result<Index> {
        if let Found::Index(index) = self { Ok(index) } else { Err(Error::Mismatched) }
    }

    /// A complete file of the older index.
    pub(crate) fn packed(self) -> Result<Packed> {
        if let Found::Packed(file) = self { Ok(file) } else { Err(Error::Mismatched) }
    }

    /// When the answer may change without any change of ours, if that is known.
    pub(crate) fn fresh_until(&self) -> Option<Millis> {
        match self {
            Found::Index(index) | Found::Gemspec(index) | Found::Document(index, _) => index.fresh_until,
            Found::Packed(file) => file.fresh_until,
            _ => None,
        }
    }
}
