//! Which source of a setting wins, and which settings are refused with which message.

use super::contradiction::bounds_bytes;
use super::*;
use proptest::prelude::*;

const SMALL: Machine = Machine { cores: 1, memory_bytes: 256 << 20, descriptors: 1024, disk_bytes: Some(20 << 30) };
const LARGE: Machine = Machine { cores: 64, memory_bytes: 256 << 30, descriptors: 1 << 20, disk_bytes: Some(4 << 40) };

fn environment(variables: &[(&str, &str)]) -> Environment {
    variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    file
}

fn from_file(text: &str) -> Result<(Settings, Loaded), Error> {
    load(Some(file(text).path()), &environment(&[]), &[], SMALL)
}

fn from_environment(variables: &[(&str, &str)]) -> Result<(Settings, Loaded), Error> {
    load(None, &environment(variables), &[], SMALL)
}

/// The message without the path of the temporary file, and the hint.
fn refusal(result: Result<(Settings, Loaded), Error>) -> (String, Option<String>) {
    let error = result.unwrap_err();
    let text = error.to_string();
    (text.split_once(".tmp").map_or_else(|| text.clone(), |(_, rest)| rest[6..].to_owned()), error.hint())
}

#[test]
fn defaults_of_a_small_machine_are_small() {
    let (settings, loaded) = load(None, &environment(&[]), &[], SMALL).unwrap();
    assert_eq!(
        (settings.server.cores, settings.server.pages_bytes, settings.server.views_bytes),
        (1, 481 << 15, 37 << 16)
    );
    assert_eq!((settings.server.max_uploads, settings.store.readers), (18, 3));
    assert_eq!((settings.store.reader_cache_bytes, settings.server.folders_bytes), (2_184_533, 838_860));
    assert_eq!(settings.store.cached_bytes, 10 << 30);
    // This follows from the memory; 1,024 descriptors would be enough for 360 connections.
    assert_eq!(settings.server.max_connections, 296);
    assert_eq!((settings.telemetry.ask_memory_bytes, settings.server.max_tails), (8 << 20, 2));
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    assert!(loaded.entries.iter().all(|entry| entry.origin == Origin::Default && !entry.reason.is_empty()));
}

#[test]
fn defaults_of_a_large_machine_use_it() {
    let (settings, loaded) = load(None, &environment(&[]), &[], LARGE).unwrap();
    assert_eq!((settings.server.cores, settings.store.readers, settings.server.max_uploads), (64, 18, 256));
    assert_eq!(settings.server.max_connections, 100_000);
    assert!(settings.server.pages_bytes > 24 << 30 && settings.server.views_bytes > 3 << 30);
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
}

proptest! {
    #[test]
    fn on_any_machine_the_bounds_sum_to_no_more_than_the_budget(
        cores in 1usize..2048, memory_bytes in 0u64..1 << 42, descriptors in 256u64..1 << 20,
    ) {
        let machine = Machine { cores, memory_bytes, descriptors, disk_bytes: None };
        let (settings, _) = load(None, &environment(&[]), &[], machine).or_else(|error| match error {
            // 32 MiB and less: the smallest pages are larger than the machine.
            Error::Contradiction { .. } if memory_bytes < 64 << 20 => load(None, &environment(&[]), &[], SMALL),
            other => Err(other),
        }).unwrap();
        prop_assert!(bounds_bytes(&settings) <= Shares::budget(&machine).max(128 << 20));
        let server = &settings.server;
        let files = server.max_uploads + server.open_files + server.page_files;
        prop_assert!(2 * server.max_connections + files <= machine.descriptors.max(256));
        prop_assert!(server.max_uploads <= server.max_connections);
    }
}

#[test]
fn a_flag_wins_over_the_environment_and_that_over_the_file() {
    let file = file("[server]\nmax_uploads = 7\nhead_timeout_s = 1_0\n\n[store]\ndata = \"/file\"\n");
    let environment = environment(&[("DAYLIGHT_SERVER_MAX_UPLOADS", "8"), ("DAYLIGHT_STORE_DATA", "/environment")]);
    let flag = Flag { key: "store.data", flag: "--data", value: "/flag".to_owned() };
    let (settings, loaded) = load(Some(file.path()), &environment, &[flag], SMALL).unwrap();
    assert_eq!(settings.store.data, Path::new("/flag"));
    assert_eq!((settings.server.max_uploads, settings.server.head_timeout_s), (8, 10));
    let origin = |key: &str| loaded.entries.iter().find(|entry| entry.key == key).unwrap().origin.clone();
    assert_eq!(origin("store.data"), Origin::Flag("--data"));
    assert_eq!(origin("server.max_uploads"), Origin::Environment("DAYLIGHT_SERVER_MAX_UPLOADS".to_owned()));
    assert_eq!(origin("server.head_timeout_s"), Origin::File { path: file.path().to_owned(), line: 3 });
    assert_eq!(origin("server.listen"), Origin::Default);
}

