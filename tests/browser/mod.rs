//! Web pages in a real browser: accessible in each appearance, whole without scripts, usable with the keyboard alone.

mod content;
mod report;
mod screenshots;
mod scripts;
mod strangers;

use crate::world::{Person, World, browser};
use serde_json::{Value, json};

/// Why clients get no 2.0.
const HIDDEN: &str = "/explain?repository=maven&path=org/example/lantern/lantern-core/2.0/lantern-core-2.0.pom";

/// A page to look at, with its status.
const PAGES: &[(&str, u16)] = &[
    ("/", 200),
    ("/repository/gems/", 200),
    ("/repository/gems-private/", 200),
    ("/repository/maven/", 200),
    ("/repository/tools/", 200),
    ("/search", 200),
    ("/search?q=l", 200),
    ("/search?q=nothing-has-this-name", 200),
    ("/browse/maven/", 200),
    ("/browse/maven/org/example/lantern/lantern-core/", 200),
    ("/browse/maven/org/example/lantern/lantern-core/2.0/", 200),
    ("/browse/gems-private/", 200),
    ("/browse/tools/images/", 200),
    ("/browse/tools/none/", 404),
    ("/packages/gems", 200),
    ("/packages/gems/lamp", 200),
    ("/packages/gems/lamp/1.1.0", 200),
    ("/packages/gems/lamp/1.2.0", 200),
    ("/packages/gems-private/lamp/1.0.1", 200),
    ("/packages/gems/wick", 200),
    ("/packages/maven/org.example.lantern:lantern-core", 200),
    ("/packages/maven/org.example.lantern:lantern-core/2.0", 200),
    ("/packages/gems/wick?dependents=true", 200),
    ("/packages/gems/lamp?downloads=true", 200),
    ("/packages/gems/lamp?from=1.0.0&to=1.1.0", 200),
    ("/packages/gems/lamp/1.1.0?readme=true", 200),
    ("/packages/maven/org.example.lantern:lantern-core?from=1.0&to=1.1", 200),
    ("/packages/gems/none", 404),
    ("/explain", 200),
    ("/explain?repository=gems&path=gems/lamp-1.1.0.gem", 200),
    (HIDDEN, 200),
    ("/ask", 200),
    ("/ask?q=count+by+layer+from+2026-01-01+to+2026-01-02", 200),
    ("/ask?q=count+by+pakage", 200),
    ("/events/0123456789abcdef", 404),
    ("/sign-in", 200),
    ("/nowhere", 404),
    ("/repository/nowhere/", 401),
    ("/repository/vault/", 401),
    ("/repository/tools/images/none.img", 404),
    ("/repository/gems/gems/lamp-1.2.0.gem", 403),
];

/// The pages as the scripts want them.
fn pages(world: &World) -> Vec<Value> {
    let mut pages: Vec<Value> = PAGES.iter().map(|(path, status)| json!({ "path": path, "status": status })).collect();
    let asked =
        world.anon().get("/repository/maven/org/example/lantern/lantern-core/1.0/lantern-core-1.0.pom").expect(200);
    let event = asked.header("daylight-event").unwrap().to_owned();
    world.event(&event);
    pages.push(json!({ "path": format!("/events/{event}"), "status": 200 }));
    // Somebody who may read more than others sees another page.
    let reader: Person = world.person("reader", &["read"], &["vault"]);
    for path in ["/", "/repository/vault/"] {
        pages.push(json!({ "path": path, "secret": reader.secret() }));
    }
    pages
}

fn base(world: &World) -> String {
    world.root()
}

/// What the browser finds wrong with these pages, in each appearance.
fn wrong(world: &World, pages: &[Value]) -> Vec<String> {
    let found = browser("appearance.js", json!({ "base": base(world), "pages": pages }));
    assert_eq!(found["looks"], pages.len() * 6, "three appearances at two widths");
    serde_json::from_value(found["wrong"].clone()).unwrap()
}

