//! The files for Kubernetes and compose: valid by the schemas of others, and about the image and the program that there are.

use crate::world::{program, python};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

/// The oldest release that the file of Kubernetes is for, and the newest.
const KUBERNETES: [&str; 2] = ["1.25.0", "1.37.0"];

fn tree() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// Reads a file as `kubernetes VERSION` or as `compose`.
fn read(kind: &[&str], file: &Path) -> Output {
    let arguments: Vec<&str> = kind.iter().copied().chain(file.to_str()).collect();
    python("manifests", &tree().join("tests/packaging/read.py"), &arguments)
}

/// The documents of a file.
#[track_caller]
fn documents(kind: &[&str], file: &str) -> Vec<Value> {
    let said = read(kind, &tree().join("packaging").join(file));
    assert!(said.status.success(), "{kind:?}: {}", String::from_utf8_lossy(&said.stderr));
    serde_json::from_slice(&said.stdout).unwrap()
}

/// The complaint about a file in which one text is another.
#[track_caller]
fn complaint(kind: &[&str], file: &str, text: &str, other: &str) -> String {
    let whole = std::fs::read_to_string(tree().join("packaging").join(file)).unwrap();
    assert!(whole.contains(text), "{text}");
    let folder = TempDir::new().unwrap();
    let changed = folder.path().join("changed.yaml");
    std::fs::write(&changed, whole.replacen(text, other, 1)).unwrap();
    let said = read(kind, &changed);
    assert!(!said.status.success(), "`{other}` is valid, too");
    String::from_utf8(said.stderr).unwrap()
}

/// Whether the program takes a command line, which names it as the image does.
#[track_caller]
fn is_a_command(line: &Value) {
    let words: Vec<&str> = line.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    assert_eq!(words[0], "/usr/bin/daylight", "{line}");
    let help = program(&words[1..]).arg("--help").output().unwrap();
    assert!(help.status.success(), "{line}: {}", String::from_utf8_lossy(&help.stderr));
}

#[test]
fn the_file_of_kubernetes_is_valid_in_its_oldest_and_its_newest_release() {
    for release in KUBERNETES {
        let kinds: Vec<Value> = documents(&["kubernetes", release], "kubernetes/daylight.yaml")
            .into_iter()
            .map(|document| document["kind"].clone())
            .collect();
        assert_eq!(kinds, ["ConfigMap", "Service", "StatefulSet"]);
    }
    let wrong = |text, other| complaint(&["kubernetes", KUBERNETES[0]], "kubernetes/daylight.yaml", text, other);
    let said = wrong("readOnlyRootFilesystem", "readOnlyRootFileSystem");
    assert!(said.contains("'readOnlyRootFileSystem' was unexpected"), "{said}");
    let said = wrong("replicas: 1", "replicas: one");
    assert!(said.contains("'one' is not of type 'integer'"), "{said}");
}

#[test]
fn the_pod_runs_one_process_of_any_user_that_writes_one_volume() {
    let documents = documents(&["kubernetes", KUBERNETES[1]], "kubernetes/daylight.yaml");
    let set = &documents[2]["spec"];
    let pod = &set["template"]["spec"];
    let container = &pod["containers"][0];
    assert_eq!((&set["replicas"], &pod["containers"].as_array().unwrap().len()), (&json!(1), &1));
    assert_eq!(set["serviceName"], documents[1]["metadata"]["name"]);
    for labels in [&documents[1]["spec"]["selector"], &set["selector"]["matchLabels"]] {
        assert_eq!(labels, &set["template"]["metadata"]["labels"]);
    }
    let image = container["image"].as_str().unwrap();
    assert_eq!(image.rsplit_once("/daylight:").unwrap().1, env!("CARGO_PKG_VERSION"));
    let allowed = json!({
        "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": { "drop": ["ALL"] },
    });
    assert_eq!(container["securityContext"], allowed);
    assert_eq!(
        pod["securityContext"]["runAsUser"],
        Value::Null,
        "a fixed user is refused where each project has its own"
    );
    for probe in ["startupProbe", "readinessProbe", "livenessProbe"] {
        is_a_command(&container[probe]["exec"]["command"]);
    }
    let claims: Vec<&Value> = set["volumeClaimTemplates"].as_array().unwrap().iter().collect();
    assert_eq!((claims.len(), &claims[0]["spec"]["accessModes"]), (1, &json!(["ReadWriteOnce"])));
    let folder = |name: &str| {
        let mounts = container["volumeMounts"].as_array().unwrap();
        mounts.iter().find(|mount| mount["name"] == name).unwrap()["mountPath"].clone()
    };
    assert_eq!((folder("data"), folder("settings")), (json!("/var/lib/daylight"), json!("/etc/daylight")));
}

#[test]
fn the_settings_in_the_files_are_settings_of_the_program() {
    let documents = documents(&["kubernetes", KUBERNETES[1]], "kubernetes/daylight.yaml");
    let text = documents[0]["data"]["daylight.toml"].as_str().unwrap();
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("daylight.toml");
    // The lines that people may want are comments.
    let wanted = |line: &str| line.strip_prefix("# ").filter(|rest| rest.contains(" = ")).unwrap_or(line).to_owned();
    let lines: Vec<String> = text.lines().map(wanted).collect();
    assert!(lines.iter().any(|line| line.starts_with("trusted_proxies = ")), "{lines:?}");
    std::fs::write(&file, lines.join("\n")).unwrap();
    for file in [file, tree().join("packaging/image/daylight.toml")] {
        let shown = program(&["config", "show", "--config"]).arg(&file).output().unwrap();
        assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
    }
    let compose = self::documents(&["compose"], "compose.yaml").remove(0);
    let mut command = program(&["config", "show"]);
    for (name, value) in compose["services"]["daylight"]["environment"].as_object().unwrap() {
        command.env(name, value.as_str().unwrap());
    }
    assert!(command.output().unwrap().status.success());
}

#[test]
fn the_file_of_compose_is_valid_and_starts_what_the_image_has() {
    let compose = documents(&["compose"], "compose.yaml").remove(0);
    let service = &compose["services"]["daylight"];
    assert_eq!(service["image"], format!("localhost/daylight:{}", env!("CARGO_PKG_VERSION")));
    assert_eq!((&service["read_only"], &service["cap_drop"]), (&json!(true), &json!(["ALL"])));
    assert_eq!(service["volumes"], json!(["daylight:/var/lib/daylight"]));
    let check = service["healthcheck"]["test"].as_array().unwrap();
    assert_eq!(check[0], "CMD");
    is_a_command(&json!(check[1..]));
    let said = complaint(&["compose"], "compose.yaml", "read_only", "readonly");
    assert!(said.contains("`readonly`"), "{said}");
}
