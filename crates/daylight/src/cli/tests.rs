//! Commands as people and scripts run them: streams, exit codes, and the requests that a fake server receives.

mod flags;
mod upstream_index;

use super::*;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::thread::JoinHandle;

/// The result of a command line.
#[derive(Debug)]
struct Output {
    code: ExitCode,
    out: String,
    err: String,
}

fn execute(environment: &[(&str, &str)], line: &str) -> Output {
    let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let arguments = format!("daylight {line}");
    let arguments = arguments.split_whitespace().map(OsString::from);
    let code = run(arguments, &environment, None, &mut out, &mut err);
    Output { code, out: String::from_utf8(out).unwrap(), err: String::from_utf8(err).unwrap() }
}

#[expect(clippy::disallowed_methods, reason = "a fake server for tests")]
fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").unwrap()
}

/// Answers one request with `status` and `body`; gives back its first line, its credentials and its body.
fn server(status: &'static str, body: &'static str) -> (String, JoinHandle<(String, String, String)>) {
    let listener = listener();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let heard = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(socket.try_clone().unwrap());
        let (mut first, mut token, mut length) = (String::new(), String::new(), 0);
        lines.read_line(&mut first).unwrap();
        loop {
            let mut line = String::new();
            lines.read_line(&mut line).unwrap();
            match line.trim_end().split_once(": ") {
                Some(("authorization", value)) => token = value.to_owned(),
                Some(("content-length", value)) => length = value.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut sent = vec![0; length];
        lines.read_exact(&mut sent).unwrap();
        write!(socket, "HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        (first.trim_end().to_owned(), token, String::from_utf8(sent).unwrap())
    });
    (url, heard)
}

fn failed(output: &Output) -> bool {
    output.code == ExitCode::FAILURE
}

#[test]
fn the_command_line_is_sound_and_every_verb_explains_itself() {
    tree().debug_assert();
    fn walk(command: &clap::Command) {
        for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
            assert!(verb.get_about().is_some(), "`{}` has no help", verb.get_name());
            let silent = verb.get_arguments().find(|argument| argument.get_help().is_none());
            assert!(silent.is_none(), "`{}` of `{}` has no help", silent.unwrap().get_id(), verb.get_name());
            walk(verb);
        }
    }
    walk(&tree());
    let output = execute(&[], "--help");
    assert!(output.code == ExitCode::SUCCESS && output.out.contains("serve") && output.err.is_empty(), "{output:?}");
}

#[test]
fn a_wrong_command_line_or_setting_exits_with_2() {
    for (environment, line) in [
        (&[][..], "serv"),
        (&[], "config show --data"),
        (&[], "token create x --scope fly"),
        (&[], "token create x --expires soon"),
        (&[("DAYLIGHT_SERVER_CORES", "many")], "config show"),
        (&[], "repo list --server nonsense"),
    ] {
        let output = execute(environment, line);
        assert_eq!(output.code, ExitCode::from(2), "{line}: {output:?}");
        assert!(output.err.starts_with("error: ") && output.out.is_empty(), "{line}: {output:?}");
    }
    let output = execute(&[("DAYLIGHT_SERVER_CORE", "2")], "config show");
    assert!(output.err.ends_with("\nhint: did you mean `DAYLIGHT_SERVER_CORES`?\n"), "{output:?}");
}