#[test]
fn an_unknown_name_is_refused_with_its_line_and_the_nearest_one() {
    let (text, hint) = refusal(from_file("[server]\nlisten = \"[::]:80\"\nmax_conections = 5\n"));
    assert_eq!(text, ":3: there is no setting or section `server.max_conections`");
    assert_eq!(hint.unwrap(), "did you mean `max_connections`?");
    let (text, hint) = refusal(from_file("[sever]\n"));
    assert_eq!(text, ":1: there is no setting or section `sever`");
    assert_eq!(hint.unwrap(), "did you mean `server`?");
    let (text, hint) = refusal(from_environment(&[("DAYLIGHT_SERVER_LISTN", "x")]));
    assert_eq!(text, "environment: there is no setting or section `DAYLIGHT_SERVER_LISTN`");
    assert_eq!(hint.unwrap(), "did you mean `DAYLIGHT_SERVER_LISTEN`?");
}

#[test]
fn variables_that_are_no_settings_are_ignored() {
    let variables = [
        ("DAYLIGHT_SERVER", "http://127.0.0.1:1"),
        ("DAYLIGHT_SERVER_SERVICE_HOST", "10.0.0.1"),
        ("DAYLIGHT_SERVER_PORT", "tcp://10.0.0.1:80"),
        ("DAYLIGHT_SERVER_PORT_80_TCP", "tcp://10.0.0.1:80"),
        ("DAYLIGHT_SERVER_LISTEN", ""),
        ("PATH", "/bin"),
    ];
    let (settings, loaded) = from_environment(&variables).unwrap();
    assert_eq!(settings.server.listen.port(), 8080);
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
}

#[test]
fn a_misspelled_variable_is_reported() {
    let (_, loaded) = from_environment(&[("DAYLIGHT_ADMIN_TOKN", "hush"), ("DAYLIGHT_TORTURE", "1")]).unwrap();
    let warning = "the environment variable `DAYLIGHT_ADMIN_TOKN` has no effect: did you mean `DAYLIGHT_ADMIN_TOKEN`?";
    assert_eq!(loaded.warnings, [warning]);
}

#[test]
fn a_value_of_the_wrong_form_is_refused_with_the_expected_form() {
    let (text, _) = refusal(from_file("[server]\nlisten = \"8080\"\n"));
    let expected = "`server.listen` must be an address and a port, such as `127.0.0.1:8080` or `[::]:8080`";
    assert_eq!(text, format!(":2: {expected}, not `8080`"));
    let (text, _) = refusal(from_file("[server]\ncores = \"2\"\n"));
    assert_eq!(text, ":2: `server.cores` must be a whole number from 1 to 1024, not `2`");
    let (text, _) = refusal(from_file("[server]\ncores = [2]\n"));
    assert_eq!(text, ":2: `server.cores` must be a whole number, not `a TOML array`");
    let (text, _) = refusal(from_environment(&[("DAYLIGHT_SERVER_CORES", "0")]));
    assert!(text.starts_with("environment DAYLIGHT_SERVER_CORES: `server.cores` must be"), "{text}");
    let (text, _) = refusal(from_environment(&[("DAYLIGHT_TELEMETRY_LOG_FORMAT", "xml")]));
    assert!(text.contains("must be `text` or `json`, not `xml`"), "{text}");
    let (text, _) = refusal(from_file("[server\n"));
    assert!(text.starts_with(":1: "), "{text}");
    let (text, hint) = refusal(load(Some(Path::new("/nowhere/x.toml")), &environment(&[]), &[], SMALL));
    assert_eq!(text, "cannot read the configuration file `/nowhere/x.toml`");
    assert!(hint.is_some());
}

