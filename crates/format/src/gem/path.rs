//! Reads paths below the root of a gem repository.

use super::dependencies::Form;
use super::name::{MAX, plain};
use super::settings::SettingsFile;
use super::specs;

/// The target of a request. The allowed methods are decided elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question<'a> {
    /// The root, which RubyGems 3.2.3 to 3.5.18 probe with HEAD and which must not redirect.
    Root,
    /// All changes of all gems; RubyGems since 3.5.19 probe it with HEAD.
    Versions,
    /// The names of all gems.
    Names,
    /// The versions of the gem of this name.
    Info(&'a str),
    /// A file of the older index.
    Specs(specs::File),
    /// The package with this full name.
    Gem(&'a str),
    /// The gemspec of the package with this full name, for `gem install`.
    Gemspec(&'a str),
    /// The package at its path before 2010; today it is below `gems`.
    Download(&'a str),
    /// Signed statements about who built the gem of this full name, and how.
    Attestations(&'a str),
    /// The dependencies of the gems in the query.
    Dependencies(Form),
    /// The path for pushing packages.
    Push,
    /// The path for yanking versions.
    Yank,
    /// The path for undoing a yank, which RubyGems before 3 uses.
    Unyank,
    /// A settings file for a client. Only this server has it.
    Settings(SettingsFile),
}

/// The longest full name: name, number and platform with two dashes.
const FULL_NAME_MAX: usize = 3 * MAX + 2;

/// Reads a path without its leading slash, percent-decoded, with duplicate slashes collapsed. `None`: the path does not
/// exist.
pub fn read(path: &str) -> Option<Question<'_>> {
    match path {
        "" => Some(Question::Root),
        "versions" => Some(Question::Versions),
        "names" => Some(Question::Names),
        "api/v1/dependencies" => Some(Question::Dependencies(Form::Marshal)),
        "api/v1/dependencies.json" => Some(Question::Dependencies(Form::Json)),
        "api/v1/gems" => Some(Question::Push),
        "api/v1/gems/yank" => Some(Question::Yank),
        "api/v1/gems/unyank" => Some(Question::Unyank),
        _ if !path.contains('/') => {
            let settings = || SettingsFile::ALL.iter().find(|file| file.path() == path);
            specs::File::at(path).map(Question::Specs).or_else(|| settings().copied().map(Question::Settings))
        }
        _ => match path.split_once('/')? {
            ("info", name) if safe(name, MAX) => Some(Question::Info(name)),
            ("gems", file) => full_name(file, ".gem").map(Question::Gem),
            ("downloads", file) => full_name(file, ".gem").map(Question::Download),
            ("api", call) => {
                let full_name = call.strip_prefix("v1/attestations/")?.strip_suffix(".json")?;
                safe(full_name, MAX).then_some(Question::Attestations(full_name))
            }
            ("quick", file) => file.strip_prefix("Marshal.4.8/").and_then(gemspec),
            // Bundler before 1.12 uses this name for both.
            ("fetch", file) => {
                let file = file.strip_prefix("actual/gem/")?;
                gemspec(file).or_else(|| full_name(file, ".gem").map(Question::Gem))
            }
            _ => None,
        },
    }
}

fn gemspec(file: &str) -> Option<Question<'_>> {
    full_name(file, ".gemspec.rz").map(Question::Gemspec)
}

fn full_name<'a>(file: &'a str, ending: &str) -> Option<&'a str> {
    file.strip_suffix(ending).filter(|name| safe(name, FULL_NAME_MAX))
}

fn safe(name: &str, max: usize) -> bool {
    name.len() <= max && !name.starts_with('.') && plain(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_that_clients_use_is_a_question() {
        for (path, question) in [
            ("", Question::Root),
            ("versions", Question::Versions),
            ("names", Question::Names),
            ("info/net-http", Question::Info("net-http")),
            ("specs.4.8.gz", Question::Specs(specs::File::Released)),
            ("latest_specs.4.8.gz", Question::Specs(specs::File::Latest)),
            ("prerelease_specs.4.8.gz", Question::Specs(specs::File::Prerelease)),
            ("gems/nokogiri-1.18.9-x86_64-linux.gem", Question::Gem("nokogiri-1.18.9-x86_64-linux")),
            ("api/v1/dependencies", Question::Dependencies(Form::Marshal)),
            ("api/v1/dependencies.json", Question::Dependencies(Form::Json)),
            ("downloads/rack-3.0.gem", Question::Download("rack-3.0")),
            ("fetch/actual/gem/rack-3.0.gem", Question::Gem("rack-3.0")),
            ("fetch/actual/gem/rack-3.0.gemspec.rz", Question::Gemspec("rack-3.0")),
            ("quick/Marshal.4.8/rack-3.0.gemspec.rz", Question::Gemspec("rack-3.0")),
            ("api/v1/attestations/rack-3.0-java.json", Question::Attestations("rack-3.0-java")),
            ("api/v1/gems", Question::Push),
            ("api/v1/gems/yank", Question::Yank),
            ("api/v1/gems/unyank", Question::Unyank),
            ("bundle-config", Question::Settings(SettingsFile::Bundler)),
            ("gemrc", Question::Settings(SettingsFile::Gem)),
        ] {
            assert_eq!(read(path), Some(question), "{path}");
        }
    }

    #[test]
    fn anything_odd_is_nothing() {
        for path in [
            "/",
            "/versions",
            "versions/",
            "Versions",
            "specs.4.8",
            "a/specs.4.8.gz",
            "info",
            "info/",
            "info/a/b",
            "info/..",
            "info/.a",
            "info/a b",
            "info/a\n",
            "info/\u{e4}",
            "gems/a-1",
            "gems/.gem",
            "gems/../a-1.gem",
            "gems/a-1.gem/",
            "api/v1",
            "api/v1/attestations/rack-3.0",
            "api/v1/attestations/.json",
            "quick/rack-3.0.gemspec.rz",
            "quick/Marshal.4.8/rack-3.0.gemspec",
            "quick/Marshal.4.8/a/rack-3.0.gemspec.rz",
            "fetch/actual/gem/.gem",
            "info/a%2fb",
            "info\\a",
            "info/a\0",
        ] {
            assert_eq!(read(path), None, "{path:?}");
        }
        assert_eq!(read(&format!("info/{}", "a".repeat(256))), None);
        assert!(read(&format!("gems/{}.gem", "a".repeat(767))).is_some());
        assert_eq!(read(&format!("gems/{}.gem", "a".repeat(768))), None);
    }
}
