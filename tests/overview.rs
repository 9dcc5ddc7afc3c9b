//! What people see at `/` and `/repository/NAME/`.

use crate::world::{Answer, FIRST, Gem, Person, Ruby, Upstream, World};
use serde_json::json;

const HTML: (&str, &str) = ("Accept", "text/html,application/xhtml+xml;q=0.9");

fn page(person: &Person, path: &str, headers: &[(&str, &str)]) -> Answer {
    let answer = person.ask("GET", path, headers, b"").expect(200);
    assert_eq!(answer.header("cache-control"), Some("no-store"), "it depends on the client");
    assert_eq!(answer.header("vary"), Some("accept, authorization, cookie"));
    answer
}

#[test]
fn the_front_page_lists_the_repositories_that_the_caller_may_read_as_text_or_as_html() {
    let world = World::start();
    world.repository("vault", true);
    let reader = world.person("reader", &["read"], &["vault"]);
    let outsiders = [world.anon(), world.holder("wrong"), world.person("publisher", &["write"], &["vault"])];
    for headers in [&[][..], &[HTML]] {
        for outsider in &outsiders {
            let seen = page(outsider, "/", headers);
            assert!(
                seen.text().contains("/repository/gems-private/") && !seen.text().contains("vault"),
                "{}",
                seen.text()
            );
        }
        assert!(page(&reader, "/", headers).text().contains("/repository/vault/"));
    }
    let html = page(&world.anon(), "/", &[HTML]);
    assert_eq!(html.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(html.header("content-security-policy").unwrap().starts_with("default-src 'none';"));
    let gems = "<a href=\"/repository/gems/\">";
    assert!(html.text().contains(gems) && !html.text().contains("<script>"), "{}", html.text());
    assert_eq!(page(&world.anon(), "/", &[]).header("content-type"), Some("text/plain; charset=utf-8"));
    // As clients look whether a repository is there.
    world.anon().ask("HEAD", &format!("/repository/{FIRST}/"), &[], b"").expect(200);
    world.anon().get("/repository/vault/").expect(401);
}

#[test]
fn the_front_page_tells_what_to_type_first_until_something_is_published() {
    let world = World::start();
    let first = || page(&world.anon(), "/", &[]).text().contains("Nothing of your own is published here yet");
    assert!(first());
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    assert!(!first());
}

#[test]
fn the_first_page_shows_sizes_and_the_first_lines_until_each_is_followed() {
    let world = World::start();
    let upstream = Upstream::start();
    upstream.file("/a/b.txt", "content");
    world.remote_of("raw", "far", &upstream.url());
    let seen = || page(&world.anon(), "/", &[HTML]).text().to_owned();
    let (push, fetch) = ("Nothing of your own is published here yet", "Nothing was fetched through this server yet");
    let first = seen();
    assert!(first.contains(push) && first.contains(fetch) && first.contains("mvn -s settings.xml package"), "{first}");
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let second = seen();
    assert!(!second.contains(push) && second.contains(fetch), "{second}");
    world.anon().file("far", "a/b.txt").expect(200);
    let third = seen();
    assert!(!third.contains(push) && !third.contains(fetch), "{third}");
    let row = third.split("<tr>").find(|row| row.contains("/repository/far/")).unwrap();
    assert!(row.contains("data-label=\"Files\">1</td>") && row.contains(">7 B<"), "{row}");
    assert!(third.contains("Nothing found by "), "{third}");
}

#[test]
fn the_first_page_names_a_failing_upstream_to_observers_and_counts_it_for_others() {
    let world = World::start();
    let upstream = Upstream::start();
    world.remote_of("raw", "far", &upstream.url());
    upstream.unplug();
    assert!(world.anon().file("far", "a/b.txt").status >= 500);
    let host = upstream.address().to_string();
    let seen = |person: &Person| page(person, "/", &[HTML, ("Via", "1.1 proxy")]).text().to_owned();
    let (reader, observer) = (seen(&world.anon()), seen(&world.person("observer", &["observe"], &[])));
    assert!(reader.contains("Upstreams that are paused or fail: 1 of"), "{reader}");
    assert!(!reader.contains(&host) && !reader.contains("free on the disk"), "{reader}");
    assert!(observer.contains(&host) && observer.contains("free on the disk"), "{observer}");
}

#[test]
fn the_page_of_a_repository_has_lines_that_publish_and_install() {
    let world = World::start();
    let tells = |person: &Person, name: &str| page(person, &format!("/repository/{name}/"), &[]).text().to_owned();
    let line = |text: &str, begins: &str| {
        let mut lines = text.lines().map(str::trim).filter(|line| line.starts_with(begins));
        lines.next().unwrap_or_else(|| panic!("{begins}: {text}")).to_owned()
    };
    let (gems, desk) = (tells(&world.anon(), "gems"), Ruby::new());
    let file = desk.build(&Gem::new("lamp", "1.0.0"));
    let push = line(&gems, "gem push").replace("NAME-VERSION.gem", file.to_str().unwrap());
    desk.shell(world.admin().secret(), &push).good();
    let source = line(&tells(&world.anon(), FIRST), "source ");
    assert_eq!(source, format!("source \"{}\"", world.url(FIRST)));
    let install = line(&tells(&world.anon(), FIRST), "gem install").replace("NAME", "lamp");
    desk.shell("", &install).good();

    world.tree("tools", "raw");
    let raw = tells(&world.anon(), "tools");
    std::fs::write(desk.home().join("disk.img"), "image").unwrap();
    let put = line(&raw, "curl -fT").replace("FILE", "disk.img").replace("TOKEN", world.admin().secret());
    desk.shell("", &put.replace("PATH", "a/disk.img")).good();
    assert_eq!(world.anon().file("tools", "a/disk.img").expect(200).text(), "image");
    desk.shell("", &line(&raw, "curl -fO").replace("PATH", "a/disk.img")).good();

    let maven = tells(&world.anon(), "maven");
    assert!(maven.contains("/repository/maven/settings.xml") && maven.contains("<distributionManagement>"), "{maven}");
    assert!(maven.contains(&world.url("maven-releases")), "{maven}");
}

#[test]
fn the_page_of_a_group_names_no_member_that_the_caller_may_not_read() {
    let world = World::start();
    world.repository("vault", true);
    world.change("gems", &json!({ "members": ["vault", FIRST], "private": true }));
    let guest = world.person("guest", &["read"], &["gems"]);
    let seen = page(&guest, "/repository/gems/", &[]);
    assert!(seen.text().contains(FIRST) && !seen.text().contains("vault"), "{}", seen.text());
    assert!(seen.text().contains("bundle config set --global") && seen.text().contains("TOKEN"), "{}", seen.text());
    assert!(page(&world.admin(), "/repository/gems/", &[]).text().contains("/repository/vault/"));
}

#[test]
fn a_browser_is_shown_an_error_as_a_page_and_other_clients_get_it_as_before() {
    let world = World::start();
    world.repository("vault", true);
    let browser = [("User-Agent", "Mozilla/5.0 (X11; Linux x86_64)"), HTML];
    let java = [("User-Agent", "Java/17.0.18"), ("Accept", "text/html, image/gif, */*; q=.2")];
    for (path, status) in
        [("/nowhere", 404), ("/repository/gems-private/gems/none-1.0.gem", 404), ("/repository/vault/", 401)]
    {
        // Also once the text is a page in memory, which a second request makes it.
        let text = [(); 3].map(|()| world.anon().get(path).expect(status).text().to_owned());
        let html = world.anon().ask("GET", path, &browser, b"").expect(status);
        assert_eq!(html.header("content-type"), Some("text/html; charset=utf-8"), "{path}");
        assert!(html.header("cache-control").unwrap().ends_with("no-store"));
        assert!(html.header("content-security-policy").is_some() && html.header("vary").unwrap().contains("accept"));
        let challenge = html.header("www-authenticate");
        assert_eq!(
            challenge,
            (status == 401).then_some("Bearer realm=\"Daylight\""),
            "a browser shows no dialog for it"
        );
        let said = text[2].lines().next().unwrap();
        assert!(html.text().contains(said), "{path}: {said} {}", html.text());
        assert!(html.text().contains("<h1>") && html.text().contains(html.header("daylight-event").unwrap()));
        for other in [&java[..], &[("Accept", "text/html")]] {
            let told = world.anon().ask("GET", path, other, b"").expect(status);
            assert_ne!(told.header("content-type"), Some("text/html; charset=utf-8"), "{path} {other:?}");
        }
    }
    let call = world.anon().ask("GET", "/api/v1/tokens", &browser, b"").expect(401);
    assert_eq!(call.header("content-type"), Some("application/problem+json"), "a call of the API");
}
