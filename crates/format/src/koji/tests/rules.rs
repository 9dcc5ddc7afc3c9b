//! Builds and files that are left out, and that no name leads out of the URL of the files.

use crate::koji::left_out::{self, LeftOut, is_plain};
use crate::koji::model::*;
use crate::koji::url;
use proptest::prelude::*;

fn archive(change: impl FnOnce(&mut Archive)) -> Option<LeftOut> {
    let mut archive = Archive {
        id: 1,
        build: BuildId(1),
        group: "org.example".into(),
        artifact: "lamp".into(),
        version: "1.0".into(),
        filename: "lamp-1.0.jar".into(),
        size_bytes: 1,
        digest: Some(FileDigest::Md5([0; 16])),
        metadata_only: false,
    };
    change(&mut archive);
    left_out::archive(&archive)
}

fn nvr() -> Nvr {
    Nvr { name: "lamp-parent".into(), version: "1.0".into(), release: "1".into() }
}

fn build(change: impl FnOnce(&mut TaggedBuild)) -> Option<LeftOut> {
    let mut build = TaggedBuild {
        id: BuildId(1),
        nvr: nvr(),
        volume: "DEFAULT".into(),
        state: BuildState::Complete,
        tag: TagId(1),
        tag_name: "t".into(),
        tagged: EventId(1),
        completed_ms: None,
        owner: None,
    };
    change(&mut build);
    left_out::build(&build)
}

#[test]
fn each_reason_leaves_something_out() {
    assert_eq!((archive(|_| {}), build(|_| {})), (None, None));
    let mut seen = vec![
        archive(|it| it.metadata_only = true),
        archive(|it| it.version = "1.0-SNAPSHOT".into()),
        archive(|it| it.digest = None),
        archive(|it| it.group = "org..example".into()),
        archive(|it| it.artifact = "..".into()),
        archive(|it| it.version = "1/0".into()),
        archive(|it| it.filename = String::new()),
        build(|it| it.state = BuildState::Deleted),
        build(|it| it.nvr.release = ".".into()),
        build(|it| it.volume = "a\\b".into()),
    ];
    seen.sort();
    let all: Vec<_> = LeftOut::ALL.iter().copied().map(Some).collect();
    assert_eq!(seen, all);
    let names: std::collections::BTreeSet<_> = LeftOut::ALL.iter().map(|reason| reason.as_str()).collect();
    assert_eq!(names.len(), LeftOut::ALL.len());
}

#[test]
fn a_plain_name_is_one_part_of_a_path() {
    let long = "x".repeat(255);
    for plain in ["a", "a b", "odd_\u{fc}#%.jar", "..a", "...", "1.0-snap", &long] {
        assert!(is_plain(plain), "{plain}");
    }
    let longer = "x".repeat(256);
    for other in ["", ".", "..", "a/b", "/", "a\\b", "a\0", "a\nb", "a\u{7f}", "a\u{85}", "a?b", &longer] {
        assert!(!is_plain(other), "{other}");
    }
}

#[test]
fn a_file_of_another_volume_is_below_it_and_the_url_is_encoded() {
    let path = |volume, name| url::path(&nvr(), volume, "org/example/lamp/1.0", name);
    let expected = "packages/lamp-parent/1.0/1/maven/org/example/lamp/1.0/a b#%\u{fc}.jar";
    assert_eq!(path("DEFAULT", "a b#%\u{fc}.jar").as_deref(), Some(expected));
    assert_eq!(
        path("archive", "a.jar").unwrap().split('/').take(3).collect::<Vec<_>>(),
        ["vol", "archive", "packages"]
    );
    assert_eq!(url::encoded("a b#%\u{fc}/c+d"), "a%20b%23%25%C3%BC/c%2Bd");
    assert_eq!(path("..", "a.jar"), None);
}

proptest! {
    #[test]
    fn no_name_leads_out_of_the_folder_of_its_build(parts in proptest::collection::vec("(\\.|/|\\\\|%2e|a|\\PC|\u{0}){0,6}", 6)) {
        let [name, version, release, volume, folder, file] = &parts[..] else { panic!() };
        let nvr = Nvr { name: name.clone(), version: version.clone(), release: release.clone() };
        if let Some(path) = url::path(&nvr, volume, folder, file) {
            let at = if volume == "DEFAULT" { 0 } else { 2 };
            let segments: Vec<_> = path.split('/').collect();
            prop_assert_eq!(&segments[at..at + 5], &["packages", name, version, release, "maven"]);
            prop_assert!(segments.iter().all(|part| !part.is_empty() && *part != "." && *part != ".." && !part.contains('\\')));
            prop_assert_eq!(segments.len(), at + 6 + folder.split('/').count());
            let decoded: Vec<_> = url::encoded(&path).split('/').map(|part| crate::percent::decode(part).unwrap()).collect();
            prop_assert_eq!(decoded, segments.iter().map(|part| part.as_bytes().to_vec()).collect::<Vec<_>>());
        }
    }
}
