//! Which settings of a certificate are taken, and which are refused with which message.

use super::*;
use crate::config::{Environment, Error, GivenApp, Loaded, Machine, Settings, load, load_front};

const MACHINE: Machine = Machine { cores: 1, memory_bytes: 256 << 20, descriptors: 1024, disk_bytes: None };
const ACME: &str = "[server.acme]\ndirectory = \"https://ca.example/dir\"\nnames = \"a.example\"\n";

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    file
}

fn read(text: &str) -> Result<(Settings, Loaded), Error> {
    load(Some(file(text).path()), &Environment::default(), &[], MACHINE)
}

/// The message for this text in the file.
fn refused(text: &str) -> String {
    let error = read(text).unwrap_err();
    assert!(error.hint().is_some() || matches!(error, Error::Invalid { .. } | Error::NotToml { .. }), "{error}");
    error.to_string()
}

#[test]
fn the_section_is_read_from_the_file_and_from_the_environment() {
    let whole = "[server]\nlisten = \"[::]:443\"\nhttp_listen = \"[::]:80\"\n[server.acme]\n\
                 directory = \"https://ca.example:14000/dir\"\nnames = \"Gems.Example, b.example, gems.example\"\n\
                 contact = \"mailto:ann@a.example, bo@a.example\"\ntrust = \"/etc/ca.pem\"\neab_key_id = \"kid-1\"\n\
                 eab_key = \"file:/run/secrets/eab\"\n[store]\nreaders = 2\n";
    let (settings, loaded) = read(whole).unwrap();
    assert_eq!(settings.acme.names.0, ["gems.example", "b.example"]);
    assert_eq!(settings.acme.contact.0, ["ann@a.example", "bo@a.example"]);
    assert_eq!(settings.acme.eab_key.0.as_deref(), Some("file:/run/secrets/eab"));
    assert_eq!((settings.store.readers, settings.speaks_tls()), (2, true));
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    let entry = loaded.entries.iter().find(|entry| entry.key == "server.acme.names").unwrap();
    assert_eq!(entry.variable, "DAYLIGHT_SERVER_ACME_NAMES");

    let variables = [
        ("DAYLIGHT_SERVER_ACME_DIRECTORY", "https://ca.example/dir"),
        ("DAYLIGHT_SERVER_ACME_NAMES", "127.0.0.1,::1"),
        ("DAYLIGHT_SERVER_HTTP_LISTEN", "0.0.0.0:80"),
    ];
    let environment: Environment =
        variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter().collect();
    let (settings, _) = load(None, &environment, &[], MACHINE).unwrap();
    assert_eq!(settings.acme.names.0, ["127.0.0.1", "::1"]);
    assert_eq!(settings.server.http_listen.0, Some(([0, 0, 0, 0], 80).into()));
}

#[test]
fn names_contacts_and_urls_that_no_authority_takes_are_refused() {
    let many = (0..101).map(|n| format!("a{n}.example")).collect::<Vec<_>>().join(",");
    let long = format!("{}.example", "a".repeat(64));
    for names in [
        "*.example",
        "a..example",
        "-a.example",
        "a_b.example",
        "a.example:443",
        "https://a",
        "1.2.3",
        "",
        "ä.example",
        &many,
        &long,
    ] {
        assert!(ServerNames::parse(names).is_none(), "{names}");
    }
    for contact in ["ann", "@a.example", "ann@", "ann@a.example?subject=x", "Ann <ann@a.example>", "ann@a b"] {
        assert!(Contacts::parse(contact).is_none(), "{contact}");
    }
    for url in ["http://ca.example/dir", "ca.example", "https://ann:hush@ca.example/dir", "https:///dir"] {
        assert!(DirectoryUrl::parse(url).is_none(), "{url}");
    }
}

#[test]
fn a_key_in_place_of_its_reference_is_refused_and_not_shown() {
    let said = refused(&format!("{ACME}eab_key_id = \"a\"\neab_key = \"c2VjcmV0\"\n"));
    assert!(said.contains("`file:PATH` or `env:NAME`") && !said.contains("c2VjcmV0"), "{said}");
}

#[test]
fn settings_that_contradict_each_other_are_refused() {
    for (text, said) in [
        (
            "[server.acme]\ndirectory = \"https://ca.example/dir\"\n".to_owned(),
            "only one of `server.acme.directory` and",
        ),
        ("[server.acme]\nnames = \"a.example\"\n".to_owned(), "only one of `server.acme.directory` and"),
        (format!("[server]\ntls_certificate = \"c\"\ntls_key = \"k\"\n{ACME}"), "a server has one certificate"),
        ("[server]\ntls_key = \"k\"\n".to_owned(), "only one of `server.tls_certificate`"),
        (format!("{ACME}eab_key_id = \"a\"\n"), "only one of `server.acme.eab_key_id`"),
        (format!("{ACME}eab_key = \"env:A\"\n"), "only one of `server.acme.eab_key_id`"),
        ("[server]\nhttp_listen = \"0.0.0.0:80\"\n".to_owned(), "the server has no certificate"),
        (
            format!("[server]\nlisten = \"0.0.0.0:443\"\nhttp_listen = \"[::]:443\"\n{ACME}"),
            "`server.http_listen` and `server.listen` have the same port",
        ),
        (format!("{ACME}name = \"b.example\"\n"), "server.acme.name"),
        ("[server.acm]\nnames = \"a.example\"\n".to_owned(), "server.acm"),
        ("[server]\nacme = \"on\"\n".to_owned(), "`server.acme` is a section, not a setting: write `[server.acme]`"),
        ("[server.listen]\nport = 1\n".to_owned(), "a TOML table"),
        ("[server.acme]\nnames = [\"a.example\"]\n".to_owned(), "with commas between them"),
    ] {
        let refused = refused(&text);
        assert!(refused.contains(said), "{text}: {refused}");
    }
    let given = GivenApp { to: vec!["http://127.0.0.1:1".to_owned()], ..GivenApp::default() };
    let front = load_front(Some(file(ACME).path()), &Environment::default(), &[], &given, MACHINE);
    assert!(front.unwrap_err().to_string().contains("this is `daylight front`"));
}

#[test]
fn settings_without_effect_are_told() {
    let (_, loaded) = read("[server.acme]\ncontact = \"ann@a.example\"\ntrust = \"/etc/ca.pem\"\n").unwrap();
    assert_eq!(loaded.warnings.len(), 2, "{:?}", loaded.warnings);
    let (_, loaded) = read(&format!("[server]\npublic_url = \"https://b.example:8443\"\n{ACME}")).unwrap();
    assert!(loaded.warnings[0].contains("has the host `b.example`"), "{:?}", loaded.warnings);
    let (_, loaded) = read(&format!("[server]\npublic_url = \"https://a.example:8443\"\n{ACME}")).unwrap();
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
}
