//! The stage of each page. To add a page: a function here that returns its stage, and its line in `mod.rs`.

use super::languages::{self, repositories};
use super::late;
use super::page::root;
use super::stage::Stage;
use crate::later_form::of_later_version;
use crate::world::{
    ADMIN, Central, FIRST, Gem, KojiHub, Says, Upstream, World, await_true, promtool, promtool_program, write,
};
use serde_json::json;

const POM: &str = "<project><modelVersion>4.0.0</modelVersion><groupId>com.acme</groupId><artifactId>lamp</artifactId>\
                   <version>1.0</version></project>";
const JAR: &str = "org/example/lamp/1.2/lamp-1.2.jar";
/// What credentials of upstreams and secrets of hooks are in the server's environment.
const SECRETS: &[(&str, &str)] =
    &[("UPSTREAM_PAID", "vendor"), ("UPSTREAM_COMPANY", "company"), ("UPSTREAM_HOOKS", "hush")];

/// A server with three versions of an artifact.
fn lamps() -> World {
    let world = World::start();
    for version in ["1.0", "1.1", "1.2"] {
        let path = format!("org/example/lamp/{version}/lamp-{version}.jar");
        world.admin().put("maven-releases", &path, version.as_bytes()).expect(201);
    }
    world
}

/// Has a remote repository of a new folder stand for this URL.
fn upstream(world: &World, repository: &str, url: &str) {
    let change = json!({"remote": {"urls": [url]}});
    world.change(repository, &change);
}

/// A server with gems that is another index in this test: the public one, or that of a vendor.
fn index() -> World {
    let world = World::start();
    for version in ["1.0.0", "1.1.0"] {
        world.admin().push(FIRST, &Gem::new("lamp", version)).expect(200);
    }
    world
}

/// A server whose `rubygems` stands for such an index, and whose upstreams have secrets.
fn with_index() -> (World, World) {
    let (world, index) = (World::start_with(SECRETS), index());
    upstream(&world, "rubygems", &index.url(FIRST));
    (world, index)
}

pub(super) fn readme() -> Stage {
    let (world, gems, central) = (World::start(), index(), Central::open());
    upstream(&world, "maven-central", &central.url());
    world.admin().put("maven-releases", "com/acme/lamp/1.0/lamp-1.0.pom", POM.as_bytes()).expect(201);
    upstream(&world, "rubygems", &gems.url(FIRST));
    Stage::on(world).keep(gems).keep(central)
}

/// Pipelines are run as their own runners run them.
pub(super) fn ci() -> Stage {
    let ((world, gems), central) = (with_index(), Central::open());
    upstream(&world, "maven-central", &central.url());
    let url = world.root();
    Stage::on(world)
        .name("https://packages.example", &url)
        .reads("yaml", super::pipelines::run)
        .keep(gems)
        .keep(central)
}

pub(super) fn keeping_and_deleting() -> Stage {
    Stage::on(lamps()).after(|stage| {
        let listed = stage.world.admin().get("/api/v1/repositories/maven-releases").expect(200).json();
        assert_eq!(listed["holds"]["files"], 2, "1.0 was restored, and 1.1 purged: {listed}");
    })
}

pub(super) fn backup() -> Stage {
    Stage::on(lamps())
        .data("/srv/daylight")
        .folder("/mnt/backup")
        // From there on the page is about a server that was stopped.
        .before("mv /srv/daylight", |stage| stage.world.stop())
        .after(|stage| {
            stage.resume();
            assert_eq!(stage.world.anon().file("maven-releases", JAR).expect(200).text(), "1.2");
        })
}

/// Before the second half a later version converts the folder.
pub(super) fn upgrading() -> Stage {
    Stage::on(lamps())
        .data("/srv/daylight")
        .folder("/mnt/backup")
        .fails("daylight check")
        .before("daylight check", |stage| {
            stage.world.stop();
            of_later_version(&stage.world.data());
        })
        .after(|stage| {
            stage.resume();
            assert_eq!(stage.world.anon().file("maven-releases", JAR).expect(200).text(), "1.2");
        })
}

pub(super) fn command_line() -> Stage {
    Stage::on(World::start()).fails("repo show nothing").after(|stage| {
        for made in [".local/share/bash-completion/completions/daylight", ".local/share/man/man1/daylight-repo.1"] {
            assert!(stage.home().join(made).metadata().is_ok_and(|file| file.len() > 1000), "{made}");
        }
    })
}

