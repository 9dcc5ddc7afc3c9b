//! Settings files of users, and what becomes of them.

use super::super::{Use, render};
use super::*;

const URL: &str = "http://repo.example/repository/maven/";

fn offered() -> String {
    render("maven", URL, Use::Instead)
}

fn merged(file: &str) -> String {
    String::from_utf8(merge(file.as_bytes(), &offered()).unwrap().bytes).unwrap()
}

/// Why the settings cannot be added.
fn refused(file: &str) -> String {
    let why = merge(file.as_bytes(), &offered()).unwrap_err().to_string();
    assert!(!why.contains("hunter2"), "a secret: {why}");
    why
}

/// Whether `text` is `longer` without some of its pieces.
fn is_in(text: &str, longer: &str, added: &[Added]) -> bool {
    let mut rest = longer.to_owned();
    for part in added {
        match rest.find(&part.text) {
            Some(at) => rest.replace_range(at..at + part.text.len(), ""),
            None => return false,
        }
    }
    rest == text
}

#[test]
fn everything_of_the_user_stays_byte_for_byte_and_a_second_time_adds_nothing() {
    for file in [
        "<settings>\n</settings>\n",
        "<settings></settings>",
        "\u{feff}<?xml version=\"1.0\"?>\r\n<settings xmlns=\"a\">\r\n\t<!-- <mirrors> -->\r\n\t<servers>\r\n\t\t<server><id>b</id>\
         <password>{hunter2=}</password></server> <!-- mine -->\r\n\t</servers>\r\n\t<proxies><proxy><id>p</id></proxy></proxies>\r\n</settings>",
        "<settings><servers><server><id>b</id></server></servers><profiles><!-- none --></profiles></settings>",
        "<settings>\n    <mirrors>\n        <mirror>\n            <id>x</id><url>u</url><mirrorOf>jboss</mirrorOf>\n        </mirror>\n    \
         </mirrors>\n\n    <!-- the end -->\n</settings>\n",
        "<settings>\n  <localRepository>${user.home}/K\u{f6}ln &amp; &uml;</localRepository>\n  <offline>false</offline>\n</settings>\n",
    ] {
        let first = merge(file.as_bytes(), &offered()).unwrap();
        let text = String::from_utf8(first.bytes.clone()).unwrap();
        assert!(!first.added.is_empty() && is_in(file, &text, &first.added), "{file}\nbecame\n{text}");
        assert!(first.added.iter().all(|added| !added.text.contains("hunter2")));
        assert_eq!(text.matches("\r\n").count() > 0, file.contains('\r'));
        assert!(!file.contains('\r') || !text.replace("\r\n", "").contains('\n'), "{text:?}");
        let again = merge(&first.bytes, &offered()).unwrap();
        assert_eq!((again.bytes, again.added), (first.bytes, vec![]), "{text}");
        let read = Node::read(&text).unwrap();
        for (list, entry) in LISTS {
            let ids: Vec<&str> = read.each(list).flat_map(|list| list.each(entry)).map(id).collect();
            assert!(read.each(list).count() == 1 && ids.contains(&"maven"), "{text}");
        }
    }
}

#[test]
fn what_is_added_has_the_indentation_of_the_file() {
    let text = merged(
        "<settings>\n\t<servers>\n\t\t<server>\n\t\t\t<id>b</id>\n\t\t</server>\n\t</servers>\n\t<mirrors/>\n</settings>\n",
    );
    assert!(text.contains("\n\t\t</server>\n\t\t<server>\n\t\t\t<id>maven</id>\n"), "{text}");
    assert!(text.contains("\n\t<mirrors>\n\t\t<mirror>\n\t\t\t<id>maven</id>\n"), "{text}");
    assert!(
        text.contains(
            "\n\t<profiles>\n\t\t<profile>\n\t\t\t<id>maven</id>\n\t\t\t<repositories>\n\t\t\t\t<repository>\n"
        ),
        "{text}"
    );
    assert!(
        text.ends_with(
            "\n\t<activeProfiles>\n\t\t<activeProfile>maven</activeProfile>\n\t</activeProfiles>\n</settings>\n"
        ),
        "{text}"
    );
    let empty = merged("<settings xmlns=\"a\"/>");
    assert!(empty.starts_with("<settings xmlns=\"a\">\n  <servers>\n    <server>\n      <id>maven</id>"), "{empty}");
    let latin = merge(b"<settings><!-- K\xf6ln --></settings>", &offered()).unwrap().bytes;
    assert!(latin.starts_with(b"<settings><!-- K\xf6ln -->\n  <servers>"));
}