#[test]
fn contradictions_are_refused_or_reported() {
    let (text, hint) = refusal(from_environment(&[("DAYLIGHT_SERVER_PAGES_BYTES", "1073741824")]));
    assert_eq!(text, "`server.pages_bytes` is 1024 MiB, more than the memory of 256 MiB");
    assert!(hint.is_some());
    // Each may be sent a file; 128 and nine are for databases, logs and the rest, 64 for probes, 64 files are kept open, and 16 pages
    // are files.
    let connections = |count: u64| from_environment(&[("DAYLIGHT_SERVER_MAX_CONNECTIONS", &count.to_string())]);
    assert!(connections((1024 - 128 - 9 - 64 - 64 - 16) / 2).is_ok());
    let (text, hint) = refusal(connections((1024 - 128 - 9 - 64 - 64 - 16) / 2 + 1));
    assert_eq!(
        text,
        "`server.max_connections` is 372 and needs 1025 file descriptors (a socket and a file each, and 281 for the rest), \
         but this process may open 1024"
    );
    assert!(hint.is_some());
    let (_, loaded) =
        from_environment(&[("DAYLIGHT_SERVER_PAGES_BYTES", "209715200"), ("DAYLIGHT_SERVER_CORES", "8")]).unwrap();
    assert_eq!(loaded.warnings.len(), 2, "{:?}", loaded.warnings);
    let (_, loaded) = from_file("[store]\ncached_bytes = 30_000_000_000\n").unwrap();
    let warning = "`store.cached_bytes` is 28610 MiB, but the file system of the data folder has only 20480 MiB";
    assert_eq!(loaded.warnings, [warning]);
}

#[test]
fn durations_are_a_number_and_a_unit_and_undo_never_outlasts_the_horizon() {
    let file = file("[store]\nhorizon = \"3w\"\nundo = \"0s\"\n");
    let (settings, loaded) = load(Some(file.path()), &environment(&[]), &[], SMALL).unwrap();
    assert_eq!((settings.store.horizon.as_secs(), settings.store.undo.as_secs()), (21 * 86_400, 0));
    let shown = |key| loaded.entries.iter().find(|entry| entry.key == key).map(|entry| entry.value.clone());
    let of = ["store.horizon", "store.undo", "store.collect_after"].map(|key| shown(key).unwrap());
    assert_eq!(of, ["21d", "0s", "1d"]);
    let (text, _) = refusal(from_file("[store]\nundo = 7\n"));
    assert!(text.starts_with(":2: `store.undo` must be a number and `s`, `m`"), "{text}");
    let (text, hint) = refusal(from_environment(&[("DAYLIGHT_STORE_HORIZON", "2d")]));
    assert_eq!(
        text,
        "`store.undo` is 7d, longer than `store.horizon`, which is 2d: bytes that are deleted cannot be restored"
    );
    assert!(hint.is_some());
}

#[test]
fn the_admin_token_is_read_and_never_printed() {
    const SECRET: &str = "hush-hush-hush-hush";
    let (settings, loaded) = from_environment(&[("DAYLIGHT_ADMIN_TOKEN", SECRET)]).unwrap();
    assert_eq!(settings.admin_token.as_ref().unwrap().expose(), SECRET);
    assert!(!format!("{settings:?} {loaded:?} {:?}", environment(&[("DAYLIGHT_TOKEN", SECRET)])).contains(SECRET));
    for guessable in ["short", "with a space in the middle of it"] {
        let error = from_environment(&[("DAYLIGHT_ADMIN_TOKEN", guessable)]).unwrap_err();
        assert!(error.hint().is_some() && !error.to_string().contains(guessable), "{error}");
    }
}

#[test]
fn proxies_are_trusted_only_with_their_addresses_and_a_protocol() {
    let ways = ["connection", "proxy-protocol", "x-forwarded-for", "forwarded"];
    for way in ways {
        let text = format!("[server]\ntrusted_proxies = \"10.0.0.0/8, ::1\"\nclient_from = \"{way}\"\n");
        let (settings, loaded) = from_file(&text).unwrap();
        assert_eq!(settings.server.client_from.as_str(), way);
        let shown = |key| loaded.entries.iter().find(|entry| entry.key == key).unwrap().value.clone();
        assert_eq!(shown("server.trusted_proxies"), "10.0.0.0/8, ::1/128");
        assert_eq!(loaded.warnings.len(), usize::from(way == "connection"), "{:?}", loaded.warnings);
    }
    assert!(from_file("[server]\nclient_from = \"forwarded\"\n").is_err());
    assert!(from_file("[server]\ntrusted_proxies = \"10.0.0.0/40\"\n").is_err());
}

#[test]
fn a_public_url_has_a_scheme_and_a_host_and_nothing_else() {
    let (settings, _) = from_environment(&[("DAYLIGHT_SERVER_PUBLIC_URL", "https://gems.example:8443/")]).unwrap();
    assert_eq!(settings.server.public_url.0.as_deref(), Some("https://gems.example:8443"));
    for wrong in ["gems.example", "/gems", "ftp://gems.example", "https://gems.example/a", "https://a:b@gems.example"] {
        assert!(from_environment(&[("DAYLIGHT_SERVER_PUBLIC_URL", wrong)]).is_err(), "{wrong}");
    }
}

