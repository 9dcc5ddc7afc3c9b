//! Which settings a repository accepts, and the messages that refuse the others.

use super::*;
use crate::maven::layout_policy::LayoutPolicy;
use crate::maven::version_policy::VersionPolicy;
use crate::record::{RemoteRecord, Retention};
use telemetry::Millis;

fn hosted(format: &str) -> RepositoryRecord {
    RepositoryRecord::new("r", format, RepositoryKind::Hosted, Millis(0))
}

fn remote(url: &str) -> RepositoryRecord {
    let remote = RemoteRecord { urls: vec![url.to_owned()], ..RemoteRecord::default() };
    let record = RepositoryRecord::new("r", "maven", RepositoryKind::Remote, Millis(0));
    RepositoryRecord { remote: Some(Box::new(remote)), ..record }
}

fn with(change: impl FnOnce(&mut RemoteRecord)) -> RepositoryRecord {
    let mut record = remote("http://a");
    change(record.remote.as_mut().unwrap());
    record
}

fn refused(mut record: RepositoryRecord) -> String {
    let error = settle(&mut record).unwrap_err();
    assert!(error.hint().is_some() || matches!(error, Error::Unsupported(_)), "{error}");
    error.to_string()
}

#[test]
fn a_url_of_an_upstream_is_kept_without_the_slash_at_its_end() {
    for (written, kept) in [
        ("https://repository.example/maven2/", "https://repository.example/maven2"),
        ("http://127.0.0.1:8081/a/b//", "http://127.0.0.1:8081/a/b"),
        ("http://[::1]:8081", "http://[::1]:8081"),
        ("http://[::1]", "http://[::1]"),
        ("http://a_b-c.example/%20", "http://a_b-c.example/%20"),
    ] {
        let mut record = remote(written);
        settle(&mut record).unwrap();
        assert_eq!(record.remote.unwrap().urls, [kept]);
    }
}

#[test]
fn what_is_no_url_of_an_upstream_is_refused() {
    for odd in [
        "",
        "a.example",
        "ftp://a",
        "http:/a",
        "http://",
        "http:///a",
        "http://a:0",
        "http://a:65536",
        "http://a:b",
        "http://a b",
        "http://a/b c",
        "http://a/?x=1",
        "http://a/#b",
        "http://[::1",
        "http://[x]:1",
        "http://a\n",
        "https://\u{e9}.example",
        "http://a/\\b",
        &format!("http://a/{}", "b".repeat(TEXT_MAX)),
    ] {
        assert!(refused(remote(odd)).starts_with("`remote.urls`: "), "{odd}");
    }
    // No message contains a possible password.
    let said = refused(remote("http://ann:hush@a.example/x"));
    assert_eq!(said, "`remote.urls`: a URL holds no user and no password");
    assert!(!refused(remote("ftp://ann:hush@a.example/x")).contains("hush"));
    assert!(refused(with(|remote| remote.urls = vec!["http://a".into(); 9])).contains("1 to 8 URLs"));
    // The remote repository of a new data folder has no URL yet.
    settle(&mut with(|remote| remote.urls.clear())).unwrap();
}

#[test]
fn hosts_that_are_reached_without_the_proxy_are_names_or_addresses() {
    let with_proxy = |hosts: &[&str]| {
        with(|remote| {
            remote.proxy = Some("http://proxy.example:3128".into());
            remote.no_proxy = Some(hosts.iter().map(|host| (*host).to_owned()).collect());
        })
    };
    let mut record = with_proxy(&["*.Inside.example", ".a", "10.0.0.1", "::1"]);
    settle(&mut record).unwrap();
    assert_eq!(record.remote.unwrap().no_proxy.unwrap(), ["inside.example", "a", "10.0.0.1", "::1"]);
    let mut none = with_proxy(&[]);
    settle(&mut none).unwrap();
    assert_eq!(none.remote.unwrap().no_proxy, None);
    for odd in ["", "*", "a:80", "10.0.0.0/8", "http://a", &"a".repeat(NAME_MAX + 1)] {
        assert!(refused(with_proxy(&[odd])).starts_with("`remote.no_proxy`: "), "{odd}");
    }
    assert!(refused(with_proxy(&["a"; NO_PROXY_MAX + 1])).contains("64 hosts at most"));
    assert!(refused(with(|remote| remote.no_proxy = Some(vec!["a".into()]))).contains("there is none"));
}

