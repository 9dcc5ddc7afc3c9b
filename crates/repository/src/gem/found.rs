//! What a repository of gems answers with.

use crate::content::Growing;
use crate::gem::indexes::specs::Packed;
use crate::index::document::Index;
use bytes::Bytes;
use format::gem::call;
use format::gem::dependencies::Form;
use std::fs::File;
use std::sync::Arc;
use store::Hashes;
use telemetry::Millis;

/// What a repository of gems answers with. Clones share the bytes.
#[derive(Debug, Clone)]
pub enum Found {
    /// An index, whole.
    Index(Index),
    /// An index of an upstream that still arrives.
    Arriving(ArrivingIndex),
    /// A gemspec, compressed as it is.
    Gemspec(Index),
    /// A file of the older index, whole.
    Packed(Packed),
    /// A published gem.
    File {
        /// Its name for people who save it.
        name: String,
        /// Open for reading, by others too: never by its cursor.
        file: Arc<File>,
        /// The digests and the size of its bytes.
        hashes: Hashes,
    },
    /// What versions need, in this form: buffers that are sent one after the other.
    Dependencies(Arc<[Bytes]>, Form),
    /// An answer for a program, in this form.
    Document(Index, call::Form),
    /// It is elsewhere, seen from the folder of the path.
    Elsewhere(String),
    /// A change was made; the sentence is for the client's user.
    Said(String),
}

/// An index of an upstream that still arrives. It only becomes whole if its digests are these.
#[derive(Debug, Clone)]
pub struct ArrivingIndex {
    /// Its bytes, as far as they have come.
    pub growing: Growing,
    /// The MD5 that it will have, hexadecimal.
    pub md5: String,
    /// The SHA-256 that it will have, where that was announced too.
    pub sha256: Option<[u8; 32]>,
}

impl Found {
    /// The moment from which on the answer may be another, where that is known.
    pub(crate) fn fresh_until(&self) -> Option<Millis> {
        match self {
            Found::Index(index) | Found::Gemspec(index) | Found::Document(index, _) => index.fresh_until,
            _ => None,
        }
    }
}
