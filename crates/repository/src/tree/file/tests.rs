//! Paths as their formats read them.

use super::*;
use crate::format::Format::{Maven, Raw};

#[test]
fn a_checksum_is_one_only_where_the_format_has_them() {
    let jar = "a/b/1/b-1.jar";
    let sha1 = "a/b/1/b-1.jar.sha1";
    assert_eq!(File::read(Maven, sha1).checksum(), Some((File::read(Maven, jar), Checksum::Sha1)));
    assert_eq!(File::read(Raw, sha1).checksum(), None);
    assert_eq!(File::read(Maven, jar).checksum(), None);
    assert_eq!(File::read(Raw, sha1).kept_checksum(), Some((File::read(Raw, jar), Checksum::Sha1)));
    assert_eq!(File::read(Maven, sha1).kept_checksum(), None);
}

#[test]
fn releases_last_and_metadata_does_not_and_raw_files_have_no_rule() {
    assert_eq!(File::read(Maven, "a/b/1/b-1.jar").facts().is_immutable, Some(true));
    assert_eq!(File::read(Maven, "a/b/maven-metadata.xml").facts().is_immutable, Some(false));
    assert_eq!(File::read(Raw, "dist/tool.zip").facts().is_immutable, None);
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
        assert_eq!(File::read(Maven, file).has_checksum_beside(), has, "{file}");
    }
    assert!(!File::read(Raw, "a/b/1/b-1.jar").has_checksum_beside());
}

#[test]
fn a_page_for_people_has_its_ending_or_none() {
    let raw = |file| File::read(Raw, file).may_be_html();
    assert!(raw("site/index.html") && raw("dist/v20") && !raw("a/b-1.jar"));
    let maven = |file| File::read(Maven, file).may_be_html();
    assert!(maven("a/b/1/index.html") && !maven("org/example"));
}

#[test]
fn a_group_s_documents_are_told_from_files() {
    let is_document = |format, path| File::read(format, path).document().is_some();
    assert!(is_document(Maven, "a/b/maven-metadata.xml") && !is_document(Raw, "a/b/maven-metadata.xml"));
}