#[test]
fn only_files_without_coordinates_can_be_replaced() {
    settle(&mut RepositoryRecord { replaceable: true, ..hosted("raw") }).unwrap();
    for format in ["maven", "gem"] {
        let said = refused(RepositoryRecord { replaceable: true, ..hosted(format) });
        assert!(said.starts_with("`replaceable` is a setting of hosted repositories of format raw"), "{said}");
    }
}

#[test]
fn a_hosted_repository_of_maven_may_take_paths_outside_of_its_layout() {
    let layout = |name: &str, format: &str| RepositoryRecord { layout: Some(name.into()), ..hosted(format) };
    let mut any = layout("any", "maven");
    settle(&mut any).unwrap();
    assert_eq!((any.layout.as_deref(), LayoutPolicy::of(&any)), (Some("any"), LayoutPolicy::Any));
    let mut maven = layout("maven", "maven");
    settle(&mut maven).unwrap();
    assert_eq!((maven.layout.clone(), LayoutPolicy::of(&maven)), (None, LayoutPolicy::Maven));
    assert_eq!(refused(layout("ivy", "maven")), "`layout` cannot be `ivy`");
    for format in ["raw", "gem"] {
        assert!(
            refused(layout("any", format)).starts_with("`layout` is a setting of hosted repositories of format maven")
        );
    }
}

#[test]
fn a_checksum_policy_is_one_of_three_and_the_usual_one_is_not_written_down() {
    let mut strict = with(|remote| remote.checksums = Some("strict".into()));
    settle(&mut strict).unwrap();
    assert_eq!(strict.remote.unwrap().checksums, None);
    settle(&mut with(|remote| remote.checksums = Some("warn".into()))).unwrap();
    assert!(refused(with(|remote| remote.checksums = Some("lax".into()))).starts_with("`remote.checksums` cannot be"));
}

#[test]
fn credentials_are_named_and_never_given() {
    for good in ["env:CENTRAL_TOKEN", "file:/run/secrets/central"] {
        settle(&mut with(|remote| remote.credentials = Some(good.into()))).unwrap();
    }
    for odd in ["hush", "ann:hush", "env:", "env:A=hush", ""] {
        let said = refused(with(|remote| remote.credentials = Some(odd.into())));
        assert_eq!(said, "`remote.credentials` says where the credentials are, never what they are");
    }
    assert!(refused(with(|remote| remote.credentials = Some("file:central".into()))).contains("whole path"));
    assert!(refused(with(|remote| remote.trust = Some("ca.pem".into()))).contains("whole path"));
    assert!(refused(with(|remote| remote.proxy_credentials = Some("env:A".into()))).contains("there is none"));
    assert!(refused(with(|remote| remote.proxy = Some("https://proxy".into()))).contains("`http://`"));
    settle(&mut with(|remote| remote.proxy = Some("http://proxy:3128".into()))).unwrap();
}

#[test]
fn numbers_have_limits() {
    assert_eq!(refused(with(|remote| remote.fresh_s = Some(AGE_MAX_S + 1))), "`remote.fresh_s` cannot be 31622401");
    assert!(refused(with(|remote| remote.max_bytes = Some(1))).contains("max_bytes"));
    settle(&mut with(|remote| (remote.fresh_s, remote.missing_s) = (Some(0), Some(0)))).unwrap();
    let keep = |builds, days| RepositoryRecord {
        retention: Some(Retention { builds, days, released_days: None }),
        ..hosted("maven")
    };
    settle(&mut keep(Some(1), Some(30))).unwrap();
    assert!(refused(keep(Some(0), None)).contains("retention.builds"));
    let mut nothing = keep(None, None);
    settle(&mut nothing).unwrap();
    assert_eq!(nothing.retention, None);
}