pub(super) fn accounts() -> Stage {
    let scopes = ["index_rubygems", "push_rubygem", "yank_rubygem", "add_owner", "remove_owner", "access_webhooks"];
    let mut answers = vec![("mail:", "mira"), ("Password:", ADMIN), ("API Key name", "desk")];
    answers.extend(
        scopes.map(|scope| (scope, "n")).map(|(scope, no)| (scope, if scope == "push_rubygem" { "y" } else { no })),
    );
    answers.push(("show_dashboard", "n"));
    Stage::on(World::start()).answers("gem signin", &answers).after(|stage| {
        let tokens = stage.world.admin().get("/api/v1/tokens").expect(200);
        assert!(tokens.text().contains("laptop") && !tokens.text().contains("\"ci\""), "{}", tokens.text());
        assert!(tokens.text().contains("\"desk\""), "the key: {}", tokens.text());
    })
}

/// A server with a receiver of alerts that takes them.
pub(super) fn alerts() -> Stage {
    let chat = Upstream::start();
    chat.says_otherwise(Says::status(204));
    let table = format!("[[alerts.to]]\nname = \"chat\"\nkind = \"webhook\"\nurl = \"{}hooks\"\n", chat.url());
    Stage::on(World::start_with_file(&table)).keep(chat)
}

pub(super) fn api() -> Stage {
    let world = lamps();
    world.admin().push(FIRST, &Gem::new("acme-lamp", "1.0.0")).expect(200);
    Stage::on(world).before("/events/$event", ended)
}

/// The event of an answer is known a moment after its last byte.
fn ended(stage: &mut Stage) {
    stage.world.event(&stage.variable("event"));
}

pub(super) fn plain() -> Stage {
    Stage::on(World::start()).data("/srv/daylight")
}

/// `tests/build_tools` uses each block of this page with the tool that it is for. Here the repositories must be there, and XML be well formed.
pub(super) fn build_tools() -> Stage {
    let world = World::start();
    for name in ["ivy", "vault"] {
        world.tree(name, "maven");
    }
    let xml = |_: &Stage, text: &str| {
        let mut ruby = std::process::Command::new("ruby");
        let read = ruby.args(["-rrexml/document", "-e", "REXML::Document.new(ARGV[0])", text]).output().unwrap();
        if read.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&read.stderr).into_owned()) }
    };
    Stage::on(world).reads("xml", xml).reads("ini", repositories).reads("console", repositories)
}

/// `tests/app_pages/hc1` runs the writers of this page in application servers.
pub(super) fn hc1() -> Stage {
    plain().reads("python", python)
}

/// Python compiles it.
fn python(_: &Stage, text: &str) -> Result<(), String> {
    let mut python = std::process::Command::new("/usr/bin/python3");
    let read = python.args(["-c", "compile(__import__('sys').argv[1], 'block.py', 'exec')", text]).output().unwrap();
    if read.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&read.stderr).into_owned()) }
}

/// A hub with two versions of a lamp. The page looks back to the event of the first one.
pub(super) fn koji() -> Stage {
    let (world, hub) = (World::start_with(SECRETS), KojiHub::start());
    let tag = hub.tag("product-1-release");
    let tagged = ["1.0", "1.1"].map(|version| {
        let base = format!("org/example/lamp/{version}/lamp-{version}");
        let build = hub.build("lamp", version, "1").file(&format!("{base}.jar"), version.as_bytes());
        hub.tag_build(tag, build.pom(&format!("{base}.pom")).make())
    });
    let read = |stage: &mut Stage| {
        let metadata = "org/example/lamp/maven-metadata.xml";
        await_true("the first look", || stage.world.anon().file("builds", metadata).status == 200);
    };
    Stage::on(world)
        .name("https://koji.example.org/kojihub", &hub.url())
        .name("https://koji.example.org/kojifiles", &hub.files())
        .name("koji-4711", &format!("koji-{}", tagged[0]))
        .name("$SECRET", "hush")
        .before("repo show builds", read)
        .reads("python", python)
        .keep(hub)
}

/// Prometheus reads its own configuration and rules. The other YAML is for Grafana.
pub(super) fn monitoring() -> Stage {
    let stage = plain().name("promtool ", &format!("{} ", promtool_program().display()));
    std::os::unix::fs::symlink(root().join("docs"), stage.home().join("docs")).unwrap();
    stage.reads("yaml", |stage, text| {
        if text.starts_with("apiVersion:") {
            return languages::yaml(stage, text);
        }
        std::fs::write(stage.home().join(".block.yml"), text).unwrap();
        let checked = promtool(stage.home(), &["check", "config", ".block.yml"], "");
        if checked.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&checked.stderr).into_owned()) }
    })
}