#[test]
fn every_page_is_accessible_in_each_appearance_and_fits_a_narrow_screen() {
    let world = content::world();
    let wrong = wrong(&world, &pages(&world));
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The check above finds each of these.
#[test]
fn a_page_with_a_fault_is_found() {
    let world = World::start();
    let elsewhere = "document.body.append(Object.assign(new Image(), { alt: '', src: 'http://127.0.0.2:9/a.png' }))";
    let faults = [
        ("document.querySelector('main').append(new Image())", "axe image-alt"),
        ("document.querySelector('h1').style.color = '#ccc'", "axe color-contrast"),
        ("document.querySelector('h1').style.width = '500px'", "wide on a screen of 360 px"),
        ("document.querySelector('h1').append('`x`')", "a backtick in a heading"),
        (
            "Object.assign(document.querySelector('h1').style, { width: '5px', overflow: 'hidden', whiteSpace: 'nowrap' })",
            "cut off",
        ),
        (
            "Object.assign(document.querySelector('pre'), { textContent: 'x'.repeat(400) }).style.paddingTop = '0'",
            "covered by a button",
        ),
        ("console.log('hello')", "console: hello"),
        (
            "document.body.append(Object.assign(document.createElement('script'), { text: '1' }))",
            "Content Security Policy",
        ),
        ("document.body.setAttribute('onclick', '1'); document.body.click()", "Content Security Policy"),
        ("fetch('/nowhere').then(() => 0)", "status 404"),
        (elsewhere, "Content Security Policy"),
    ];
    let path = |at: usize| format!("/?fault={at}");
    let pages: Vec<Value> =
        faults.iter().enumerate().map(|(at, (spoil, _))| json!({ "path": path(at), "spoil": spoil })).collect();
    let wrong = wrong(&world, &pages);
    for (at, (spoil, finds)) in faults.iter().enumerate() {
        let of_it = |line: &&String| line.starts_with(&path(at)) && line.contains(finds);
        assert!(wrong.iter().any(|line| of_it(&line)), "{spoil}: {wrong:#?}");
    }
}

#[test]
fn every_page_tells_the_same_without_scripts() {
    let world = content::world();
    let pages = pages(&world);
    let read = browser("without_scripts.js", json!({ "base": base(&world), "pages": pages }));
    // Other programs write to the disk between the two readings.
    let changes = |line: &&Value| line.as_str().unwrap().contains(" free on the disk of the data folder");
    for page in read.as_array().unwrap() {
        assert!(page["lines"].as_u64().unwrap() > 5, "{page}");
        for only in ["onlyWith", "onlyWithout"] {
            assert!(page[only].as_array().unwrap().iter().all(|line| changes(&line)), "{only}: {page}");
        }
    }
}

/// Does tasks in the browser with the keyboard alone.
fn walk(world: &World, tasks: &Value) {
    let done = browser("keyboard.js", json!({ "base": base(world), "tasks": tasks }));
    for task in done.as_array().unwrap() {
        assert_eq!((&task["wrong"], &task["seen"]), (&Value::Null, &json!([])), "{task:#}");
    }
}

#[test]
fn each_task_can_be_done_with_the_keyboard_alone() {
    let world = content::world();
    let reader = world.person("reader", &["read"], &["vault"]);
    walk(
        &world,
        &json!([
            { "task": "skip to the content", "scripts": false, "steps": [
                ["open", "/"], ["tab", ["a", "Skip to the content"]], ["press", "Enter"], ["at", "/#content"],
                ["tab", ["a", "/repository/gems/"]],
            ] },
            { "task": "read the lines that configure Bundler", "scripts": false, "steps": [
                ["open", "/"], ["tab", ["a", "/repository/gems/"]], ["follow", "Enter"], ["at", "/repository/gems/"],
                ["tab", ["pre", "bundle config"]], ["holds", &base(&world)],
            ] },
            { "task": "find a package", "scripts": false, "steps": [
                ["open", "/"], ["tab", ["input", "Search packages"]], ["type", "lantern"], ["follow", "Enter"],
                ["at", "/search?q=lantern"], ["tab", ["a", "lantern-core"]], ["follow", "Enter"],
                ["reads", "org.example.lantern:lantern-core"],
            ] },
            { "task": "browse to a file", "scripts": false, "steps": [
                ["open", "/browse/maven/org/example/"], ["tab", ["a", "lantern/"]], ["follow", "Enter"],
                ["tab", ["a", "lantern-core/"]], ["follow", "Enter"], ["tab", ["a", "1.1/"]], ["follow", "Enter"],
                ["at", "/browse/maven/org/example/lantern/lantern-core/1.1"], ["tab", ["a", "lantern-core-1.1.jar"]],
            ] },
            { "task": "read a version, and copy its line", "scripts": false, "steps": [
                ["open", "/packages/gems/lamp"], ["tab", ["a", "/packages/gems/lamp/1.1.0"]], ["follow", "Enter"],
                ["at", "/packages/gems/lamp/1.1.0"], ["reads", "wick"], ["reads", "Ann Porter"],
                ["tab", ["pre", "gem \"lamp\", \"1.1.0\""]],
            ] },
            { "task": "see why a version is hidden", "scripts": false, "steps": [
                ["open", "/packages/maven/org.example.lantern:lantern-core"], ["tab", ["a", "lantern-core/2.0"]],
                ["follow", "Enter"], ["reads", "until they are 7 days old"], ["reads", "Until"],
            ] },
            { "task": "open the link of a refused build", "scripts": false, "steps": [
                ["open", HIDDEN], ["reads", "Hidden until"], ["tab", ["pre", "daylight policy allow maven"]],
            ] },
            { "task": "ask why a client got an answer", "scripts": false, "steps": [
                ["open", "/explain"], ["tab", ["input", "Repository"]], ["type", "gems"], ["press", "Tab"],
                ["type", "lamp:1.2.0"], ["follow", "Enter"], ["reads", "Hidden until"],
            ] },
            { "task": "sign in, read a private repository, and sign out", "scripts": false, "steps": [
                ["open", "/repository/vault/"], ["tab", ["a", "Sign in with a token"]], ["follow", "Enter"],
                ["tab", ["input", "Token"]], ["type", reader.secret()], ["follow", "Enter"], ["reads", "reader"],
                ["open", "/packages/vault/secret-lamp"], ["reads", "secret-lamp"], ["tab", ["button", "Sign out"]],
                ["follow", "Enter"], ["reads", "Sign in"], ["open", "/packages/vault/secret-lamp"],
                ["reads", "Sign in to see this"],
            ] },
        ]),
    );
}
