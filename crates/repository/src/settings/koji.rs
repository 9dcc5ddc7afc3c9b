//! The valid settings of a Koji hub as the source of a remote repository.

use super::base;
use crate::bad_setting::BadSetting;
use crate::record::{KojiRecord, RemoteRecord, tag_pattern};
use telemetry::Event;

/// Maximum number of patterns for tags.
const TAGS_MAX: usize = 64;
/// Maximum length of a pattern, in bytes. Koji allows 256 characters in the name of a tag.
const PATTERN_MAX: usize = 256;

/// Refuses invalid settings, and normalises the others.
pub(super) fn settle(remote: &mut RemoteRecord) -> Result<(), BadSetting> {
    let Some(koji) = &mut remote.koji else { return Ok(()) };
    if !remote.urls.is_empty() {
        let text = "`remote.urls` and `remote.koji` are two upstreams of one repository";
        return Err(BadSetting::new(text, "leave one of them out; a group offers several repositories at one URL"));
    }
    let meaningless = [
        ("fresh_s", remote.fresh_s.is_some(), "its map of the tags is compared with the hub every minute"),
        ("missing_s", remote.missing_s.is_some(), "its map of the tags proves each 404 without a call"),
        ("prefixes", remote.prefixes == Some(true), "its map of the tags has all paths"),
    ];
    if let Some((name, _, why)) = meaningless.iter().find(|(_, set, _)| *set) {
        let text = format!("`remote.{name}` means nothing for a Koji hub: {why}");
        return Err(BadSetting::new(text, "leave it out"));
    }
    koji.hub = base("remote.koji.hub", &koji.hub, &["https", "http"])?;
    koji.files = base("remote.koji.files", &koji.files, &["https", "http"])?;
    patterns(koji)?;
    let rule = koji.duplicates.take();
    if let Some(other) = rule.as_deref().filter(|rule| ![KojiRecord::NEWEST, KojiRecord::OLDEST].contains(rule)) {
        let text = format!("`remote.koji.duplicates`: there is no rule `{}`", Event::text(other));
        return Err(BadSetting::new(text, "there are: newest, oldest"));
    }
    koji.duplicates = rule.filter(|rule| rule != KojiRecord::NEWEST);
    Ok(())
}

/// Checks the patterns for tags, and drops repeated ones.
fn patterns(koji: &mut KojiRecord) -> Result<(), BadSetting> {
    let mut tags: Vec<String> = Vec::with_capacity(koji.tags.len());
    for pattern in koji.tags.drain(..) {
        let why = match &*pattern {
            "" => Some("is empty"),
            long if long.len() > PATTERN_MAX => Some("is longer than 256 bytes"),
            odd if odd.chars().any(char::is_control) => Some("has a control character"),
            other => tag_pattern::fault(other),
        };
        if let Some(why) = why {
            let text = format!("`remote.koji.tags`: `{}` {why}", Event::text(&pattern));
            return Err(BadSetting::new(
                text,
                "the name of a tag, such as `app-1.0-released`, or a pattern: `app-*-released`",
            ));
        }
        if !tags.contains(&pattern) {
            tags.push(pattern);
        }
    }
    if tags.is_empty() || tags.len() > TAGS_MAX {
        let text = format!("`remote.koji.tags` has 1 to {TAGS_MAX} names or patterns, not {}", tags.len());
        return Err(BadSetting::new(text, "`--koji-tag PATTERN`, once for each; a pattern can name many tags"));
    }
    koji.tags = tags;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remote(change: impl FnOnce(&mut RemoteRecord, &mut KojiRecord)) -> RemoteRecord {
        let mut koji = KojiRecord {
            hub: "https://koji.example.org/kojihub".into(),
            files: "https://koji.example.org/kojifiles".into(),
            tags: vec!["app-*".into()],
            inherit: false,
            duplicates: None,
        };
        let mut remote = RemoteRecord::default();
        change(&mut remote, &mut koji);
        RemoteRecord { koji: Some(Box::new(koji)), ..remote }
    }

    fn refused(change: impl FnOnce(&mut RemoteRecord, &mut KojiRecord)) -> String {
        let error = settle(&mut remote(change)).unwrap_err();
        assert!(!error.hint().is_empty());
        error.to_string()
    }

    #[test]
    fn urls_lose_their_slash_and_the_default_rule_and_repeated_patterns_go() {
        let mut written = remote(|_, koji| {
            koji.hub += "/";
            koji.files += "//";
            koji.tags = ["b", "a", "b"].map(str::to_owned).into();
            koji.duplicates = Some("newest".into());
        });
        settle(&mut written).unwrap();
        assert_eq!(written, remote(|_, koji| koji.tags = vec!["b".into(), "a".into()]));
        let oldest = |_: &mut RemoteRecord, koji: &mut KojiRecord| koji.duplicates = Some("oldest".into());
        let mut kept = remote(oldest);
        settle(&mut kept).unwrap();
        assert_eq!(kept, remote(oldest));
    }

    #[test]
    fn a_hub_and_its_files_are_urls_without_a_password_or_a_query() {
        for odd in ["", "koji.example.org", "ftp://a", "http://a/x?y=1", "http://a/#b", "http://ann:hush@a/x"] {
            let hub = refused(|_, koji| koji.hub = odd.into());
            let files = refused(|_, koji| koji.files = odd.into());
            assert!(
                hub.starts_with("`remote.koji.hub`: ") && files.starts_with("`remote.koji.files`: "),
                "{hub} {files}"
            );
            assert!(!hub.contains("hush") && !files.contains("hush"), "{hub} {files}");
        }
    }

    #[test]
    fn patterns_that_name_no_tag_are_refused_and_so_are_none_and_too_many() {
        let with = |tags: &[&str]| {
            let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
            refused(|_, koji| koji.tags = tags)
        };
        for (tag, why) in [
            ("", "is empty"),
            ("a[b", "`[` without"),
            ("a\nb", "control"),
            ("a\u{7f}", "control"),
            (&"ü".repeat(129), "256 bytes"),
        ] {
            let said = with(&["fine", tag]);
            assert!(said.starts_with("`remote.koji.tags`: ") && said.contains(why), "{said}");
        }
        assert!(with(&[]).contains("1 to 64"));
        let many: Vec<String> = (0..65).map(|at| format!("tag-{at}")).collect();
        assert!(with(&many.iter().map(String::as_str).collect::<Vec<_>>()).contains("not 65"));
        settle(&mut remote(|_, koji| koji.tags = vec!["a".repeat(256); 70])).unwrap();
    }

    #[test]
    fn settings_that_mean_nothing_beside_a_hub_are_refused_by_name() {
        for (name, said) in [
            ("urls", refused(|remote, _| remote.urls = vec!["http://a".into()])),
            ("fresh_s", refused(|remote, _| remote.fresh_s = Some(1))),
            ("missing_s", refused(|remote, _| remote.missing_s = Some(1))),
            ("prefixes", refused(|remote, _| remote.prefixes = Some(true))),
            ("koji.duplicates", refused(|_, koji| koji.duplicates = Some("first".into()))),
        ] {
            assert!(said.starts_with(&format!("`remote.{name}`")), "{said}");
        }
        settle(&mut remote(|remote, _| remote.checksums = Some("warn".into()))).unwrap();
    }
}
