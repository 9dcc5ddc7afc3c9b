//! The question and what is found.

use crate::content::{Content, Freshness, How, Source};
use crate::error::Error;
use crate::format::Format;
use crate::gem::program::{Describe, OwnerChange};
use crate::gem::specs::Packed;
use crate::index::rope::sums::Sums;
use crate::repository::Repository;
use crate::waiters::Place;
use bytes::Bytes;
use format::gem::call;
use format::gem::dependencies::Form;
use format::gem::specs;
use format::maven;
use md5::Md5;
use std::fs::File;
use std::sync::Arc;
use store::{Hashes, Stamp};
use telemetry::{Millis, Subject, Text};

/// One question to one repository.
#[derive(Debug, Clone)]
pub struct Ask {
    /// The repository, as it is set when the question is read.
    pub repository: Arc<Repository>,
    /// The revision of the settings `repository` was read from.
    pub settings: Stamp,
    /// What is asked of it.
    pub question: Question,
    /// What the request takes of the server until it is answered.
    pub place: Arc<Place>,
}

/// Who asks, as far as repositories care.
#[derive(Debug, Clone, Copy)]
pub struct Actor<'a> {
    /// The name that changes are journaled under: the token's.
    pub name: &'a str,
    /// Whose token it is.
    pub owner: &'a str,
    /// The one package that the token may change; `None`: any.
    pub only: Option<&'a str>,
    /// Whether they may do everything.
    pub admin: bool,
}

impl Actor<'_> {
    /// Refuses a change of another package than the one that the token is for.
    pub(crate) fn may_change(&self, package: &str) -> Result<(), Error> {
        match self.only.filter(|only| *only != package) {
            Some(only) => Err(Error::OnlyFor { token: self.name.to_owned(), package: only.to_owned() }),
            None => Ok(()),
        }
    }
}

/// What can be asked of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// Is it there? RubyGems 3.2.3 to 3.5.18 probe the root before they ask anything else.
    Root,
    /// The list of all gems with their versions.
    Versions,
    /// The list of names.
    Names,
    /// The versions of one gem with their dependencies.
    Info(String),
    /// A file of the older index.
    Specs(specs::File),
    /// The gem of this full name.
    Gem(String),
    /// The gemspec of the gem of this full name.
    Gemspec(String),
    /// The gem of this full name, asked for where it no longer is.
    Download(String),
    /// What the versions of these gems need. `None`: whether that can be asked at all.
    Dependencies(Option<Vec<String>>, Form),
    /// What a program wants to know.
    Describe(Describe),
    /// Change who owns a gem.
    Own {
        /// The gem's name.
        name: String,
        /// The person that it is about, who has a token here.
        person: String,
        /// The change.
        change: OwnerChange,
    },
    /// Publish what is uploaded.
    Push,
    /// Withdraw a version.
    Yank {
        /// The gem's name.
        name: String,
        /// Its version.
        number: String,
        /// Its platform, `ruby` when not given.
        platform: String,
    },
    /// What a client has to be told to use the repository, which it reaches at this URL.
    ClientSettings(String),
    /// The file at this path of a tree.
    Fetch(String),
    /// Keep what is uploaded as the file at this path of a tree.
    Deploy(String),
    /// Take away the file at this path of a tree, or all below it.
    Delete(String),
}

impl Question {
    /// Whether bytes come with it.
    pub fn brings_bytes(&self) -> bool {
        matches!(self, Question::Push | Question::Deploy(_))
    }

    /// The name of the one published file that is asked for.
    pub(crate) fn file(&self) -> Option<&str> {
        match self {
            Question::Gem(name) | Question::Fetch(name) => Some(name),
            _ => None,
        }
    }
}

impl Ask {
    /// The coded identity of what is asked, for the event and the page.
    pub fn subject(&self) -> Subject {
        let (kind, package, version) = match &self.question {
            Question::Root => ("root", "", ""),
            Question::Versions => ("versions", "", ""),
            Question::Names => ("names", "", ""),
            Question::Info(name) => ("info", name.as_str(), ""),
            Question::Specs(file) => (file.name(), "", ""),
            Question::Gem(full_name) | Question::Download(full_name) => ("gem", "", full_name.as_str()),
            Question::Gemspec(full_name) => ("gemspec", "", full_name.as_str()),
            Question::Dependencies(..) => ("dependencies", "", ""),
            Question::Describe(ask) => ("describe", ask.what.gem().unwrap_or_default(), ""),
            Question::Own { name, .. } => ("owners", name.as_str(), ""),
            Question::Push => ("push", "", ""),
            Question::Yank { name, number, .. } => ("yank", name.as_str(), number.as_str()),
            Question::ClientSettings(_) => ("settings", "", ""),
            Question::Fetch(path) => return self.subject_of_file("file", path),
            Question::Deploy(path) => return self.subject_of_file("deploy", path),
            Question::Delete(path) => return self.subject_of_file("delete", path),
        };
        Subject {
            repository: self.repository.record.name.as_str().into(),
            package: package.into(),
            version: version.into(),
            kind,
        }
    }