pub(super) fn sizing() -> Stage {
    let world = lamps();
    for _ in 0..300 {
        world.anon().get("/repository/maven-releases/org/example/lamp/1.0/lamp-1.0.jar").expect(200);
    }
    await_true("the machine was sampled", || {
        let told = world.admin().get("/api/v1/sizing").expect(200).json();
        let rows = told["rows"].as_array().unwrap();
        rows.iter().any(|row| row["subject"] == "machine:processors" && row["needed"].is_u64())
    });
    Stage::on(world)
}

/// A server with a receiver that takes everything.
pub(super) fn exporting() -> Stage {
    let receiver = crate::otlp::Receiver::start(crate::otlp::Does::Takes);
    let world = World::start_with_file(&crate::otlp::settings(&receiver.url()));
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    world.admin().put("maven-releases", JAR, b"bytes").expect(201);
    receiver.await_more("/v1/metrics", 2);
    Stage::on(world).name("http://127.0.0.1:4318", &receiver.url()).keep(receiver)
}

pub(super) fn as_of() -> Stage {
    let world = lamps();
    // The page looks back to change 20.
    for version in 1..=6 {
        world.admin().push(FIRST, &Gem::new("lamp", &format!("{version}.0.0"))).expect(200);
    }
    Stage::on(world)
}

pub(super) fn data_folder() -> Stage {
    Stage::on(lamps()).data("/srv/daylight").before("daylight check", |stage| stage.world.stop())
}

/// A server that has answered some requests, one of them with 404.
pub(super) fn asking() -> Stage {
    let world = lamps();
    for version in ["1.0", "1.1", "1.2", "1.0", "1.1", "1.2"] {
        world.anon().file("maven", &format!("org/example/lamp/{version}/lamp-{version}.jar")).expect(200);
    }
    world.anon().file("maven-releases", "org/example/lamp/2.0/lamp-2.0.jar").expect(404);
    Stage::on(world).fails("count by pakage").fails("compare rest\"")
}

/// A server, and a recording of another one with the same files.
pub(super) fn replaying() -> Stage {
    let stage = Stage::on(lamps());
    let jar = |version: &str| format!("/repository/maven/org/example/lamp/{version}/lamp-{version}.jar");
    let mut lines = Vec::new();
    let mut add = |method: &str, path: &str, status: u16| {
        let at = format!("2026-11-23T12:00:00.{:03}Z", lines.len() * 100);
        lines.push(format!(
            r#"{{"at":"{at}","kind":"request","method":"{method}","path":"{path}","status":{status},"duration_ms":1.5}}"#
        ));
    };
    for version in ["1.0", "1.1", "1.2", "1.0", "1.1"] {
        add("GET", &jar(version), 200);
    }
    add("HEAD", "/repository/maven-releases/org/example/lamp/2.0/lamp-2.0.jar", 404);
    add("PUT", "/repository/maven-releases/org/example/lamp/2.0/lamp-2.0.jar", 201);
    add("GET", "/repository/gems/api/v1/dependencies", 200);
    write(&stage.home().join("recorded.jsonl"), &(lines.join("\n") + "\n"));
    stage
}

pub(super) fn explaining() -> Stage {
    Stage::on(lamps()).before("--event $event", ended)
}

/// A server with a setting that has no effect, which it has noticed.
pub(super) fn findings() -> Stage {
    let world = World::start_with(&[("DAYLIGHT_TELEMETRY_ACCESS_LOG_FILE", "access.log")]);
    await_true("the setting is told", || !world.findings().is_empty());
    Stage::on(world)
}

pub(super) fn gem_clients() -> Stage {
    let (world, index) = with_index();
    world.admin().push(FIRST, &Gem::new("acme-wick", "1.0.0")).expect(200);
    let stage = Stage::on(world).keep(index);
    // The client's own project, whose source is elsewhere.
    write(&stage.home().join("Gemfile"), "source \"https://gems.example\"\ngem \"lamp\"\n");
    stage.after(|stage| {
        let lock = std::fs::read_to_string(stage.path("Gemfile.lock")).unwrap();
        assert!(lock.contains("remote: https://gems.example/") && lock.contains("lamp (1.1.0)"), "{lock}");
    })
}

