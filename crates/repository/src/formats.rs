//! The faces of the formats, and the reading of questions.

use crate::face::Face;
use crate::format::Format;
use crate::gem::face::GemFace;
use crate::maven::face::MavenFace;
use crate::question::Question;
use crate::raw::face::RawFace;
use crate::reading::Reading;
use store::RepositoryKind;

impl Format {
    /// The face of the format.
    pub(crate) fn face(self) -> &'static dyn Face {
        match self {
            Format::Gem => &GemFace,
            Format::Maven => &MavenFace,
            Format::Raw => &RawFace,
        }
    }

    /// Reads a method, by its name, and a path below a repository of this format and kind. The path is decoded and does
    /// not begin with a slash; that of a folder ends with one. `Err` lists the methods that the path takes; a client needs no token to learn them.
    pub fn read<'a>(
        self,
        kind: RepositoryKind,
        method: &str,
        path: &'a str,
    ) -> Result<Reading<Question<'a>>, &'static str> {
        self.face().read(kind, method, path)
    }
}
