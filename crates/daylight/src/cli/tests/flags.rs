//! Global flags before and after a command, and failures as JSON.

use super::*;
use serde_json::{Value, json};

fn failure(environment: &[(&str, &str)], line: &str) -> (ExitCode, Value) {
    let output = execute(environment, line);
    assert!(output.out.is_empty(), "{line}: {output:?}");
    let object = serde_json::from_str(&output.err).unwrap_or_else(|error| panic!("{line}: {error}: {output:?}"));
    (output.code, object)
}

#[test]
fn global_flags_mean_the_same_before_a_command_and_after_it() {
    for line in [
        "--json --server URL repo list",
        "repo --json --server URL list",
        "repo list --server URL --json",
        "--server URL repo list --json",
    ] {
        let (url, heard) = server("200 OK", r#"{"repositories":[]}"#);
        let output = execute(&[], &line.replace("URL", &url));
        assert_eq!(output.out, "{\n  \"repositories\": []\n}\n", "{line}: {output:?}");
        heard.join().unwrap();
    }
    for line in ["--data /some/where config show", "config --data /some/where show", "config show --data /some/where"] {
        let output = execute(&[], line);
        assert!(output.out.contains("\ndata = \"/some/where\"\n"), "{line}: {output:?}");
    }
    // The nearest one counts.
    let output = execute(&[], "--data /some/where config show --data /else/where");
    assert!(output.out.contains("\ndata = \"/else/where\"\n"), "{output:?}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a configuration file for a test")]
fn a_server_on_this_machine_is_named_by_its_configuration_file() {
    const CLUSTER: &str = r#"{"last":7,"database":null,"objects":null,"nodes":[],"leases":[]}"#;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("daylight.toml");
    for (line, body, asked) in [
        ("cluster status", CLUSTER, "GET /api/v1/cluster HTTP/1.1"),
        ("health --fresh", "ready", "GET /health/ready?fresh HTTP/1.1"),
        ("health", "ready", "GET /health/ready HTTP/1.1"),
    ] {
        let (url, heard) = server("200 OK", body);
        let port = url.rsplit(':').next().unwrap();
        std::fs::write(&file, format!("[server]\nlisten = \"0.0.0.0:{port}\"\n")).unwrap();
        let output = execute(&[], &format!("{line} --config {}", file.display()));
        assert!(output.code == ExitCode::SUCCESS, "{line}: {output:?}");
        assert_eq!(heard.join().unwrap().0, asked);
    }
}

#[test]
fn a_flag_that_a_command_has_no_use_for_is_refused_and_not_in_its_help() {
    for (line, flag) in [
        ("repo list --data /some/where", "data"),
        ("--data /some/where repo list", "data"),
        ("--config daylight.toml token list", "config"),
        ("config show --server http://127.0.0.1", "server"),
        ("backup /some/where --server-trust ca.pem", "server-trust"),
        ("check --index --data /some/where", "data"),
        ("--server http://127.0.0.1 check", "server"),
        ("replay events.jsonl --against http://127.0.0.1 --server http://127.0.0.1", "server"),
    ] {
        let output = execute(&[], line);
        assert_eq!(output.code, ExitCode::from(2), "{line}: {output:?}");
        assert!(output.err.contains(&format!("`--{flag}`")) && output.err.contains("\nhint: "), "{line}: {output:?}");
    }
    let (repo, serve) = (execute(&[], "repo list --help").out, execute(&[], "serve --help").out);
    assert!(repo.contains("--server ") && !repo.contains("--data"), "{repo}");
    assert!(serve.contains("--data ") && !serve.contains("--server"), "{serve}");
}

#[test]
fn a_failure_with_json_is_one_object_on_standard_error_with_the_same_exit_code() {
    const PROBLEM: &str = r#"{"title":"Forbidden","status":403,"detail":"the token lacks `admin`","hint":"another"}"#;
    let (url, heard) = server("403 Forbidden", PROBLEM);
    let expected = json!({"error": "the token lacks `admin` (403)", "hint": "another", "status": 403});
    assert_eq!(failure(&[("DAYLIGHT_SERVER", &url)], "repo list --json"), (ExitCode::FAILURE, expected));
    heard.join().unwrap();

    let url = format!("http://{}", listener().local_addr().unwrap());
    let (code, object) = failure(&[("DAYLIGHT_SERVER", &url)], "--json repo list");
    assert!(code == ExitCode::FAILURE && object["error"].as_str().unwrap().starts_with("nothing listens on"));
    assert!(object["hint"].as_str().unwrap().contains("daylight serve") && object.get("status").is_none());

    // Mistakes in the command line and in settings.
    for (environment, line, error) in [
        (&[][..], "repo lst --json", "unrecognized subcommand 'lst'"),
        (&[], "--json repo", "a command is missing"),
        (&[], "repo add --json", "the following required arguments were not provided: <NAME>"),
        (&[], "--json repo set r", "`daylight repo set` needs a setting to change"),
        (&[("DAYLIGHT_SERVER_CORES", "many")], "config show --json", "environment DAYLIGHT_SERVER_CORES: "),
    ] {
        let (code, object) = failure(environment, line);
        assert_eq!(code, ExitCode::from(2), "{line}: {object}");
        assert!(object["error"].as_str().unwrap().starts_with(error), "{line}: {object}");
    }
    let (_, object) = failure(&[], "repo lst --json");
    assert!(object["hint"].as_str().unwrap().contains("'list'"), "{object}");
    // After `--` it is a text like any other.
    assert!(execute(&[], "explain a b c -- --json").err.starts_with("error: "));
}

#[test]
fn with_json_nothing_else_is_written_to_standard_error() {
    let (url, heard) = server("201 Created", r#"{"name":"team"}"#);
    let output = execute(&[], &format!("repo add team --json --server {url}"));
    assert_eq!((output.out.as_str(), output.err.as_str()), ("{\n  \"name\": \"team\"\n}\n", ""));
    heard.join().unwrap();
}

#[test]
fn a_file_of_trusted_certificates_that_cannot_be_used_is_named_with_the_way_to_name_it() {
    let empty = tempfile::NamedTempFile::new().unwrap();
    let empty = empty.path().display().to_string();
    for (environment, line) in [
        (&[][..], "repo list --server-trust /no/such.pem".to_owned()),
        (&[("DAYLIGHT_TRUST", "/no/such.pem")], "repo list".to_owned()),
        (&[], format!("--server-trust {empty} repo list")),
    ] {
        let output = execute(environment, &line);
        assert_eq!(output.code, ExitCode::from(2), "{line}: {output:?}");
        assert!(output.err.contains("hint: `--server-trust` and `DAYLIGHT_TRUST` name a PEM file"), "{output:?}");
    }
}

#[test]
fn a_gem_that_is_claimed_and_unclaimed_at_once_is_refused() {
    let output = execute(&[], "repo set team --claim rack --unclaim rake --unclaim rack");
    assert_eq!(output.code, ExitCode::from(2), "{output:?}");
    assert!(output.err.starts_with("error: `rack` is named by `--claim` and by `--unclaim`\nhint: "), "{output:?}");
}

#[test]
fn a_koji_hub_is_named_whole_for_a_new_repository_and_in_parts_for_a_change() {
    const HUB: &str = "--koji https://koji.example.org/kojihub";
    const FILES: &str = "--koji-files https://koji.example.org/kojifiles";
    for (line, said) in [
        (format!("{HUB} {FILES} --koji-tag a --remote http://a"), "cannot be used with"),
        ("--koji-tag a --remote http://a".to_owned(), "cannot be used with"),
        (format!("{HUB} --koji-tag a"), "a repository of a Koji hub needs `--koji-files`\nhint: "),
        (format!("{HUB} {FILES}"), "a repository of a Koji hub needs `--koji-tag`\nhint: "),
        (format!("{FILES} --koji-tag a"), "a repository of a Koji hub needs `--koji`\nhint: "),
        (format!("{HUB} {FILES} --koji-tag a --koji-duplicates first"), "[possible values: newest, oldest]"),
    ] {
        let output = execute(&[], &format!("repo add builds --format maven {line}"));
        assert!(output.code == ExitCode::from(2) && output.err.contains(said), "{line}: {output:?}");
    }
    let body = |environment: &str, line: &str| {
        let (url, heard) = server("200 OK", r#"{"difference":""}"#);
        let output = execute(&[], &format!("{environment} {line} --server {url}"));
        assert_eq!(output.code, ExitCode::SUCCESS, "{output:?}");
        serde_json::from_str::<Value>(&heard.join().unwrap().2).unwrap()
    };
    let flags = format!("{HUB} {FILES} --koji-tag a-* --koji-tag b --koji-inherit --koji-duplicates oldest");
    let koji = json!({
        "hub": "https://koji.example.org/kojihub", "files": "https://koji.example.org/kojifiles", "tags": ["a-*", "b"],
        "inherit": true, "duplicates": "oldest",
    });
    let made = json!({"name": "builds", "format": "maven", "kind": "remote", "remote": {"koji": koji}});
    assert_eq!(body("repo add builds --format maven", &flags), made);
    let set = |flags: &str| body("repo set builds", flags)["remote"]["koji"].clone();
    assert_eq!(set("--koji-tag c --koji-inherit=false"), json!({"tags": ["c"], "inherit": false}));
    assert_eq!(set(&format!("{HUB} --yes")), json!({"hub": koji["hub"]}));
    // Without a change of the upstream there are no cached files to decide about.
    let output = execute(&[], "repo set builds --koji-tag c --keep-cached");
    assert!(output.code == ExitCode::from(2) && output.err.contains("required arguments"), "{output:?}");
}