pub(super) fn gems_from_an_upstream() -> Stage {
    let (world, index) = with_index();
    // Nothing is held back here, and the command says so.
    Stage::on(world).keep(index).fails("repo accept-index")
}

pub(super) fn policy() -> Stage {
    let (world, index) = with_index();
    world.person("ci", &["read"], &[]);
    let stage = Stage::on(world).keep(index);
    write(&stage.home().join("Gemfile.lock"), "GEM\n  remote: https://rubygems.org/\n  specs:\n    lamp (1.1.0)\n");
    stage
}

pub(super) fn groups() -> Stage {
    let world = World::start();
    world.tree("partner", "maven");
    Stage::on(world)
}

pub(super) fn groups_of_gems() -> Stage {
    let (world, index) = with_index();
    let address = world.address().to_string();
    Stage::on(world).name("@daylight.example", &format!("@{address}")).keep(index)
}

pub(super) fn hooks() -> Stage {
    let ((world, index), registry) = (with_index(), Upstream::start());
    for path in ["/api/v1/web_hooks", "/api/v1/web_hooks/fire"] {
        registry.says(path, Says::bytes("made"));
    }
    let secrets = tempfile::TempDir::new().unwrap();
    let file = secrets.path().join("hooks");
    write(&file, "hush\n");
    world.change("maven", &json!({ "hook_secret": "env:UPSTREAM_HOOKS" }));
    Stage::on(world)
        .name("file:/run/secrets/hooks", "env:UPSTREAM_HOOKS")
        .name("https://UPSTREAM/", &registry.url())
        .name("$RUBYGEMS_API_KEY", "key")
        .name("\"SECRET\"", "\"hush\"")
        .name("$SECRET", "hush")
        .keep((index, registry, secrets))
}

pub(super) fn moving_in() -> Stage {
    let (world, old) = (World::start(), index());
    let folders = ["/srv/geminabox", "/mnt/gems", "/srv/tools", "/mnt/maven", "/mnt/tools", "/srv/reposilite/releases"];
    let stage = folders.into_iter().fold(Stage::on(world), Stage::folder);
    write(&stage.path("/srv/tools/lamp.zip"), "lamp");
    let folder = stage.path("/srv/geminabox");
    let lamp = Gem::new("acme-lamp", "1.0.0");
    std::fs::create_dir_all(folder.join("gems")).unwrap();
    std::fs::write(folder.join("gems").join(lamp.file()), lamp.bytes()).unwrap();
    let releases = stage.path("/srv/reposilite/releases");
    write(&releases.join("com/acme/bolt/1.0/bolt-1.0.pom"), &POM.replace("lamp", "bolt"));
    write(&releases.join("junit/junit/4.13.2/junit-4.13.2.pom"), "<project/>");
    let url = old.url(FIRST);
    stage.name("http://nexus.example/repository/gems-hosted", url.trim_end_matches('/')).keep(old).after(|stage| {
        let admin = stage.world.admin();
        admin.file(FIRST, "gems/acme-lamp-1.0.0.gem").expect(200);
        admin.file(FIRST, "gems/lamp-1.1.0.gem").expect(200);
        admin.file("maven-releases", "com/acme/bolt/1.0/bolt-1.0.pom").expect(200);
        admin.file("maven-releases", "junit/junit/4.13.2/junit-4.13.2.pom").expect(404);
        assert!(stage.path("/mnt/gems/acme-lamp-1.0.0.gem").exists());
        assert!(stage.path("/mnt/maven/com/acme/bolt/maven-metadata.xml.sha1").exists());
        assert!(stage.path("/mnt/tools/lamp.zip").exists());
    })
}

pub(super) fn proxying() -> Stage {
    Stage::on(World::start_with(SECRETS))
}

pub(super) fn publishing_maven() -> Stage {
    let (world, central) = (World::start(), Central::open());
    upstream(&world, "maven-central", &central.url());
    Stage::on(world).keep(central)
}

pub(super) fn troubleshooting() -> Stage {
    let (world, index) = with_index();
    world.admin().push(FIRST, &Gem::new("acme-lamp", "1.0.0")).expect(200);
    // Nobody is asked for what a hosted member has.
    world.admin().put("maven-releases", "org/example/lamp/1.0/lamp-1.0.jar", b"lit").expect(201);
    let late = late::member(&world);
    Stage::on(world).data("/srv/daylight").keep(index).keep(late)
}