#[test]
fn a_setting_that_contradicts_is_reported_with_its_line() {
    let mirror = |of: &str| {
        format!(
            "<settings>\n<mirrors>\n<mirror><id>corp</id><url>https://u:hunter2@c/</url><mirrorOf>{of}</mirrorOf></mirror>\n</mirrors>\n</settings>"
        )
    };
    for of in ["*", "central", "external:*", "jboss, *", "external:http:*"] {
        let why = refused(&mirror(of));
        assert!(why.starts_with("line 3: the mirror `corp`") && why.contains("`central`"), "{why}");
    }
    for of in ["jboss", "*,!central", "!central,*"] {
        let notes = merge(mirror(of).as_bytes(), &offered()).unwrap().notes;
        assert_eq!(notes, [format!("line 3: the mirror `corp` stays, for `{of}`")]);
    }
    for (file, says) in [
        (
            "<settings><servers>\n<server><id>maven</id><password>hunter2</password></server></servers></settings>",
            "line 2: `<server>` `maven`",
        ),
        (
            "<settings><mirrors><mirror><id>maven</id><url>http://c/</url></mirror></mirrors></settings>",
            "line 1: `<mirror>` `maven`",
        ),
        ("<settings><profiles><profile><id>maven</id></profile></profiles></settings>", "line 1: `<profile>` `maven`"),
    ] {
        assert!(refused(file).contains(says), "{}", refused(file));
    }
}

#[test]
fn repositories_that_the_mirror_takes_and_proxies_that_get_the_token_are_named() {
    let file = "<settings><proxies>\n<proxy><active>true</active><host>proxy.acme</host><password>hunter2</password>\
                <nonProxyHosts>localhost|*.acme</nonProxyHosts></proxy>\n<proxy><active>false</active><host>off</host></proxy>\n\
                <proxy><protocol>https</protocol><host>tls</host></proxy></proxies>\n<mirrors><mirror><id>m</id><url>https://m/</url>\
                <mirrorOf>jboss</mirrorOf></mirror></mirrors><profiles><profile><id>old</id><repositories>\n\
                <repository><id>acme-old</id><url>https://u:hunter2@old.acme/</url></repository>\n\
                <repository><id>jboss</id><url>https://jboss/</url></repository></repositories><pluginRepositories>\n\
                <pluginRepository><id>tools</id><url>https://old.acme/</url></pluginRepository></pluginRepositories></profile></profiles></settings>";
    let first = merge(file.as_bytes(), &offered()).unwrap();
    let proxy = "line 2: add `|repo.example` to `<nonProxyHosts>`, or Maven sends requests for `repo.example` and its token to the \
                 proxy `proxy.acme`";
    let expected = [
        "line 6: `acme-old` now comes from `maven`, which must have its files",
        "line 8: `tools` now comes from `maven`, which must have its files",
        "line 5: the mirror `m` stays, for `jboss`",
        proxy,
    ];
    assert_eq!(first.notes, expected);
    let again = merge(&first.bytes, &offered()).unwrap();
    assert_eq!((again.added, again.notes), (vec![], vec![proxy.to_owned()]));
    for direct in ["*.acme|repo.example", "REPO.*", "*", "r*o.*ple|x"] {
        let notes = merge(file.replace("*.acme", direct).as_bytes(), &offered()).unwrap().notes;
        assert_eq!(notes, expected[..3], "{direct}");
    }
    for proxied in ["*.example.org", "example", "repo", "", "repo*xample*e"] {
        let notes = merge(file.replace("*.acme", proxied).as_bytes(), &offered()).unwrap().notes;
        assert_eq!(notes, expected, "{proxied}");
    }
    let secure = render("maven", "https://u@repo.example:8443/maven/", Use::Instead);
    assert_eq!(merge(file.as_bytes(), &secure).unwrap().notes.len(), 5, "the proxy for https, too");
}

#[test]
fn settings_from_here_that_the_user_changed_stay_as_they_are() {
    let mine = offered().replace("${env.DAYLIGHT_TOKEN}", "hunter2").replace("<mirrorOf>*<", "<mirrorOf>*,!gems<");
    let again = merge(mine.as_bytes(), &offered()).unwrap();
    assert_eq!((again.added, again.bytes), (vec![], mine.into_bytes()));
    assert_eq!(again.notes.len(), 2, "{:?}", again.notes);
    assert!(again.notes.iter().all(|note| note.ends_with("`maven` stays as it is")), "{:?}", again.notes);
}

#[test]
fn a_file_that_is_no_settings_file_is_refused_with_the_line() {
    for (file, line) in [
        ("<settings>\n<servers>\n</settings>", 3),
        ("<settings>\n<servers>", 2),
        ("<settings>\n<password><hunter2</password></settings>", 2),
        ("<settings>\n</settings>\n<settings/>", 3),
        ("<settings>\n</settings>\nx", 2),
        ("<settings>\n<servers/>\n<servers/></settings>", 3),
        ("<settings>\n<a>x & y</a></settings>", 2),
        ("\n<project/>", 2),
        ("", 1),
        ("{}", 1),
    ] {
        let why = merge(file.as_bytes(), &offered()).unwrap_err();
        assert!(matches!(why, Unmerged::Broken { line: at, .. } if at == line), "{file}: {why:?}");
        assert!(!format!("{why:?}").contains("hunter2"), "{why:?}");
    }
    assert_eq!(merge(&vec![b' '; SETTINGS_LONGEST + 1], &offered()), Err(Unmerged::Long));
    assert_eq!(merge(b"\xff\xfe<\0", &offered()), Err(Unmerged::Encoding));
    assert!(refused(&"<a>".repeat(500)).contains("in each other"));
}
