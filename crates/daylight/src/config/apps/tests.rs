//! Which applications a file and a command line describe together, and which are refused with which message.

use super::super::{Environment, Error, Flag, Machine, Settings, load, load_front};
use super::*;

const MACHINE: Machine = Machine { cores: 2, memory_bytes: 8 << 30, descriptors: 4096, disk_bytes: Some(100 << 30) };

fn front(text: &str, given: &GivenApp) -> Result<Settings, Error> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    load_front(Some(file.path()), &Environment::default(), &[], given, MACHINE).map(|(settings, _)| settings)
}

fn to(url: &str) -> GivenApp {
    GivenApp { to: vec![url.to_owned()], ..GivenApp::default() }
}

/// The message without the path of the temporary file.
fn refused(text: &str, given: &GivenApp) -> (String, Option<String>) {
    let error = front(text, given).unwrap_err();
    let text = error.to_string();
    (text.split_once(".tmp").map_or_else(|| text.clone(), |(_, rest)| rest[6..].to_owned()), error.hint())
}

#[test]
fn a_url_is_enough_and_everything_else_has_a_default() {
    let settings = front("", &to("http://127.0.0.1:3000")).unwrap();
    let [app] = &settings.apps[..] else { panic!("{:?}", settings.apps) };
    assert_eq!((app.options.name.as_str(), app.listen.to_string()), ("app", "127.0.0.1:8080".to_owned()));
    assert_eq!((app.options.slots, app.options.cache_bytes, app.options.spool_bytes), (64, 64 << 20, 1 << 30));
    assert_eq!(settings.server.listen.to_string(), "127.0.0.1:8081");
    assert_eq!(settings.store.data, std::path::Path::new("./daylight-front"));
    assert!(app.tls.is_none() && app.options.hosts.is_empty() && app.options.lanes.is_empty());
}

#[test]
fn a_machine_with_little_memory_and_disk_has_a_smaller_cache_and_spool() {
    let small = Machine { memory_bytes: 256 << 20, disk_bytes: Some(1 << 30), ..MACHINE };
    let load = |given| load_front(None, &Environment::default(), &[], &given, small).unwrap().0;
    let options = load(to("http://a")).apps.remove(0).options;
    assert!(options.cache_bytes < 16 << 20 && options.spool_bytes < 128 << 20, "{options:?}");
}

#[test]
fn the_file_describes_applications_with_their_lanes() {
    let text = "[[app]]\nname = \"shop\"\nhosts = [\"Shop.example\", \"*.shop.example\"]\nlisten = \"[::]:443\"\n\
                to = [\"http://10.0.0.1:3000\", \"unix:/run/shop.sock\"]\nslots = 1_0\nanswer_timeout_s = 300\nhealth = \"/up\"\ncache_bytes = 0\n\
                spool_bytes = 0x10\npreset = \"rails-assets\"\nsendfile_roots = \"/srv/files\"\ntls_certificate = \"a.pem\"\n\
                tls_key = \"a.key\"\n[[app.lane]]\npaths = [\"/reports/**\", \"/export\"]\nslots = 2\n\n\
                [[app.lane]]\npaths = \"/slow\"\nslots = 1\n\n[[app]]\nname = \"blog\"\nto = \"http://10.0.0.2:3000\"\n";
    let apps = front(text, &GivenApp::default()).unwrap().apps;
    let [shop, blog] = &apps[..] else { panic!("{apps:?}") };
    assert_eq!(shop.options.hosts, ["shop.example", "*.shop.example"]);
    assert_eq!((shop.listen.to_string(), shop.options.to.len(), shop.options.slots), ("[::]:443".to_owned(), 2, 10));
    assert_eq!((shop.options.answer_within.as_secs(), blog.options.answer_within.as_secs()), (300, 60));
    assert_eq!((shop.options.cache_bytes, shop.options.spool_bytes), (0, 16));
    assert_eq!((shop.options.preset, shop.options.health.as_deref()), (Some(Preset::RailsAssets), Some("/up")));
    assert_eq!(shop.options.sendfile_roots, ["/srv/files"]);
    let lanes: Vec<_> = shop.options.lanes.iter().map(|lane| (lane.paths.len(), lane.slots)).collect();
    assert_eq!(lanes, [(2, 2), (1, 1)]);
    assert_eq!(shop.tls.as_ref().unwrap().key, std::path::Path::new("a.key"));
    assert!(blog.place.ends_with(":23") && blog.tls.is_none(), "{}", blog.place);
}

#[test]
fn an_unknown_key_is_refused_with_its_line_and_the_nearest_one() {
    let (text, hint) = refused("[[app]]\nto = \"http://a\"\nslot = 3\n", &GivenApp::default());
    assert_eq!(
        (text.as_str(), hint.as_deref()),
        (":3: there is no setting or section `app.slot`", Some("did you mean `slots`?"))
    );
    let (text, hint) =
        refused("[[app]]\nto = \"http://a\"\n[[app.lane]]\npath = \"/a\"\nslots = 1\n", &GivenApp::default());
    assert_eq!(
        (text.as_str(), hint.as_deref()),
        (":4: there is no setting or section `app.lane.path`", Some("did you mean `paths`?"))
    );
    assert_eq!(refused("[[ap]]\n", &to("http://a")).1.unwrap(), "did you mean `app`?");
}