#[test]
fn each_setting_is_for_the_repositories_that_have_it() {
    let versions = |record, name: &str| RepositoryRecord { versions: Some(name.into()), ..record };
    let mut mixed = versions(hosted("maven"), "mixed");
    settle(&mut mixed).unwrap();
    assert_eq!((mixed.versions.clone(), VersionPolicy::of(&mixed)), (None, VersionPolicy::Mixed));
    let mut releases = versions(hosted("maven"), "releases");
    settle(&mut releases).unwrap();
    assert_eq!(VersionPolicy::of(&releases), VersionPolicy::Releases);
    assert!(refused(versions(hosted("maven"), "some")).contains("`versions` cannot be `some`"));
    assert!(refused(versions(hosted("gem"), "releases")).contains("hosted repositories of format maven"));
    assert!(refused(versions(remote("http://a"), "releases")).contains("hosted repositories of format maven"));
    let kept = Some(Retention { builds: Some(3), ..Retention::default() });
    assert!(refused(RepositoryRecord { retention: kept, ..releases }).contains("releases only"));
    assert!(refused(RepositoryRecord { retention: kept, ..hosted("raw") }).contains("hosted repositories of"));
    assert!(refused(RepositoryRecord { owners_enforced: true, ..hosted("maven") }).contains("repositories of gems"));
    let mut v2 = RepositoryRecord { info_format: Some("v2".into()), ..hosted("gem") };
    settle(&mut v2).unwrap();
    assert_eq!(v2.info_format, None);
    assert!(refused(RepositoryRecord { info_format: Some("v3".into()), ..hosted("gem") }).contains("v3"));
    let upstream = remote("http://a").remote;
    assert!(refused(RepositoryRecord { remote: upstream, ..hosted("maven") }).contains("remote repositories"));
    assert!(refused(RepositoryRecord { remote: None, ..remote("http://a") }).contains("needs the URL"));
    settle(&mut RepositoryRecord { format: "gem".into(), ..remote("http://a") }).unwrap();
    assert!(refused(RepositoryRecord { kind: RepositoryKind::Group, ..hosted("maven") }).contains("members"));
    assert!(refused(RepositoryRecord { members: vec!["a".into()], ..hosted("maven") }).contains("groups"));
    assert!(refused(RepositoryRecord { format: "npm".into(), ..hosted("gem") }).contains("npm"));
    assert!(refused(RepositoryRecord { name: "A".into(), ..hosted("gem") }).contains("`A`"));
}

#[test]
fn the_claims_of_a_repository_of_gems_are_kept_in_order_and_each_once() {
    let claiming = |claims: &[&str]| RepositoryRecord {
        claims: claims.iter().map(|claim| (*claim).to_owned()).collect(),
        ..hosted("gem")
    };
    let mut record = claiming(&["rack", "lamp", "rack", "_odd-", "2"]);
    settle(&mut record).unwrap();
    assert_eq!(record.claims, ["2", "_odd-", "lamp", "rack"]);
    for odd in ["", "a b", "a,b", "a/b", "rack:1.0", "rack-*", "ä", &"a".repeat(256)] {
        assert!(refused(claiming(&["rack", odd])).contains("no gem can have the name"), "{odd}");
    }
    let many: Vec<String> = (0..1_001).map(|number| format!("gem-{number}")).collect();
    let mut most = RepositoryRecord { claims: many[1..].to_vec(), ..hosted("gem") };
    settle(&mut most).unwrap();
    assert!(refused(RepositoryRecord { claims: many, ..hosted("gem") }).contains("1000 names at most, not 1001"));
    for format in ["maven", "raw"] {
        let other = RepositoryRecord { claims: vec!["rack".to_owned()], ..hosted(format) };
        assert!(refused(other).contains("`claims` is a setting of hosted and remote repositories of gems"), "{format}");
    }
}
