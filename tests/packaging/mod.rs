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
fn the_files_of_kubernetes_are_valid_in_its_oldest_and_its_newest_release() {
    for release in KUBERNETES {
        let kinds = |file| -> Vec<Value> {
            let documents = documents(&["kubernetes", release], file);
            documents.into_iter().map(|document| document["kind"].clone()).collect()
        };
        assert_eq!(kinds("kubernetes/daylight.yaml"), ["ConfigMap", "Service", "StatefulSet"]);
        let of_nodes = ["ConfigMap", "Service", "Service", "PodDisruptionBudget", "StatefulSet"];
        assert_eq!(kinds("kubernetes/nodes.yaml"), of_nodes);
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
fn three_pods_are_nodes_with_names_of_their_own_that_stop_slowly_enough_and_one_at_a_time() {
    let documents = documents(&["kubernetes", KUBERNETES[1]], "kubernetes/nodes.yaml");
    let set = &documents[4]["spec"];
    let pod = &set["template"]["spec"];
    let container = &pod["containers"][0];
    assert_eq!((&set["replicas"], &set["serviceName"]), (&json!(3), &documents[2]["metadata"]["name"]));
    let labels = &set["template"]["metadata"]["labels"];
    let budget = &documents[3]["spec"];
    let spread = pod["topologySpreadConstraints"].as_array().unwrap().iter();
    let selectors = spread.map(|rule| &rule["labelSelector"]["matchLabels"]);
    let services = [1, 2].map(|at| &documents[at]["spec"]["selector"]);
    for found in selectors.chain(services).chain([&budget["selector"]["matchLabels"], &set["selector"]["matchLabels"]])
    {
        assert_eq!(found, labels);
    }
    assert_eq!(budget["maxUnavailable"], 1);
    let image = container["image"].as_str().unwrap();
    assert_eq!(image.rsplit_once("/daylight:").unwrap().1, env!("CARGO_PKG_VERSION"));
    let name = &container["env"][0];
    assert_eq!(
        (&name["name"], &name["valueFrom"]),
        (&json!("DAYLIGHT_CLUSTER_NODE"), &json!({ "fieldRef": { "fieldPath": "metadata.name" } }))
    );
    for probe in ["startupProbe", "readinessProbe", "livenessProbe"] {
        let command = &container[probe]["exec"]["command"];
        is_a_command(command);
        assert!(!command.as_array().unwrap().contains(&json!("--fresh")), "no pod would be ready without PostgreSQL");
    }
    let text = documents[0]["data"]["daylight.toml"].as_str().unwrap();
    let (_, drain) = text.split_once("drain_s = ").unwrap();
    let drain: u64 = drain.lines().next().unwrap().parse().unwrap();
    // Open requests have 30 seconds after that.
    assert!(pod["terminationGracePeriodSeconds"].as_u64().unwrap() > drain + 30 + 5);
}

#[test]
fn the_settings_in_the_files_are_settings_of_the_program() {
    let folder = TempDir::new().unwrap();
    let of_pods = ["kubernetes/daylight.yaml", "kubernetes/nodes.yaml"].map(|name| {
        let documents = documents(&["kubernetes", KUBERNETES[1]], name);
        let text = documents[0]["data"]["daylight.toml"].as_str().unwrap();
        let file = folder.path().join(name.replace('/', "-"));
        // The lines that people may want are comments.
        let wanted =
            |line: &str| line.strip_prefix("# ").filter(|rest| rest.contains(" = ")).unwrap_or(line).to_owned();
        let lines: Vec<String> = text.lines().map(wanted).collect();
        assert!(lines.iter().any(|line| line.starts_with("trusted_proxies = ")), "{lines:?}");
        std::fs::write(&file, lines.join("\n")).unwrap();
        file
    });
    for file in of_pods.into_iter().chain([tree().join("packaging/image/daylight.toml")]) {
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