#[test]
fn a_value_of_the_wrong_form_is_refused_with_its_line_and_the_expected_form() {
    for (line, expected) in [
        ("slots = 0", "`app.slots` must be a whole number from 1 to 65536, not `0`"),
        ("slots = \"4\"", "`app.slots` must be a whole number from 1 to 65536, not `4`"),
        ("to = [1]", "`app.to` must be a text or a list of texts that are not empty, not `1`"),
        (
            "listen = \"8080\"",
            "`app.listen` must be an address and a port, such as `127.0.0.1:8080` or `[::]:8080`, not `8080`",
        ),
        ("health = \"up\"", "`app.health` must be a path that begins with `/`, not `up`"),
        ("preset = \"rails\"", "`app.preset` must be `rails-assets`, not `rails`"),
        ("name = \"a b\"", "`app.name` must be 1 to 64 letters, digits, `-`, `_` and `.`, not `a b`"),
        (
            "hosts = \"a.example:80\"",
            "`app.hosts` must be host names without ports, such as `example.com` and `*.example.com`, not `a.example:80`",
        ),
        (
            "hosts = \"a.*.example\"",
            "`app.hosts` must be host names without ports, such as `example.com` and `*.example.com`, not `a.*.example`",
        ),
        ("lane = 1", "write `[[app.lane]]`, once for each"),
    ] {
        assert_eq!(refused(&format!("[[app]]\n{line}\n"), &to("http://a")).0, format!(":2: {expected}"));
    }
    assert_eq!(
        refused("[app]\nto = \"http://a\"\n", &GivenApp::default()).0,
        ":1: write `[[app]]`, once for each application"
    );
}

#[test]
fn applications_that_cannot_be_told_apart_are_refused() {
    let two = |first: &str, second: &str| {
        let text = format!("[[app]]\nto = \"http://a\"\n{first}\n[[app]]\nname = \"b\"\nto = \"http://b\"\n{second}\n");
        refused(&text, &GivenApp::default())
    };
    let (text, hint) = two("", "");
    assert!(text.contains(":4: it listens on 127.0.0.1:8080 and has no `hosts`, as in ") && hint.is_some(), "{text}");
    let text = two("name = \"b\"", "hosts = \"b.example\"").0;
    assert!(text.contains("the name of the application is `b`"), "{text}");
    let text = two("hosts = [\"b.example\"]", "hosts = \"B.example\"").0;
    assert!(text.contains("it has the host `b.example`"), "{text}");
    let text = two("", "hosts = \"b.example\"\ntls_certificate = \"a\"\ntls_key = \"b\"").0;
    assert!(text.contains("with another certificate"), "{text}");
    let text = two("tls_key = \"b\"", "hosts = \"b.example\"").0;
    assert!(text.starts_with(":3: only one of `app.tls_certificate` and `app.tls_key` is set"), "{text}");
    let other = "[[app]]\nto = \"http://a\"\n[[app]]\nname = \"b\"\nto = \"http://b\"\nlisten = \"127.0.0.1:9\"\n";
    assert_eq!(front(other, &GivenApp::default()).unwrap().apps.len(), 2);
}

#[test]
fn lanes_leave_slots_for_other_requests() {
    let text = "[[app]]\nto = \"http://a\"\nslots = 2\n[[app.lane]]\npaths = \"/a\"\nslots = 2\n";
    let (text, hint) = refused(text, &GivenApp::default());
    assert!(text.contains("the lanes of `app` have 2 of its 2 slots") && hint.is_some(), "{text}");
    let text = refused("[[app]]\nto = \"http://a\"\n[[app.lane]]\nslots = 2\n", &GivenApp::default()).0;
    assert_eq!(text, ":3: a lane needs `paths` and `slots`");
}

#[test]
fn the_command_line_completes_the_only_application_and_is_an_error_beside_several() {
    let listen = GivenApp { listen: Some("127.0.0.1:9000".into()), ..to("http://b") };
    let settings = front("[[app]]\nname = \"shop\"\nto = \"http://a\"\n", &listen).unwrap();
    let [app] = &settings.apps[..] else { panic!("{:?}", settings.apps) };
    assert_eq!(
        (app.options.name.as_str(), app.listen.port(), &app.options.to[..]),
        ("shop", 9000, &["http://b".to_owned()][..])
    );
    let command = GivenApp { command: true, ..GivenApp::default() };
    assert!(front("[[app]]\nname = \"shop\"\nto = \"http://a\"\n", &command).unwrap().apps[0].options.to.is_empty());
    let several = "[[app]]\nto = \"http://a\"\n[[app]]\nname = \"b\"\nto = \"http://b\"\nhosts = \"b\"\n";
    for (given, flag) in [(&to("http://b"), "`--to`"), (&command, "COMMAND")] {
        let (text, hint) = refused(several, given);
        assert_eq!(text, format!(":3: {flag} is for the only application, and there are 2"));
        assert!(hint.is_some());
    }
    let (text, hint) = refused("", &GivenApp::default());
    assert!(text.starts_with("it is not said where the application is") && hint.is_some(), "{text}");
    let (text, _) = refused("[[app]]\nname = \"shop\"\n", &GivenApp::default());
    assert_eq!(text, ":1: the application `shop` has no `to`");
}

#[test]
fn each_kind_of_server_refuses_the_tables_of_the_other() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut file, b"[[app]]\nto = \"http://a\"\n").unwrap();
    let flags: [Flag; 0] = [];
    let error = load(Some(file.path()), &Environment::default(), &flags, MACHINE).unwrap_err();
    assert!(error.to_string().contains(":1: `[[app]]` is for `daylight front`"), "{error}");
    assert!(error.hint().unwrap().contains("daylight front"), "{error:?}");
    let (text, hint) = refused("[[repository]]\nname = \"a\"\nformat = \"gem\"\n", &to("http://a"));
    assert!(text.starts_with(":1: `[[repository]]` is for `daylight serve`"), "{text}");
    assert!(hint.unwrap().contains("daylight serve"));
}
