//! The values of Koji that calls and answers are made of.

/// The number of a change in Koji. Numbers are given before commit, so a lower one may appear later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct EventId(pub u64);

/// The number of a tag, which stays when the tag gets another name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TagId(pub u32);

/// The number of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BuildId(pub u32);

/// An event with its moment, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KojiEvent {
    /// Its number.
    pub id: EventId,
    /// Its moment.
    pub at_ms: i64,
}

/// A tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// Its number.
    pub id: TagId,
    /// Its present name.
    pub name: String,
}

/// The name, version and release of a build. They are not those of its artifacts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Nvr {
    /// The name of its package.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its release.
    pub release: String,
}

/// The digest of a file, as its importer chose it (Koji's checksum types 0, 1 and 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileDigest {
    /// Type 0.
    Md5([u8; 16]),
    /// Type 1.
    Sha1([u8; 20]),
    /// Type 2.
    Sha256([u8; 32]),
}

impl FileDigest {
    /// Reads hexadecimal digits, whose number tells the algorithm.
    pub fn from_hex(digits: &str) -> Option<Self> {
        match digits.len() {
            32 => bytes(digits).map(Self::Md5),
            40 => bytes(digits).map(Self::Sha1),
            64 => bytes(digits).map(Self::Sha256),
            _ => None,
        }
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Md5(bytes) => bytes,
            Self::Sha1(bytes) => bytes,
            Self::Sha256(bytes) => bytes,
        }
    }

    /// Its bytes in hexadecimal digits.
    pub fn hex(&self) -> String {
        hex(self.bytes())
    }
}

/// Bytes in hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn bytes<const N: usize>(digits: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let half = |digit: u8| char::from(digit).to_digit(16).and_then(|half| u8::try_from(half).ok());
    for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = half(*high)? << 4 | half(*low)?;
    }
    Some(bytes)
}

/// The state of a build; Koji's numbers 0 to 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildState {
    /// It is under way.
    Building,
    /// It is complete, and has its files.
    Complete,
    /// It was deleted, and its files are gone.
    Deleted,
    /// It failed.
    Failed,
    /// It was cancelled.
    Canceled,
    /// A number that this version of Daylight does not know.
    Other(i64),
}

/// A file of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archive {
    /// Its number, which grows with each import.
    pub id: u64,
    /// Its build.
    pub build: BuildId,
    /// Maven's group, with dots.
    pub group: String,
    /// Maven's artifact.
    pub artifact: String,
    /// Maven's version.
    pub version: String,
    /// The name of the file in its folder.
    pub filename: String,
    /// Its size.
    pub size_bytes: u64,
    /// `None`: Koji has no digest of a form that is known.
    pub digest: Option<FileDigest>,
    /// Whether Koji has only facts about it, and no file.
    pub metadata_only: bool,
}

/// A build in a tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaggedBuild {
    /// Its number.
    pub id: BuildId,
    /// Its name, version and release.
    pub nvr: Nvr,
    /// `DEFAULT`, or the name of another volume, which is a part of its URL.
    pub volume: String,
    /// Its state now.
    pub state: BuildState,
    /// The tag that has it: the one that was asked, or one that it inherits from.
    pub tag: TagId,
    /// The present name of that tag.
    pub tag_name: String,
    /// The event of tagging.
    pub tagged: EventId,
    /// When the build was completed, in milliseconds since 1970.
    pub completed_ms: Option<i64>,
    /// Who built it.
    pub owner: Option<String>,
}
