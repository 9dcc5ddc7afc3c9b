//! Which pages a file describes, and which values are refused with which message.

use super::super::{Environment, Error, GivenApp, Machine, load_front};
use super::*;

const MACHINE: Machine = Machine { cores: 2, memory_bytes: 8 << 30, descriptors: 4096, disk_bytes: Some(100 << 30) };
const SERVER: &str = "format = \"response_bank\"\nservers = \"memcached://127.0.0.1:11211\"\n";

/// The settings of pages with these lines below `[app.pages]`, where two variables are set.
fn pages(lines: &str) -> Result<PagesOptions, Error> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let text = format!("[[app]]\nto = \"http://a\"\n[app.pages]\n{lines}\n");
    std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    let variables = [("STORE", "daylight:hush"), ("PASSWORD", "hush")];
    let environment: Environment =
        variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter().collect();
    let loaded = load_front(Some(file.path()), &environment, &[], &GivenApp::default(), MACHINE);
    loaded.map(|(mut settings, _)| settings.apps.remove(0).options.pages.unwrap())
}

/// The message without the path of the temporary file, and the hint.
fn refused(lines: &str) -> (String, String) {
    let error = pages(lines).unwrap_err();
    let text = error.to_string();
    assert!(!text.contains("hush"), "{text}");
    let text = text.split_once(".tmp").map_or_else(|| text.clone(), |(_, rest)| rest[6..].to_owned());
    (text, error.hint().unwrap_or_default())
}

#[test]
fn a_format_and_a_server_are_enough() {
    let options = pages(SERVER).unwrap();
    assert_eq!(options.servers, ["memcached://127.0.0.1:11211"]);
    assert_eq!(options.keys, [KeyRule::Typed, KeyRule::Inspected34, KeyRule::Inspected33]);
    let rest = (options.tolerance, options.timeout, options.value_bytes, options.credentials.is_none());
    assert_eq!(rest, (Duration::ZERO, Duration::from_millis(50), 4 << 20, true));
    let cacheable = pages("format = \"cacheable\"\nservers = [\"redis://127.0.0.1:6379/2\"]").unwrap();
    assert_eq!((cacheable.format, cacheable.keys), (PageFormat::Cacheable, vec![KeyRule::Bare]));
}

#[test]
fn every_setting_is_taken_and_secrets_come_from_variables() {
    let options = pages(
        "format = \"response_bank\"\nservers = [\"memcached://a:11211?weight=2\", \"memcached://b\"]\nkeys = [\"1/ruby33\", \"0/city\"]\n\
         namespace = \"shop\"\ntolerance_s = 1800\ntimeout_ms = 20\nvalue_bytes = 1_048_576\ncredentials = \"env:STORE\"\n\
         bypass_cookies = [\"cart\", \"_session\"]",
    );
    let options = options.unwrap();
    assert_eq!(options.servers.len(), 2);
    assert_eq!(options.keys, [KeyRule::Inspected33, KeyRule::City]);
    assert_eq!((&*options.namespace, options.tolerance.as_secs(), options.timeout.as_millis()), ("shop", 1800, 20));
    assert_eq!(
        (options.value_bytes, &options.bypass_cookies[..]),
        (1 << 20, &["cart".to_owned(), "_session".into()][..])
    );
    assert_eq!(options.credentials.as_ref().unwrap().expose(), "daylight:hush");
    assert!(!format!("{options:?}").contains("hush"));
}

#[test]
fn a_misspelled_name_is_refused_with_its_line_and_the_nearest_one() {
    let (text, hint) = refused("format = \"responsebank\"\nservers = \"memcached://a\"");
    assert_eq!(text, ":4: `app.pages.format` must be one of `response_bank`, `cacheable`, `hc1`, not `responsebank`");
    assert_eq!(hint, "did you mean `response_bank`?");
    let (text, hint) = refused(&format!("{SERVER}keys = [\"2\",\n\"1/ruby3.4\"]"));
    assert_eq!(text, ":7: `app.pages.keys` must be one of `2`, `1/ruby34`, `1/ruby33`, `0`, `0/city`, not `1/ruby3.4`");
    assert_eq!(hint, "did you mean `1/ruby34`?");
    let (text, hint) = refused(&format!("{SERVER}tolerance = 5"));
    assert_eq!(
        (&*text, &*hint),
        (":6: there is no setting or section `app.pages.tolerance`", "did you mean `tolerance_s`?")
    );
}

#[test]
fn a_table_without_a_format_or_a_server_names_both() {
    for lines in ["", "format = \"hc1\"", "servers = \"memcached://a\"", "format = \"hc1\"\nservers = []"] {
        let (text, hint) = refused(lines);
        assert_eq!(text, ":3: `[app.pages]` needs `format` and `servers`", "{lines}");
        assert!(hint.contains("memcached://127.0.0.1:11211"), "{hint}");
    }
}