#[test]
fn config_show_names_the_origin_of_each_value_and_is_a_configuration_file() {
    let environment = [("DAYLIGHT_SERVER_CORES", "1"), ("DAYLIGHT_ADMIN_TOKEN", "hush-hush-hush-hush")];
    let output = execute(&environment, "config show --data /some/where");
    assert_eq!(output.code, ExitCode::SUCCESS, "{output:?}");
    assert!(output.out.contains("\n# from environment DAYLIGHT_SERVER_CORES; the default would be "), "{}", output.out);
    assert!(
        output.out.contains("\ncores = 1\n") && output.out.contains("\n# listen = \"127.0.0.1:8080\"\n"),
        "{}",
        output.out
    );
    assert!(output.out.contains("\n# from flag --data; the default would be \"./daylight-data\""), "{}", output.out);
    assert!(!output.out.contains("hush"));

    let mut file = tempfile::NamedTempFile::new().unwrap();
    let everything = output.out.replace("\n# listen = ", "\nlisten = ");
    file.write_all(everything.as_bytes()).unwrap();
    let output = execute(&[], &format!("config show --json --config {}", file.path().display()));
    let shown: serde_json::Value = serde_json::from_str(&output.out).unwrap();
    let keys = shown["keys"].as_array().unwrap();
    let data = keys.iter().find(|key| key["key"] == "store.data").unwrap();
    assert_eq!(data["value"], "/some/where");
    assert!(data["origin"].as_str().unwrap().starts_with(file.path().to_str().unwrap()), "{data}");
    assert_eq!(data["variable"], "DAYLIGHT_STORE_DATA");
    assert!(shown["machine"]["cores"].as_u64().unwrap() > 0);
}

#[test]
fn a_list_is_a_table_for_people_and_json_for_programs() {
    const BODY: &str = r#"{"repositories":[{"name":"gems-private","format":"gem","kind":"hosted","private":false,"members":[],"created":"2026-11-01T00:00:00.000Z"}]}"#;
    let (url, heard) = server("200 OK", BODY);
    let output = execute(&[("DAYLIGHT_SERVER", &url), ("DAYLIGHT_TOKEN", "t0")], "repo list");
    assert_eq!(
        output.out,
        "NAME          FORMAT  KIND    READ    PACKAGES  FILES  BYTES  CREATED\n\
         gems-private  gem     hosted  anyone  -         -      -      2026-11-01T00:00:00.000Z\n"
    );
    assert_eq!(heard.join().unwrap(), ("GET /api/v1/repositories HTTP/1.1".into(), "Bearer t0".into(), String::new()));

    let (url, heard) = server("200 OK", BODY);
    let output = execute(&[], &format!("repo list --json --server {url}/"));
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&output.out).unwrap(),
        serde_json::from_str::<serde_json::Value>(BODY).unwrap()
    );
    assert_eq!(heard.join().unwrap().1, "");
}

