//! A question to a gem repository.

use crate::gem::protocol::Protocol;
use format::gem::{Call, Form, dependencies, specs};
use telemetry::Subject;

/// A question to a gem repository. It borrows from the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question<'a> {
    /// The list of all gems with their versions.
    Versions,
    /// The list of names.
    Names,
    /// The versions of one gem with their dependencies.
    Info(&'a str),
    /// A file of the older index.
    Specs(specs::File),
    /// The gem of this full name.
    Gem(&'a str),
    /// The gemspec of the gem of this full name.
    Gemspec(&'a str),
    /// The gem of this full name, by the URL that clients used before 2010.
    Download(&'a str),
    /// Signed statements about who built the gem of this full name, and how.
    Attestations(&'a str),
    /// The dependencies of the gems in the query.
    Dependencies(dependencies::Form),
    /// A question of a program, with the format of the answer.
    Call(Call<'a>, Form),
    /// Change the owners of the gem of this name, as the form says.
    Own(&'a str, OwnerVerb),
    /// Publish the upload.
    Push,
    /// Yank the version that the form names.
    Yank,
    /// Undo the yank of the version that the form names: `gem yank --undo` of RubyGems before 3.
    Unyank,
}

/// A change of the owners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnerVerb {
    /// Add one.
    Add,
    /// Remove one.
    Remove,
    /// Change the role of one.
    Update,
}

impl Question<'_> {
    /// Whether the answer depends on a query or a form.
    pub(crate) fn has_parameters(&self) -> bool {
        match self {
            Question::Dependencies(_) | Question::Call(..) | Question::Own(..) => true,
            Question::Attestations(_) | Question::Yank | Question::Unyank => true,
            Question::Versions | Question::Names | Question::Info(_) | Question::Specs(_) => false,
            Question::Gem(_) | Question::Gemspec(_) | Question::Download(_) | Question::Push => false,
        }
    }

    /// The index protocols that the question belongs to. It is answered while one of them is on. Empty: it is always answered.
    pub(crate) fn protocols(&self) -> &'static [Protocol] {
        match self {
            Question::Versions | Question::Names | Question::Info(_) => &[Protocol::CompactIndex],
            Question::Dependencies(_) => &[Protocol::Dependencies],
            Question::Specs(_) => &[Protocol::FullIndex],
            // `gem install` reads it, whichever index it chose the version from.
            Question::Gemspec(_) => Protocol::ALL,
            Question::Call(..) | Question::Own(..) | Question::Gem(_) | Question::Download(_) => &[],
            Question::Attestations(_) | Question::Push | Question::Yank | Question::Unyank => &[],
        }
    }

    /// The name of the one published file that the question requests.
    pub(crate) fn file(&self) -> Option<&str> {
        match self {
            Question::Gem(full_name) => Some(full_name),
            _ => None,
        }
    }

    /// The name of the version whose gemspec the question requests.
    pub(crate) fn gemspec_of(&self) -> Option<&str> {
        match self {
            Question::Gemspec(full_name) => Some(full_name),
            _ => None,
        }
    }

    /// The identity of the question for events, without its repository.
    pub(crate) fn subject(&self) -> Subject {
        let (kind, package, version) = match *self {
            Question::Versions => ("versions", "", ""),
            Question::Names => ("names", "", ""),
            Question::Info(name) => ("info", name, ""),
            Question::Specs(file) => (file.name(), "", ""),
            Question::Gem(full_name) | Question::Download(full_name) => ("gem", "", full_name),
            Question::Gemspec(full_name) => ("gemspec", "", full_name),
            Question::Dependencies(_) => ("dependencies", "", ""),
            Question::Attestations(_) => ("describe", "", ""),
            Question::Call(call, _) => ("describe", call.gem().unwrap_or_default(), ""),
            Question::Own(name, _) => ("owners", name, ""),
            Question::Push => ("push", "", ""),
            Question::Yank => ("yank", "", ""),
            Question::Unyank => ("unyank", "", ""),
        };
        Subject { repository: "".into(), package: package.into(), version: version.into(), kind }
    }
}
