//! The rules of raw files for settings and policies.

use crate::bad_setting::BadSetting;
use crate::cleanup::used_name::UsedName;
use crate::format::rules::{AMBIGUOUS_PATH, Coordinates, FormatRules, NamePlace, PatternSyntax, PrefixSyntax};
use crate::raw::query;
use crate::record::RepositoryRecord;
use format::tree;
use serde_json::{Value, json};
use std::borrow::Cow;
use store::Entry;

/// The rules of raw files.
pub(crate) struct RawRules;

impl FormatRules for RawRules {
    fn name(&self) -> &'static str {
        "raw"
    }

    fn has_queries(&self) -> bool {
        true
    }

    fn settle(&self, record: &mut RepositoryRecord, own: bool) -> Result<(), BadSetting> {
        query::settle(record, own)
    }

    fn settle_hosted(&self, record: &mut RepositoryRecord, own: bool) -> Result<(), BadSetting> {
        match record.replaceable && !own {
            true => Err(BadSetting::not_for("replaceable", record, "hosted repositories of format raw")),
            false => Ok(()),
        }
    }

    fn hosted_settings(&self, record: &RepositoryRecord) -> Value {
        json!({ "replaceable": record.replaceable })
    }

    fn has_info(&self) -> bool {
        false
    }

    fn has_packages(&self) -> bool {
        false
    }

    fn is_tree(&self) -> bool {
        true
    }

    fn refuses_files(&self, _: &str) -> Option<BadSetting> {
        None
    }

    fn entry<'a>(&self, entry: &'a Entry) -> Option<Coordinates<'a>> {
        Some(Coordinates { package: Cow::Borrowed(&entry.key), version: Cow::Borrowed("") })
    }

    fn listed<'a>(&self, entry: &'a Entry) -> Coordinates<'a> {
        Coordinates { package: Cow::Borrowed(&entry.key), version: Cow::Borrowed("") }
    }

    fn unit<'a>(&self, unit: &'a str) -> Coordinates<'a> {
        let path = unit.split_once("//").map_or(unit, |(path, _)| path);
        Coordinates { package: Cow::Borrowed(path), version: Cow::Borrowed("") }
    }

    /// A checksum is a file of its own here. The checksum of a hidden file is hidden too.
    fn checksum_of<'a>(&self, package: &'a str) -> Option<&'a str> {
        tree::checksum_of(package).map(|(file, _)| file)
    }

    fn patterns(&self) -> &'static PatternSyntax {
        &PatternSyntax { fields: 1, last_holds_colons: true, examples: "`tools/*`" }
    }

    fn fields<'a>(&self, package: &'a str, _: &'a str) -> [Option<&'a str>; 3] {
        [Some(package), None, None]
    }

    fn prefixes(&self) -> &'static PrefixSyntax {
        &PrefixSyntax { separator: Some('/'), example: "a folder such as `example/tools`" }
    }

    fn prefixed<'a>(&self, package: &'a str) -> Cow<'a, str> {
        Cow::Borrowed(package)
    }

    fn names_ignore_case(&self) -> bool {
        true
    }

    fn unclassified(&self) -> &'static str {
        AMBIGUOUS_PATH
    }

    fn download(&self) -> &'static str {
        "file"
    }

    fn used_name<'a>(&self, _: &str, _: &'a str, _: &'a str) -> Option<UsedName<'a>> {
        None
    }

    fn is_package(&self, _: &str) -> bool {
        false
    }

    fn named_path<'a>(&self, what: &'a str) -> Cow<'a, str> {
        Cow::Borrowed(what.trim_matches('/'))
    }

    fn explained_path<'a>(&self, path: &'a str) -> Cow<'a, str> {
        Cow::Borrowed(path)
    }

    fn path_in_package(&self, _: &str) -> Option<String> {
        None
    }

    fn published_at(&self, entry: &Entry) -> (String, Option<(String, String)>) {
        (entry.key.clone(), None)
    }

    fn restored_as(&self, entry: &Entry) -> String {
        entry.key.clone()
    }

    fn version_folder(&self, _: &str) -> Option<(String, String)> {
        None
    }

    fn has_yanks(&self) -> bool {
        false
    }

    fn moments(&self) -> &'static [&'static str] {
        &[]
    }

    fn kept_by_unit(&self, unit: &str) -> String {
        unit.to_owned()
    }

    fn name_place<'a>(&self, name: &'a str) -> NamePlace<'a> {
        NamePlace::Key(name)
    }
}

#[cfg(test)]
mod tests {
    use crate::format::Format;
    use crate::policy::package_version::{PackageVersion, Since};
    use crate::policy::pattern::Pattern;
    use crate::policy::prefix::Prefix;
    use crate::raw::layout::RawPath;

    fn file(path: &str) -> PackageVersion<'_> {
        RawPath(path).named(Since::Always).unwrap()
    }

    #[test]
    fn a_path_is_one_name_whatever_is_in_it() {
        assert_eq!(file("tools/a:b").fields().collect::<Vec<_>>(), ["tools/a:b"]);
        Pattern::read("deny", Format::Raw, "a:b").unwrap();
    }

    #[test]
    fn files_begin_as_folders_do() {
        let begins = |path| Prefix::read("tools/", Format::Raw).unwrap().begins(&file(path));
        assert!(begins("tools/a") && !begins("toolset/a"));
    }

    #[test]
    fn what_is_about_a_raw_file_is_about_its_checksums() {
        let about = |pattern: &str, path| {
            let (pattern, what) = (Pattern::read("deny", Format::Raw, pattern).unwrap(), file(path));
            (pattern.is_about(&what), pattern.may_be_about(&what))
        };
        assert_eq!(about("tools/x.jar", "tools/x.jar.sha1"), (true, true));
        assert_eq!(about("tools/*.sha1", "tools/x.jar.sha1"), (true, true));
        assert_eq!(about("tools/x.jar", "tools/x.jar.asc"), (false, false));
    }
}