#[test]
fn repositories_are_declared_in_the_form_in_which_the_api_takes_them() {
    let text = "[server]\ncores = 1\n\n[[repository]]\nname = \"central\"\nformat = \"maven\"\n\
                remote = { urls = [\"https://a/maven2\"], fresh_s = 0x10 }\n\n[[repository]]\nname = \"team\"\nformat = \"gem\"\n";
    let (settings, _) = from_file(text).unwrap();
    let [central, team] = &settings.repositories[..] else { panic!("{:?}", settings.repositories) };
    assert!(central.place.ends_with(":4"), "{}", central.place);
    assert_eq!((central.definition.name.as_str(), team.definition.name.as_str()), ("central", "team"));
    let record = central.definition.record(Default::default()).unwrap();
    assert_eq!((record.kind.as_str(), record.remote.unwrap().fresh_s), ("remote", Some(16)));
    // As `config show` writes it, it is read again.
    let shown = |one: &DeclaredRepository| -> String {
        one.written.iter().map(|(key, value)| format!("{key} = {}\n", toml(value))).collect()
    };
    let (again, _) = from_file(&format!("[[repository]]\n{}", shown(central))).unwrap();
    assert_eq!(again.repositories[0].written, central.written);
}

#[test]
fn a_wrong_declaration_of_a_repository_is_refused_with_its_line() {
    let refused = |text: &str| refusal(from_file(text)).0;
    assert_eq!(refused("\n[repository]\nname = \"a\"\n"), ":2: write `[[repository]]`, once for each repository");
    assert!(refused("[[repository]]\nname = \"a\"\n").starts_with(":1: missing field `format`"));
    let odd = refused("[[repository]]\nname = \"a\"\nformat = \"gem\"\ncolour = 1\n");
    assert!(odd.starts_with(":1: the settings: unknown field `colour`"), "{odd}");
    let odd = refused("[[repository]]\nname = \"a\"\nformat = \"gem\"\ninclude_hosted = true\n");
    assert!(odd.starts_with(":1: `include_hosted` is no setting"), "{odd}");
    let odd = refused("[[repository]]\nname = \"a\"\nformat = \"gem\"\nprivate = 2026-01-01\n");
    assert_eq!(odd, ":1: no setting of a repository is a datetime");
    let twice = "[[repository]]\nname = \"a\"\nformat = \"gem\"\n";
    let twice = from_file(&format!("{twice}{twice}")).unwrap_err();
    assert!(
        twice.to_string().contains(":4: the repository `a` is declared already, in ") && twice.hint().is_some(),
        "{twice}"
    );
    assert_eq!(refusal(from_file("[[repositry]]\n")).1.unwrap(), "did you mean `repository`?");
}

#[test]
fn an_upstream_is_a_url_that_holds_no_password() {
    let (settings, _) = from_environment(&[]).unwrap();
    assert_eq!(settings.upstream.rubygems, OptionalUpstream::rubygems());
    let (settings, _) = from_environment(&[("DAYLIGHT_UPSTREAM_RUBYGEMS", "none")]).unwrap();
    assert_eq!(settings.upstream.rubygems, OptionalUpstream(None));
    let (settings, _) = from_environment(&[("DAYLIGHT_UPSTREAM_RUBYGEMS", "http://127.0.0.1:9/gems/")]).unwrap();
    assert_eq!(settings.upstream.rubygems.0.unwrap().0, "http://127.0.0.1:9/gems");
    let (settings, _) = from_environment(&[("DAYLIGHT_UPSTREAM_MAVEN_CENTRAL", "http://127.0.0.1:9/maven2/")]).unwrap();
    assert_eq!(settings.upstream.maven_central.0, "http://127.0.0.1:9/maven2");
    for wrong in ["central", "ftp://a/b", "http://ann:hush@a/b", "http://a/?b"] {
        let error = from_environment(&[("DAYLIGHT_UPSTREAM_MAVEN_CENTRAL", wrong)]).unwrap_err();
        assert!(error.to_string().contains("`upstream.maven_central` must be a URL"), "{error}");
        assert!(!error.to_string().contains("hush"), "{error}");
    }
}