#[test]
fn a_value_of_the_wrong_form_is_refused_with_its_line_and_the_expected_form() {
    for (line, expected) in [
        ("timeout_ms = 0", "`app.pages.timeout_ms` must be a whole number from 1 to 10000, not `0`"),
        ("timeout_ms = 10001", "`app.pages.timeout_ms` must be a whole number from 1 to 10000, not `10001`"),
        ("value_bytes = 1023", "`app.pages.value_bytes` must be a whole number from 1024 to 67108864, not `1023`"),
        (
            "value_bytes = \"4 MiB\"",
            "`app.pages.value_bytes` must be a whole number from 1024 to 67108864, not `4 MiB`",
        ),
        ("tolerance_s = -1", "`app.pages.tolerance_s` must be a whole number from 0 to 31536000, not `-1`"),
        ("namespace = \"a b\"", "`app.pages.namespace` must be at most 200 bytes without spaces, not `a b`"),
        (
            "bypass_cookies = \"cart=1\"",
            "`app.pages.bypass_cookies` must be names of cookies, without their values, not `cart=1`",
        ),
        ("keys = [\"0\", \"0\"]", "`app.pages.keys` has `0` twice"),
        ("keys = []", "`app.pages.keys` is empty, so no page could be found"),
    ] {
        assert_eq!(refused(&format!("{SERVER}{line}")).0, format!(":6: {expected}"));
    }
    let mut file = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut file, b"[[app]]\nto = \"http://a\"\n[[app.pages]]\n").unwrap();
    let load = load_front(Some(file.path()), &Environment::default(), &[], &GivenApp::default(), MACHINE);
    assert!(load.unwrap_err().to_string().ends_with(":3: write `[app.pages]`, once after its `[[app]]`"));
}

#[test]
fn servers_that_no_application_can_mean_are_refused() {
    for (servers, expected) in [
        ("\"memcached://a\", \"redis://a\"", "memcached and Redis are mixed"),
        ("\"redis://a\", \"rediss://b\"", "there are several servers of Redis"),
        ("\"memcached://a:11211\", \"memcached://a?weight=2\"", "`a:11211` is there twice"),
        ("\"redis://:hush@a\"", "a URL has credentials"),
    ] {
        let (text, hint) = refused(&format!("format = \"response_bank\"\nservers = [{servers}]"));
        assert_eq!(text, format!(":5: `app.pages.servers`: {expected}"));
        assert!(!hint.is_empty(), "{servers}");
    }
    for url in ["http://a", "a:11211", "memcached://a/0", "memcached://a:0x1", "redis://a/x", "memcached://a?weight=0"]
    {
        let (text, _) = refused(&format!("format = \"response_bank\"\nservers = \"{url}\""));
        assert!(text.starts_with(":5: `app.pages.servers`: "), "{url}: {text}");
    }
}

#[test]
fn settings_that_play_no_part_in_a_format_are_refused() {
    for (line, expected) in [
        ("keys = [\"2\"]", "`app.pages.keys` plays no part with `format = \"hc1\"`: its pages have one kind of key"),
        (
            "tolerance_s = 0",
            "`app.pages.tolerance_s` plays no part with `format = \"hc1\"`: the application writes into each page how long it may be used",
        ),
    ] {
        let (text, hint) = refused(&format!("format = \"hc1\"\nservers = \"memcached://a\"\n{line}"));
        assert_eq!((&*text, &*hint), (&*format!(":6: {expected}"), "leave it out"));
    }
    let (text, hint) = refused("format = \"cacheable\"\nservers = \"memcached://a\"\nkeys = \"2\"");
    assert_eq!(text, ":6: pages of `cacheable` have no keys of the kind `2`");
    assert!(hint.contains("response_bank"), "{hint}");
}

#[test]
fn credentials_are_named_and_what_is_wrong_with_them_is_told_without_them() {
    let with = |reference: &str| refused(&format!("{SERVER}credentials = \"{reference}\""));
    let (text, hint) = with("env:OTHER");
    assert_eq!(
        text,
        ":6: `app.pages.credentials`: `env:OTHER`: the variable `OTHER` is not set or empty in the environment of the server"
    );
    assert!(hint.contains("restart"), "{hint}");
    let (text, hint) = with("user:hush");
    assert!(text.ends_with("credentials are a reference, never the secret itself"), "{text}");
    assert!(hint.contains("`env:NAME`"), "{hint}");
    let (text, hint) = with("env:PASSWORD");
    assert_eq!(text, ":6: `app.pages.credentials`: `env:PASSWORD` has no user name, and memcached needs one");
    assert!(hint.contains("`USER:PASSWORD`"), "{hint}");
    let redis = "format = \"response_bank\"\nservers = \"redis://a\"\ncredentials = \"env:PASSWORD\"";
    assert_eq!(pages(redis).unwrap().credentials.unwrap().expose(), "hush");
}
