//! The faces of the formats: the one place that calls a format by its name.

use crate::bad_setting::BadSetting;
use crate::face::{Face, Read};
use crate::format::Format;
use crate::gem::face::GemFace;
use crate::group::kept_names::GivesBack;
use crate::maven::face::MavenFace;
use crate::raw::face::RawFace;
use crate::repository::Repository;
use store::RepositoryKind;

/// Calls a function of the face of a format.
macro_rules! face {
    ($format:expr, $function:ident($($argument:expr),*).await) => {
        match $format {
            $crate::Format::Gem => Box::pin($crate::gem::face::GemFace::$function($($argument),*)).await,
            $crate::Format::Maven => Box::pin($crate::maven::face::MavenFace::$function($($argument),*)).await,
            $crate::Format::Raw => Box::pin($crate::raw::face::RawFace::$function($($argument),*)).await,
        }
    };
    ($format:expr, $function:ident($($argument:expr),*)) => {
        match $format {
            $crate::Format::Gem => $crate::gem::face::GemFace::$function($($argument),*),
            $crate::Format::Maven => $crate::maven::face::MavenFace::$function($($argument),*),
            $crate::Format::Raw => $crate::raw::face::RawFace::$function($($argument),*),
        }
    };
}

/// Calls a function about the packages of a repository: those of a module that each format with packages has.
macro_rules! packages {
    ($repository:expr, $module:ident::$function:ident($($argument:expr),*)) => {
        match $repository.format {
            $crate::Format::Gem => Box::pin($crate::gem::$module::$function($($argument),*)).await,
            $crate::Format::Maven => Box::pin($crate::maven::$module::$function($($argument),*)).await,
            $crate::Format::Raw => Err($crate::formats::no_packages(&$repository).into()),
        }
    };
}

pub(crate) use {face, packages};

/// The refusal to look for packages where files belong to none.
pub(crate) fn no_packages(repository: &Repository) -> BadSetting {
    let text = format!("`{}` has files, which belong to no packages", repository.record.name);
    BadSetting::new(text, "look at its files instead")
}

impl Repository {
    /// How the names that it keeps go back to the upstreams of groups.
    pub(crate) fn gives_back(&self) -> GivesBack {
        match self.format {
            Format::Gem => GemFace::gives_back,
            Format::Maven => MavenFace::gives_back,
            Format::Raw => RawFace::gives_back,
        }
    }
}

impl Format {
    /// Reads a method, by its name, and a path below a repository of this format and kind. The path is decoded and does
    /// not begin with a slash; that of a folder ends with one. `Err` lists the methods that the path takes; a client needs no token to learn them.
    pub fn read<'a>(self, kind: RepositoryKind, method: &str, path: &'a str) -> Read<'a> {
        face!(self, read(kind, method, path))
    }
}