#[test]
fn a_key_with_an_old_name_is_accepted_with_a_warning_and_its_present_name_wins() {
    let (settings, loaded) = from_file(
        "[telemetry]\nevents_files = 7\njson_lines_files = 8\nevents_max_bytes = 70000\njson_lines = \"on\"\n",
    )
    .unwrap();
    assert_eq!((settings.telemetry.json_lines_files, settings.telemetry.json_lines_file_bytes), (8, 70_000));
    let names = ["events_files", "events_max_bytes"].map(|old| loaded.warnings.iter().any(|said| said.contains(old)));
    assert_eq!((names, loaded.warnings.len()), ([true; 2], 2));

    let (settings, loaded) = from_environment(&[("DAYLIGHT_TELEMETRY_EVENTS_FILES", "9")]).unwrap();
    assert_eq!(settings.telemetry.json_lines_files, 9);
    let expected = [
        "environment: `DAYLIGHT_TELEMETRY_EVENTS_FILES` has a new name: write `DAYLIGHT_TELEMETRY_JSON_LINES_FILES`",
        "`telemetry.json_lines_files` has no effect: events are not written to files any more unless `telemetry.json_lines` is `on`",
    ];
    assert_eq!(loaded.warnings, expected);
    let entry = loaded.entries.iter().find(|entry| entry.key == "telemetry.json_lines_files").unwrap();
    assert_eq!(entry.origin, Origin::Environment("DAYLIGHT_TELEMETRY_EVENTS_FILES".to_owned()));
}

#[test]
fn stored_events_are_a_number_with_or_without_quotes_or_auto() {
    let stored = |value: &str| from_file(&format!("[telemetry]\nstored_per_second = {value}\n"));
    let read = |value: &str| stored(value).unwrap().0.telemetry.stored_per_second;
    assert_eq!(["\"auto\"", "500", "\"500\""].map(read).map(StoredPerSecond::number), [None, Some(500), Some(500)]);
    assert_eq!(
        stored("500").unwrap().1.entries.iter().find(|entry| entry.key == "telemetry.stored_per_second").unwrap().value,
        500
    );
    for wrong in ["0", "100_001", "\"some\"", "-1"] {
        let (message, _) = refusal(stored(wrong));
        assert!(
            message.contains("`telemetry.stored_per_second` must be `auto` or a whole number from 1 to 100000"),
            "{message}"
        );
    }
}

#[test]
fn a_database_is_for_a_server_of_repositories_and_its_password_is_never_shown() {
    let database = "[cluster]\ndatabase = \"postgres://db.example/packages\"\n";
    let (settings, loaded) = from_file(database).unwrap();
    let url = settings.cluster.database.0.unwrap();
    assert_eq!((url.user(), url.name()), ("daylight", "packages"));
    assert!(loaded.warnings[0].contains("is not encrypted"), "{:?}", loaded.warnings);
    for quiet in
        ["postgres://127.0.0.1/packages\"\n", "postgres://db.example/packages\"\ndatabase_trust = \"machine\"\n"]
    {
        assert!(from_file(&format!("[cluster]\ndatabase = \"{quiet}")).unwrap().1.warnings.is_empty(), "{quiet}");
    }
    for idle in ["database_password = \"env:SECRET\"", "database_trust = \"/db.pem\""] {
        let warnings = from_file(&format!("[cluster]\n{idle}\n")).unwrap().1.warnings;
        assert!(warnings[0].ends_with("has no effect without `cluster.database`"), "{warnings:?}");
    }
    for (secret, key) in [("postgres://me:hush@db/packages", "database"), ("hush", "database_password")] {
        let (text, _) = refusal(from_file(&format!("[cluster]\n{key} = \"{secret}\"\n")));
        assert!(text.contains(&format!("`cluster.{key}` must be")) && !text.contains("hush"), "{text}");
    }
    let given = GivenApp { to: vec!["http://127.0.0.1:1".to_owned()], ..GivenApp::default() };
    let front = load_front(Some(file(database).path()), &environment(&[]), &[], &given, SMALL);
    assert!(front.unwrap_err().to_string().contains("`cluster.database` is for `daylight serve`"));
}

#[test]
fn settings_of_object_storage_without_a_bucket_have_no_effect_and_its_keys_are_never_shown() {
    let text = "endpoint = \"https://s3.example\"\ncredentials = \"env:KEYS\"\n";
    let (_, loaded) = from_file(&format!("[store]\n{text}")).unwrap();
    let expected =
        ["endpoint", "credentials"].map(|key| format!("`store.{key}` has no effect without `store.objects`"));
    assert_eq!(loaded.warnings, expected);
    let (settings, loaded) = from_file(&format!("[store]\nobjects = \"s3://packages/daylight\"\n{text}")).unwrap();
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    assert_eq!(settings.store.objects.0.unwrap().to_string(), "s3://packages/daylight");
    let (text, _) = refusal(from_file("[store]\ncredentials = \"lamp:hush\"\n"));
    assert!(text.contains("`store.credentials` must be `file:PATH` or `env:NAME`") && !text.contains("hush"), "{text}");
}