    /// What a path of a tree is about: in a repository of Maven's `G:A` and the version, where it is of one.
    fn subject_of_file(&self, kind: &'static str, path: &str) -> Subject {
        let read = maven::path::read(path).filter(|_| self.repository.format == Format::Maven);
        let (kind, package, version): (_, Text, _) = match read.map(|read| (read.checksum, read.kind)) {
            Some((checksum, maven::path::Kind::Artifact(artifact))) => {
                let kind = match (kind, checksum) {
                    ("file", Some(_)) => "checksum",
                    ("file", None) if artifact.extension == "pom" => "pom",
                    ("file", None) => "artifact",
                    (change, _) => change,
                };
                let package = [&artifact.group_id(), ":", artifact.artifact].concat();
                (kind, package.into(), artifact.version)
            }
            Some((_, maven::path::Kind::Metadata(_))) if kind == "file" => ("metadata", path.into(), ""),
            _ => (kind, path.into(), ""),
        };
        let repository = self.repository.record.name.as_str().into();
        Subject { repository, package, version: version.into(), kind }
    }
}

impl Found {
    /// From when on it may be another, where that is known.
    pub fn fresh_until(&self) -> Option<Millis> {
        match self {
            Found::Content(content) => content.fresh_until,
            Found::Index(index) | Found::Gemspec(index) | Found::Document(index, _) => index.fresh_until,
            _ => None,
        }
    }

    /// The same for whoever asks next, where it is a file, whole and open: whatever was done for it this time, nothing has to be then.
    pub(crate) fn again(&self) -> Option<Found> {
        match self {
            Found::File { .. } => Some(self.clone()),
            Found::Content(content) if matches!(content.source, Source::File(_)) && content.hashes.is_some() => {
                let freshness = content.freshness.map(|freshness| Freshness { how: How::Kept, ..freshness });
                Some(Found::Content(Content { freshness, ..content.clone() }))
            }
            _ => None,
        }
    }
}

/// An index, whole, with the digests that clients compare. Clones share the bytes.
#[derive(Debug, Clone)]
pub struct Index {
    /// The index, one piece after the other.
    pub pieces: Arc<[Bytes]>,
    /// The same as one gzip stream, where that was made with it.
    pub gzip: Option<Arc<[Bytes]>>,
    /// Its MD5, hexadecimal.
    pub md5: String,
    /// Its SHA-256.
    pub sha256: [u8; 32],
    /// The MD5 of each multiple of [`crate::index::rope::PIECE`] bytes from its beginning, unfinished.
    pub states: Arc<[Md5]>,
    /// From when on policy may show something else.
    pub fresh_until: Option<Millis>,
}

impl Index {
    pub(crate) fn of(bytes: Vec<u8>) -> Self {
        let mut sums = Sums::default();
        sums.add(&bytes);
        sums.index([Bytes::from(bytes)].into(), None)
    }
}

/// What was found. Clones share the bytes.
#[derive(Debug, Clone)]
pub enum Found {
    /// The repository is there.
    Root,
    /// An index, whole.
    Index(Index),
    /// A gemspec, compressed as it is.
    Gemspec(Index),
    /// A file of the older index, whole.
    Packed(Packed),
    /// A published file.
    File {
        /// Its name for people who save it.
        name: String,
        /// Open for reading, by others too: never by its cursor.
        file: Arc<File>,
        /// What is known of its bytes.
        hashes: Hashes,
    },
    /// What versions need, in this form: buffers that are sent one after the other.
    Dependencies(Arc<[Bytes]>, Form),
    /// An answer for a program, in this form.
    Document(Index, call::Form),
    /// It is elsewhere, seen from the folder of what was asked.
    Elsewhere(String),
    /// A change was made; the sentence is for the client's user.
    Said(String),
    /// A file of a tree.
    Content(Content),
    /// What was uploaded to a tree is there now; `true`: it was not before.
    Kept(bool),
    /// So many files of a tree were taken away.
    Removed(u64),
}
