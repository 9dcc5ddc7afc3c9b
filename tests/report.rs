//! `daylight report`: one file about a stretch of time, whose figures are those of questions, with what its maker may see.

use crate::asking::ask_until;
use crate::world::{FIRST, Gem, Person, Says, Upstream, World};
use serde_json::json;
use std::path::Path;
use std::process::Output;

/// A text that a page must not take for markup, and that a reader must not read in another order.
const ODD: &str = "%3Cimg%20src=x%20onerror=alert(1)%3E%E2%80%AEgnp.exe";

/// The requests of clients for content.
const CONTENT: &str = "layer = page or class = pages or class = downloads or class = uploads or class = dynamic_index";

/// A server that was used: files of an upstream and of its own, a change of a repository, a name of a stranger.
pub(crate) fn used() -> (World, Upstream) {
    let (world, upstream) = (World::start(), Upstream::start());
    (0..4).for_each(|n| upstream.file(&format!("/org/example/lamp/1.{n}/lamp-1.{n}.jar"), vec![7; 20_000]));
    upstream.says("/org/example/lamp/2.0/lamp-2.0.jar", Says::status(500));
    world.remote("central", &upstream.url());
    world.change(FIRST, &json!({ "keep_versions": 10 }));
    for version in ["1.0.0", "1.1.0", "1.2.0"] {
        world.admin().push(FIRST, &Gem::new("acme-lamp", version)).expect(200);
    }
    let anon = world.anon();
    for _ in 0..3 {
        (0..4).for_each(|n| drop(anon.file("central", &format!("org/example/lamp/1.{n}/lamp-1.{n}.jar")).expect(200)));
    }
    anon.file("central", "org/example/lamp/2.0/lamp-2.0.jar").expect(502);
    anon.file("maven", ODD).expect(404);
    anon.file(FIRST, "gems/acme-lamp-1.0.0.gem").expect(200);
    ask_until(&world, &json!(format!("count where {CONTENT}")), |answer| answer["rows"][0]["count"] == 18);
    (world, upstream)
}

/// Runs the command with the token of a person.
fn run(world: &World, who: &Person, line: &str, file: &Path) -> Output {
    let mut command = world.command(&line.split(' ').collect::<Vec<_>>());
    command.env("DAYLIGHT_TOKEN", who.secret()).arg("--out").arg(file).output().unwrap()
}

/// The report about the last day, as a person may see it.
pub(crate) fn report(world: &World, who: &Person, folder: &Path) -> String {
    let file = folder.join("report.html");
    let done = run(world, who, "report --from -1d", &file);
    assert!(done.status.success(), "{done:?}");
    std::fs::read_to_string(file).unwrap()
}

/// The visible text, one line for each element.
fn text(html: &str) -> String {
    let (_, body) = html.split_once("<body>").unwrap();
    let mut text = String::new();
    for part in body.split('<') {
        text.push_str(part.split_once('>').map_or("", |(_, text)| text));
        text.push('\n');
    }
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_figures_of_a_report_are_those_of_questions_and_its_parts_name_what_was_used_published_and_changed() {
    let (world, _upstream) = used();
    let folder = tempfile::tempdir().unwrap();
    let html = report(&world, &world.admin(), folder.path());
    let text = text(&html);
    // Three gems were pushed and one downloaded; a remote repository was asked 13 times, and one name is no file.
    assert!(text.contains("Requests\n18\n"), "{text}");
    for part in [
        "What went on",
        "What was wrong",
        "What was changed",
        "What it cost and saved",
        // Used most, published, saved: each of four files came twice from the cache.
        "org.example:lamp",
        "keep_versions",
        "acme-lamp\ngems-private\n3\n1.2.0\n",
        "8 answers of remote repositories and groups came without a call to an upstream: 160 kB.",
        "No finding was open in this time.",
        "central",
        "The server runs without a break since",
        "Starts of the server",
        "It was started once in this time.",
        "The journal of this server begins at",
        "Since its start at",
        "Fetched from upstreams",
        "Removals of content, and changes of owners of names",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_report_is_one_file_without_scripts_in_which_no_name_of_a_stranger_is_markup_or_changes_the_order_of_a_line() {
    let (world, _upstream) = used();
    let folder = tempfile::tempdir().unwrap();
    let html = report(&world, &world.admin(), folder.path());
    for never in ["<script", "<img", "<b>", "src=", "@import", "url(", "<link rel=\"stylesheet", "\u{202e}", "style=\""]
    {
        assert!(!html.contains(never), "{never}: {html}");
    }
    assert!(html.contains("default-src 'none'"), "{html}");
    let links: Vec<&str> = html.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(links, ["data:,"]);
}

#[test]
fn a_report_has_what_its_maker_may_see_and_says_what_it_lacks() {
    let world = World::start_with(&[("DAYLIGHT_TELEMETRY_CLIENT_ADDRESSES", "off")]);
    let folder = tempfile::tempdir().unwrap();
    let observer = world.person("observer", &["observe"], &[]);
    world.anon().file("maven-releases", "org/example/none").expect(404);
    let text_of = |who: &Person| text(&report(&world, who, folder.path()));
    let (all, some) = (text_of(&world.admin()), text_of(&observer));
    assert!(all.contains("observer") && !all.contains("Not shown: changes of tokens"), "{all}");
    assert!(
        !some.contains("\nobserver\n")
            && some.contains("Not shown: changes of tokens; administrators alone may see them."),
        "{some}"
    );
    // The address of the server itself is that of the title.
    assert!(!some.replace(&world.root(), "").contains("127.0.0.1"), "{some}");

    let reader = world.person("reader", &["read"], &[]);
    let none = folder.path().join("none.html");
    let done = run(&world, &reader, "report --from -1d", &none);
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(
        done.status.code() == Some(1) && said.contains("hint: ") && said.contains("observe") && !none.exists(),
        "{said}"
    );
    let done = run(&world, &observer, "report --from yesterday.at.noon", &none);
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(done.status.code() == Some(2) && said.contains("yesterday.at.noon") && !none.exists(), "{said}");
    assert_eq!(world.says("report --from -1d;drop").1, Some(2));
}

#[test]
fn a_finding_of_the_time_is_told_with_the_time_in_which_it_was_open() {
    let world = World::start_in_conformance(&[("DAYLIGHT_TELEMETRY_ACCESS_LOG_FILE", "access.log")]);
    world.set_time("2026-11-02T12:00:00Z");
    world.findings();
    world.set_time("2026-11-02T12:06:00Z");
    assert_eq!(world.open_findings(), ["contradictory-settings@setting:telemetry.access_log_file"]);
    let listed = &world.findings()[0];
    assert!(listed["opened"].as_str().unwrap().starts_with("2026-11-02T12:06:0"), "{listed}");
    assert!(listed["ended"].is_null() && listed["lost_s"] == 0.0, "{listed}");
    let id = listed["id"].as_str().unwrap();
    let mute = json!({ "why": "<b>next</b> week", "until": "1d" });
    world.admin().post_json(&format!("/api/v1/findings/mute/{id}"), &mute).expect(200);
    world.set_time("2026-11-02T12:10:00Z");
    let folder = tempfile::tempdir().unwrap();
    let html = report(&world, &world.admin(), folder.path());
    assert!(!html.contains("<b>") && !html.contains('\u{202e}'), "{html}");
    let text = text(&html);
    for part in [
        "One fault was found",
        "It is still there.",
        "Open since 2026-11-02 12:06.",
        "&#60;b&#62;next&#60;/b&#62;",
        "contradictory-settings@setting:telemetry.access_log_file",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
