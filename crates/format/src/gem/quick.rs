//! `quick/Marshal.4.8/FULL.gemspec.rz`: the gemspec of one version. Every version of `gem install` reads it before it
//! downloads the gem, whichever index it chose the version from.
//!
//! It is a `Gem::Specification` without its lists of files, in Marshal, as a zlib stream.

use super::marshal::{self, Writer};
use super::specs::version;
use super::{Dependency, Kind, Package, Platform, Requirement};
use std::io::Write as _;

/// The file. `published` is the time of publication, in seconds since the epoch. Without a date in the gemspec
/// RubyGems would otherwise show the current day.
pub fn render(package: &Package, published: i64) -> Vec<u8> {
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    // Writing into memory does not fail.
    let _ = zlib.write_all(&marshal(package, published));
    zlib.finish().unwrap_or_default()
}

/// The content of the file.
fn marshal(package: &Package, published: i64) -> Vec<u8> {
    let mut out = marshal::OPENING.to_vec();
    Writer::new(&mut out).dumped("Gem::Specification", &specification(package, published));
    out
}

/// The input of `Gem::Specification._load`: a stream of its own with an array of the fields in their order.
fn specification(package: &Package, published: i64) -> Vec<u8> {
    let mut out = marshal::OPENING.to_vec();
    let to = &mut Writer::new(&mut out);
    to.array(19);
    to.string_or_nil(package.rubygems_version.as_deref());
    // RubyGems knows the number of fields of the forms 1 to 4, and treats later forms like 4.
    to.int(package.specification_version.max(1));
    to.string(&package.name);
    version(to, package.number.as_str());
    to.day(day(package, published));
    to.string(&package.summary);
    requirement(to, &package.required_ruby);
    requirement(to, &package.required_rubygems);
    to.string(&package.platform);
    to.array(package.dependencies.len());
    package.dependencies.iter().for_each(|needed| dependency(to, needed));
    to.string(""); // The project at RubyForge, which no longer exists.
    match package.email.as_slice() {
        [] if !package.email_list => to.nil(),
        [one] if !package.email_list => to.string(one),
        list => to.strings(list),
    }
    to.strings(&package.authors);
    to.string_or_nil(package.description.as_deref());
    to.string_or_nil(package.homepage.as_deref());
    to.bool(true); // Every gem has documentation to generate.
    platform(to, &package.platform);
    to.strings(&package.licenses);
    to.hash(package.metadata.len());
    for (key, value) in &package.metadata {
        to.string(key);
        to.string(value);
    }
    out
}

fn day(package: &Package, published: i64) -> jiff::civil::Date {
    let built = package.date.as_deref().and_then(|day| day.parse().ok());
    built.unwrap_or_else(|| {
        jiff::tz::TimeZone::UTC.to_datetime(jiff::Timestamp::from_second(published).unwrap_or_default()).date()
    })
}

fn requirement(to: &mut Writer<'_>, requirement: &Requirement) {
    to.loaded("Gem::Requirement");
    to.array(1);
    to.array(requirement.constraints().len());
    for (op, number) in requirement.constraints() {
        to.array(2);
        to.string(op.as_str());
        version(to, number.as_str());
    }
}

fn dependency(to: &mut Writer<'_>, dependency: &Dependency) {
    to.object("Gem::Dependency", 5);
    to.symbol("@name");
    to.string(&dependency.name);
    to.symbol("@requirement");
    requirement(to, &dependency.requirement);
    to.symbol("@type");
    to.symbol(match dependency.kind {
        Kind::Runtime => "runtime",
        Kind::Development => "development",
    });
    to.symbol("@prerelease");
    to.bool(false);
    // RubyGems before 1.3 reads this field.
    to.symbol("@version_requirements");
    requirement(to, &dependency.requirement);
}

fn platform(to: &mut Writer<'_>, name: &str) {
    let Some(platform) = Platform::read(name) else { return to.string("ruby") };
    to.object("Gem::Platform", 3);
    to.symbol("@cpu");
    to.string_or_nil(platform.cpu.as_deref());
    to.symbol("@os");
    to.string(&platform.os);
    to.symbol("@version");
    to.string_or_nil(platform.version.as_deref());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gem::{fixture, package};
    use std::io::Read as _;

    fn built(spec: &str) -> Package {
        package::read(fixture::gem(spec).as_slice(), &crate::gem::Limits::default()).unwrap()
    }

    #[test]
    fn the_file_is_a_zlib_stream_of_a_dumped_specification() {
        let package = built(fixture::SPEC_3_3);
        let file = render(&package, 0);
        let mut inside = Vec::new();
        flate2::read::ZlibDecoder::new(file.as_slice()).read_to_end(&mut inside).unwrap();
        assert_eq!(inside, marshal(&package, 0));
        assert!(inside.starts_with(b"\x04\x08u:\x17Gem::Specification"));
        assert!(specification(&package, 0).starts_with(b"\x04\x08[\x18I\"\x0b3.3.15\x06:\x06ETi\x09I\"\x0ddemo-lib"));
    }

    #[test]
    fn addresses_stay_one_text_or_a_list_or_none() {
        let text = b"I\"\x06a\x06;\x00T";
        for (email, email_list, written) in [
            (&[][..], false, b"0".to_vec()),
            (&[], true, b"[\x00".to_vec()),
            (&["a"], false, text.to_vec()),
            (&["a"], true, [b"[\x06", &text[..]].concat()),
            (&["a", "a"], false, [b"[\x07", &text[..], &text[..]].concat()),
        ] {
            let email = email.iter().copied().map(str::to_owned).collect();
            let package = Package { email, email_list, ..built(fixture::SPEC_3_3) };
            let file = specification(&package, 0);
            // `email` comes after the field `rubyforge_project` and before the first author.
            let between = [&b"I\"\x00\x06;\x00T"[..], &written, b"["].concat();
            assert!(file.windows(between.len()).any(|part| part == between), "{:?}", package.email);
        }
    }

    #[test]
    fn a_gemspec_without_a_day_is_of_the_day_it_was_published() {
        let mut package = built(fixture::SPEC_3_6);
        assert_eq!(day(&package, 0).to_string(), "1980-01-02");
        package.date = None;
        assert_eq!(day(&package, 1_777_636_800).to_string(), "2026-05-01");
        package.date = Some("yesterday".into());
        assert_eq!(day(&package, i64::MAX).to_string(), "1970-01-01");
    }
}
