//! What a path of an upstream is, as far as fetching it depends on that.

use crate::format::Format;
use format::maven::path::{self, Kind};
use format::tree::Checksum;

/// Whether the path never has other bytes. A raw repository has no rules about that: it is so unless somebody says for
/// how long its files are good.
pub(crate) fn lasting(format: Format, file: &str, told: bool) -> bool {
    match format {
        Format::Maven => path::lasting(file),
        Format::Raw | Format::Gem => !told,
    }
}

/// The file that this is a checksum of, and which. A raw repository knows no such thing: a checksum is a file there.
pub(crate) fn checksum_of(format: Format, asked: &str) -> Option<(&str, Checksum)> {
    let read = path::read(asked).filter(|_| format == Format::Maven)?;
    Some((read.file, read.checksum?))
}

/// Whether it is metadata of Maven: short-lived, so that what is said elsewhere about its bytes may be of others. Central
/// itself had wrong checksums beside its metadata for a while (MCOMPILER-487).
pub(crate) fn is_metadata(format: Format, file: &str) -> bool {
    format == Format::Maven && matches!(path::read(file).map(|read| read.kind), Some(Kind::Metadata(_)))
}

/// Whether an upstream has a checksum beside it that can be asked for: clients publish none for signatures.
pub(crate) fn has_checksum_beside(format: Format, file: &str) -> bool {
    let read = path::read(file).filter(|_| format == Format::Maven);
    let artifact = read.is_some_and(|read| read.checksum.is_none() && matches!(read.kind, Kind::Artifact(_)));
    artifact && path::signature_of(file).is_none()
}

/// Whether a page for people may be what is asked for. Where none can be, one is the word of somebody else on the way:
/// a login, a portal, an error that is called success; or the listing of a folder, which is no file of Maven's and would tell of
/// names whatever policy says.
pub(crate) fn may_be_html(format: Format, file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    match name.rsplit_once('.') {
        Some((_, ending)) => matches!(ending, "html" | "htm" | "xhtml"),
        None => format != Format::Maven,
    }
}

/// Whether a body that is said to be coded so is the file as it is. None is asked for with a coding; but servers call
/// what is packed by itself coded, as Apache does with `tool.tar.gz`.
pub(crate) fn is_of_itself(file: &str, coding: &str) -> bool {
    let coding = coding.trim().to_ascii_lowercase();
    let endings: &[&str] = match coding.strip_prefix("x-").unwrap_or(&coding) {
        "" | "identity" => return true,
        "gzip" => &["gz", "tgz"],
        "bzip2" => &["bz2", "tbz2"],
        "xz" => &["xz", "txz"],
        "zstd" => &["zst"],
        "compress" => &["Z"],
        _ => &[],
    };
    file.rsplit_once('.').is_some_and(|(_, ending)| endings.contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_by_itself_may_be_called_coded() {
        assert!(is_of_itself("a/tool.tar.gz", "x-gzip") && is_of_itself("a/b.jar", " Identity "));
        assert!(!is_of_itself("a/b.jar", "gzip") && !is_of_itself("a/tool.gz", "br"));
    }

    #[test]
    fn a_checksum_is_one_only_where_the_format_has_them() {
        let sha1 = Some(("a/b/1/b-1.jar", Checksum::Sha1));
        assert_eq!(checksum_of(Format::Maven, "a/b/1/b-1.jar.sha1"), sha1);
        assert_eq!(checksum_of(Format::Raw, "a/b/1/b-1.jar.sha1"), None);
        assert_eq!(checksum_of(Format::Maven, "a/b/1/b-1.jar"), None);
    }

    #[test]
    fn releases_last_and_metadata_does_not_and_raw_files_last_until_told() {
        assert!(lasting(Format::Maven, "a/b/1/b-1.jar", true));
        assert!(!lasting(Format::Maven, "a/b/maven-metadata.xml", false));
        assert!(lasting(Format::Raw, "dist/tool.zip", false) && !lasting(Format::Raw, "dist/tool.zip", true));
    }

    #[test]
    fn artifacts_have_checksums_beside_them_and_what_signs_them_has_none() {
        for (file, has) in [
            ("a/b/1/b-1.jar", true),
            ("a/b/1/b-1.pom", true),
            ("a/b/1/b-1.jar.asc", false),
            ("a/b/1/b-1.jar.sha1", false),
            ("a/b/maven-metadata.xml", false),
        ] {
            assert_eq!(has_checksum_beside(Format::Maven, file), has, "{file}");
        }
        assert!(!has_checksum_beside(Format::Raw, "a/b/1/b-1.jar"));
    }

    #[test]
    fn a_page_for_people_has_its_ending_or_none() {
        let raw = |file| may_be_html(Format::Raw, file);
        assert!(raw("site/index.html") && raw("dist/v20") && !raw("a/b-1.jar"));
        assert!(may_be_html(Format::Maven, "a/b/1/index.html") && !may_be_html(Format::Maven, "org/example"));
    }
}