#[test]
fn a_repository_is_added_shown_and_removed() {
    let (url, heard) = server("201 Created", "{}");
    let output = execute(&[], &format!("repo add team --private --server {url}"));
    assert_eq!((output.code, output.out.as_str(), output.err.as_str()), (ExitCode::SUCCESS, "", "added `team`\n"));
    let (first, _, sent) = heard.join().unwrap();
    assert_eq!(first, "POST /api/v1/repositories HTTP/1.1");
    let sent: serde_json::Value = serde_json::from_str(&sent).unwrap();
    assert_eq!(sent, serde_json::json!({"name": "team", "format": "gem", "kind": "hosted", "private": true}));

    let (url, heard) = server("200 OK", r#"{"name":"a/b","format":"gem","kind":"hosted","private":true}"#);
    let output = execute(&[], &format!("repo show a/b --server {url}"));
    assert_eq!(
        output.out,
        "NAME  FORMAT  KIND    READ          PACKAGES  FILES  BYTES  CREATED\na/b   gem     hosted  with a token  -         -      -\n"
    );
    assert_eq!(heard.join().unwrap().0, "GET /api/v1/repositories/a%2Fb HTTP/1.1");

    const REMOVED: &str = r#"{"removed":"..","files":2,"size_bytes":7,"restorable_until":"2026-11-08T12:00:00.000Z"}"#;
    let (url, heard) = server("200 OK", REMOVED);
    let output = execute(&[], &format!("repo remove .. --yes --server {url}"));
    assert_eq!(
        output.err,
        "removed `..`: 2 files of 7 bytes\nuntil 2026-11-08T12:00:00.000Z `daylight repo restore ..` undoes it\n"
    );
    assert_eq!(heard.join().unwrap().0, "DELETE /api/v1/repositories/%2E%2E?confirm=%2E%2E HTTP/1.1");

    let (url, heard) = server("204 No Content", "");
    assert_eq!(execute(&[], &format!("token revoke a --json --server {url}")).out, "{\n  \"revoked\": \"a\"\n}\n");
    heard.join().unwrap();
}

#[test]
fn a_protocol_of_a_repository_is_switched_and_shown() {
    let (url, heard) = server("200 OK", "{}");
    let output = execute(&[], &format!("repo set team --protocol compact_index=off --server {url}"));
    assert_eq!((output.code, output.out.as_str(), output.err.as_str()), (ExitCode::SUCCESS, "", "changed `team`\n"));
    let (first, _, sent) = heard.join().unwrap();
    assert_eq!(first, "PATCH /api/v1/repositories/team HTTP/1.1");
    assert_eq!(sent, r#"{"protocols":{"compact_index":false}}"#);
    assert_eq!(execute(&[], "repo set team --protocol compact_index").code, ExitCode::from(2));

    const OFF: &str =
        r#"{"name":"a","format":"gem","kind":"hosted","private":false,"protocols":{"compact_index":false}}"#;
    let (url, heard) = server("200 OK", OFF);
    let output = execute(&[], &format!("repo show a --server {url}"));
    assert!(output.out.ends_with("\ndisabled protocols: compact_index\n"), "{output:?}");
    heard.join().unwrap();
}

#[test]
fn a_remote_repository_is_added_changed_and_shown_with_its_upstream() {
    let (url, heard) = server("201 Created", "{}");
    let flags = "--remote https://a/maven2 --remote http://b --credentials env:TOKEN --fresh 15m --missing 0s";
    let output =
        execute(&[], &format!("repo add central --format maven {flags} --max-bytes 1_000_000_000 --server {url}"));
    assert_eq!((output.code, output.err.as_str()), (ExitCode::SUCCESS, "added `central`\n"));
    let sent: serde_json::Value = serde_json::from_str(&heard.join().unwrap().2).unwrap();
    let remote = serde_json::json!({
        "urls": ["https://a/maven2", "http://b"], "credentials": "env:TOKEN", "fresh_s": 900, "missing_s": 0,
        "max_bytes": 1_000_000_000,
    });
    let expected = serde_json::json!({
        "name": "central", "format": "maven", "kind": "remote", "remote": remote,
    });
    assert_eq!(sent, expected);

    // By default the server decides who may read it, and the command says so.
    for (flags, private, answer, suffix) in [
        (
            "",
            None,
            r#"{"private":true,"format":"gem","kind":"remote","url":"http://h/repository/c/"}"#,
            ": gem, remote, http://h/repository/c/; reading it needs a token",
        ),
        (" --read anyone", Some(false), r#"{"private":false}"#, ""),
    ] {
        let (url, heard) = server("201 Created", answer);
        let output = execute(&[], &format!("repo add c --remote http://a --credentials env:A{flags} --server {url}"));
        assert_eq!(output.err, format!("added `c`{suffix}\n"));
        let sent: serde_json::Value = serde_json::from_str(&heard.join().unwrap().2).unwrap();
        assert_eq!(sent.get("private").and_then(serde_json::Value::as_bool), private);
    }

    let (url, heard) = server("200 OK", "{}");
    let flags = "--credentials none --fresh none --versions snapshots --keep-builds 5 --keep-days none --read token";
    assert_eq!(execute(&[], &format!("repo set r {flags} --server {url}")).code, ExitCode::SUCCESS);
    let sent: serde_json::Value = serde_json::from_str(&heard.join().unwrap().2).unwrap();
    let expected = serde_json::json!({
        "remote": {"credentials": null, "fresh_s": null}, "versions": "snapshots",
        "retention": {"builds": 5, "days": null}, "private": true,
    });
    assert_eq!(sent, expected);
    for line in ["repo set r", "repo set r --fresh soon", "repo set r --keep-builds many", "repo set r --versions some"]
    {
        assert_eq!(execute(&[], line).code, ExitCode::from(2), "{line}");
    }

    const SHOWN: &str = r#"{"name":"c","format":"maven","kind":"remote","private":false,"created":"t",
        "remote":{"urls":["https://a/maven2","http://b"],"credentials":"env:TOKEN","fresh_s":900,"missing_s":90},
        "policy":{"cooldown_s":604800}}"#;
    let (url, heard) = server("200 OK", SHOWN);
    let output = execute(&[], &format!("repo show c --server {url}"));
    let shown = "\ncooldown: 7d\nupstream: https://a/maven2, http://b\ncredentials: env:TOKEN\nTTL: 15m\nTTL of 404 answers: 90s\n";
    assert!(output.out.ends_with(shown), "{output:?}");
    heard.join().unwrap();
}

#[test]
fn a_new_token_s_secret_is_alone_on_standard_output() {
    let (url, heard) = server("201 Created", r#"{"secret":"daylight_x","name":"ci"}"#);
    let line = format!(
        "token create ci --owner build --scope read,write --repository a --repository b --expires 30d --server {url}"
    );
    let output = execute(&[], &line);
    assert_eq!((output.code, output.out.as_str()), (ExitCode::SUCCESS, "daylight_x\n"));
    assert!(output.err.starts_with("created `ci` until 20"), "{output:?}");
    let sent: serde_json::Value = serde_json::from_str(&heard.join().unwrap().2).unwrap();
    assert_eq!((&sent["owner"], &sent["scopes"]), (&"build".into(), &serde_json::json!(["read", "write"])));
    assert_eq!(sent["repositories"], serde_json::json!(["a", "b"]));
    assert!(sent["expires"].as_str().unwrap().ends_with('Z'));

    const LIST: &str = r#"{"tokens":[{"name":"ci","owner":"build","scopes":["read","write"],"repositories":[],"created":"c","expires":null}]}"#;
    let (url, heard) = server("200 OK", LIST);
    let output = execute(&[], &format!("token list --server {url}"));
    assert!(output.out.ends_with("ci    build  read,write  all           c        never\n"), "{output:?}");
    heard.join().unwrap();

    const OLD: &str =
        r#"{"tokens":[{"name":"ci","owner":"b","scopes":[],"repositories":[],"expires":"e","expired":true}]}"#;
    let (url, heard) = server("200 OK", OLD);
    let output = execute(&[], &format!("token list --server {url}"));
    assert!(output.out.ends_with(" e (expired)\n"), "{output:?}");
    heard.join().unwrap();
}

#[test]
fn a_refusal_of_the_server_is_shown_with_its_hint() {
    const PROBLEM: &str =
        r#"{"type":"about:blank","title":"Conflict","status":409,"detail":"`a` \u001bis taken","hint":"another name"}"#;
    let (url, heard) = server("409 Conflict", PROBLEM);
    let output = execute(&[], &format!("repo add a --server {url}"));
    assert!(failed(&output));
    assert_eq!(output.err, "error: `a` \u{fffd}is taken (409)\nhint: another name\n");
    heard.join().unwrap();

    let (url, heard) = server("401 Unauthorized", "");
    let output = execute(&[], &format!("token revoke a --server {url}"));
    assert!(failed(&output) && output.err.contains("\nhint: set DAYLIGHT_TOKEN"), "{output:?}");
    heard.join().unwrap();

    let (url, heard) = server("200 OK", "<html>");
    let output = execute(&[], &format!("repo list --server {url}"));
    assert!(
        failed(&output)
            && output.err.contains("does a Daylight server answer at this URL?")
            && output.err.contains("\n  because: "),
        "{output:?}"
    );
    heard.join().unwrap();
}

#[test]
fn a_missing_server_is_reported_with_how_to_name_another() {
    let address = listener().local_addr().unwrap();
    let output = execute(&[("DAYLIGHT_SERVER", &format!("http://{address}"))], "repo list");
    assert!(failed(&output));
    let hint = "name the server with `--server URL` or DAYLIGHT_SERVER; a server on this machine is started with `daylight serve` or `daylight front`";
    assert_eq!(output.err, format!("error: nothing listens on `{address}`\nhint: {hint}\n"));
}

#[test]
fn a_closed_pipe_is_not_a_failure() {
    struct ClosedPipe;
    impl Write for ClosedPipe {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut err = Vec::new();
    let arguments = ["daylight", "config", "show"].map(OsString::from);
    assert_eq!(run(arguments, &Environment::default(), None, &mut ClosedPipe, &mut err), ExitCode::SUCCESS);
    assert!(err.is_empty());
}

/// A data folder with one change in it, and the store that holds it open.
fn folder() -> (tempfile::TempDir, std::sync::Arc<store::Store>) {
    let data = tempfile::tempdir().unwrap();
    let clock = telemetry::Clock::default();
    let recorder = telemetry::Recorder::silent(clock.clone());
    let options = store::StoreOptions { floor_bytes: 0, ..store::StoreOptions::new(data.path(), clock, recorder) };
    let store = store::Store::open(options).unwrap();
    let change = store::Change::Setting { key: "a".to_owned(), value: 1.into() };
    let (by, from) = ("test".to_owned(), "cli".to_owned());
    let batch = store::Batch { by, from, changes: vec![change], ..store::Batch::default() };
    let mut event = telemetry::Event::job("test", telemetry::Millis(1));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(store.commit(batch, &mut event)).unwrap();
    runtime.block_on(store.ship_now(&mut event)).unwrap();
    (data, store)
}

#[test]
fn a_folder_is_checked_and_rebuilt_while_no_server_uses_it() {
    let (data, store) = folder();
    let data = data.path().display();
    for verb in ["check", "rebuild"] {
        let output = execute(&[], &format!("{verb} --data {data}"));
        assert!(
            failed(&output)
                && output.err.contains("another process uses the data folder")
                && output.err.contains("\nhint: "),
            "{output:?}"
        );
    }
    store.close();
    let output = execute(&[], &format!("check --data {data}"));
    assert!(output.code == ExitCode::SUCCESS, "{output:?}");
    assert!(output.out.starts_with("checked 1 rows, 0 blobs and 1 segments in "), "{output:?}");
    let output = execute(&[], &format!("rebuild --json --data {data}"));
    assert_eq!(serde_json::from_str::<serde_json::Value>(&output.out).unwrap()["last"], 1, "{output:?}");
    let output = execute(&[], &format!("check --verify --json --data {data}"));
    assert_eq!(serde_json::from_str::<serde_json::Value>(&output.out).unwrap()["problems"], serde_json::json!([]));
}

#[test]
fn check_names_the_problems_and_makes_no_folder() {
    let (data, store) = folder();
    store.close();
    let stray = data.path().join("segments").join("stray");
    std::fs::create_dir(&stray).unwrap();
    let output = execute(&[], &format!("check --data {}", data.path().display()));
    assert!(failed(&output) && output.out.contains("stray` does not belong in the data folder\n"), "{output:?}");
    assert!(output.err.ends_with("hint: nothing uses these files; move them away\n"), "{output:?}");

    let nowhere = data.path().join("nowhere");
    let output = execute(&[], &format!("check --data {}", nowhere.display()));
    assert!(failed(&output) && output.err.contains("\nhint: "), "{output:?}");
    assert!(!nowhere.exists());
}
