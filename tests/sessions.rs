//! Signing in with a browser: what a session may do, when it ends, and what other sites, thieves and odd forms get.

use crate::policy::{set_day, world};
use crate::world::{Answer, FIRST, Gem, Person, Ruby, World};
use format::percent::segment;
use serde_json::json;

const HTML: (&str, &str) = ("Accept", "text/html");
const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");
const SAME: (&str, &str) = ("Sec-Fetch-Site", "same-origin");

/// Sends the form to sign in.
fn sign_in(world: &World, headers: &[(&str, &str)], form: &str) -> Answer {
    world.anon().ask("POST", "/sign-in", &[&[FORM], headers].concat(), form.as_bytes())
}

/// The cookie of an answer, as the browser sends it back.
fn cookie(answer: &Answer) -> String {
    answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned()
}

/// The cookie of a session of this person.
pub(crate) fn session(world: &World, person: &Person) -> String {
    cookie(&sign_in(world, &[SAME], &format!("token={}", person.secret())).expect(303))
}

/// Gets a page with a cookie.
pub(crate) fn get(world: &World, cookie: &str, path: &str) -> Answer {
    world.anon().ask("GET", path, &[HTML, ("Cookie", cookie)], b"")
}

/// The secret of the forms on a page.
pub(crate) fn secret(page: &Answer) -> String {
    let text = page.text();
    let at = text.find("name=\"secret\" value=\"").unwrap() + 21;
    text[at..at + text[at..].find('"').unwrap()].to_owned()
}

#[test]
fn a_session_reads_what_its_token_reads_until_it_is_signed_out() {
    let world = World::start();
    world.repository("vault", true);
    world.admin().push("vault", &Gem::new("lamp", "1.0.0")).expect(200);
    let reader = world.person("reader", &["read", "write"], &["vault"]);
    let answer = sign_in(&world, &[SAME], &format!("token=%20{}%20&to=/explain", reader.secret())).expect(303);
    assert_eq!(answer.header("location"), Some("/explain"));
    let set = answer.header("set-cookie").unwrap();
    for part in ["daylight=daylight_", "; HttpOnly", "; SameSite=Strict", "; Path=/", "; Max-Age=43200"] {
        assert!(set.contains(part), "{part}: {set}");
    }
    assert!(!set.contains("Secure") && !set.contains("Domain") && !set.contains(reader.secret()), "{set}");
    let cookie = cookie(&answer);
    let home = get(&world, &cookie, "/").expect(200);
    assert!(home.text().contains("/repository/vault/") && home.text().contains("reader-web-"), "{}", home.text());
    let file = get(&world, &cookie, "/repository/vault/gems/lamp-1.0.0.gem").expect(200);
    assert_eq!(file.header("cache-control"), Some("private, no-store"));
    get(&world, &cookie, "/explain?repository=vault&path=lamp:1.0.0").expect(200);
    let journal = world.admin().get("/api/v1/journal").expect(200).text().to_owned();
    assert!(journal.contains("reader-web-"), "{journal}");

    let form = format!("secret={}", secret(&home));
    let out = world.anon().ask("POST", "/sign-out", &[FORM, SAME, ("Cookie", &cookie)], form.as_bytes()).expect(303);
    assert!(out.header("set-cookie").unwrap().contains("Max-Age=0"));
    get(&world, &cookie, "/repository/vault/gems/lamp-1.0.0.gem").expect(401);
    assert!(!get(&world, &cookie, "/").expect(200).text().contains("vault"));
    reader_still_works(&reader);
    // Once more, as from a second tab.
    world.anon().ask("POST", "/sign-out", &[FORM, SAME, ("Cookie", &cookie)], form.as_bytes()).expect(303);
}

fn reader_still_works(reader: &Person) {
    reader.get("/repository/vault/gems/lamp-1.0.0.gem").expect(200);
}

#[test]
fn a_session_ends_with_its_token_and_after_twelve_hours() {
    let world = world();
    world.repository("vault", true);
    let reads = |cookie: &str| get(&world, cookie, "/repository/vault/names").status == 200;
    world.person("reader", &["read"], &["vault"]);
    let [first, second, third] = ["first", "second", "third"].map(|name| world.person(name, &["read"], &["vault"]));
    let cookies = [&first, &second, &third].map(|person| session(&world, person));
    assert!(cookies.iter().all(|cookie| reads(cookie)));
    world.admin().ask("DELETE", "/api/v1/tokens/first", &[], b"").expect(204);
    assert!(!reads(&cookies[0]) && reads(&cookies[1]));
    // The token in place of another of its name does not revive the sessions of that one.
    world.person("first", &["read"], &["vault"]);
    assert!(!reads(&cookies[0]));
    set_day(&world, 2);
    assert!(!reads(&cookies[1]) && !reads(&cookies[2]), "half a day has passed");
    second.get("/repository/vault/names").expect(200);
    // A session never outlives its token.
    let wanted =
        json!({ "name": "short", "scopes": ["read"], "repositories": ["vault"], "expires": "2026-11-02T13:00:00Z" });
    let made = world.admin().post_json("/api/v1/tokens", &wanted).expect(201).json();
    let short = session(&world, &world.holder(made["secret"].as_str().unwrap()));
    let listed = world.admin().get("/api/v1/tokens").expect(200).json();
    let sessions = listed["tokens"].as_array().unwrap().iter();
    let of_short = sessions.clone().find(|token| token["name"].as_str().unwrap().starts_with("short-web-")).unwrap();
    assert_eq!(of_short["expires"], "2026-11-02T13:00:00.000Z", "{of_short}");
    assert!(reads(&short));
}

#[test]
fn a_stolen_cookie_changes_nothing_and_is_no_token() {
    let world = World::start();
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    world.tree("tools", "raw");
    world.admin().put("tools", "a.txt", b"a").expect(201);
    let cookie = session(&world, &world.admin());
    let stolen: &[(&str, &str)] = &[("Cookie", &cookie), SAME];
    assert!(get(&world, &cookie, "/api/v1/tokens").expect(200).text().contains("admin-web-"), "it reads");
    let desk = Ruby::new();
    let bytes = std::fs::read(desk.build(&Gem::new("oil", "1.0.0"))).unwrap();
    let token = json!({ "name": "mine", "scopes": ["admin"] }).to_string();
    let json = ("Content-Type", "application/json");
    for (method, path, body) in [
        ("PUT", "/repository/tools/b.txt".to_owned(), &b"b"[..]),
        ("DELETE", "/repository/tools/a.txt".into(), b""),
        ("POST", format!("/repository/{FIRST}/api/v1/gems"), &bytes),
        ("DELETE", format!("/repository/{FIRST}/api/v1/gems/yank"), b"gem_name=lamp&version=1.0.0"),
        ("POST", "/api/v1/tokens".into(), token.as_bytes()),
        ("DELETE", "/api/v1/tokens/admin".into(), b""),
        ("PATCH", "/api/v1/repositories/tools".into(), b"{\"private\":true}"),
        ("POST", format!("/repository/{FIRST}/api/v1/api_key"), b"name=mine&push_rubygem=true"),
    ] {
        let headers = [stolen, &[if path.ends_with("yank") || path.ends_with("key") { FORM } else { json }]].concat();
        let answer = world.anon().ask(method, &path, &headers, body);
        assert_eq!(answer.status, 401, "{method} {path}: {}", answer.text());
    }
    // A GET that makes a key, as RubyGems before 3.2 sends it.
    let agent = [("Cookie", &*cookie), ("User-Agent", "RubyGems/3.1.6")];
    let key = world.anon().ask("GET", &format!("/repository/{FIRST}/api/v1/api_key"), &agent, b"");
    assert_eq!(key.status, 401, "{}", key.text());
    // The cookie in the header of a token, in all forms.
    let value = cookie.split_once('=').unwrap().1;
    for secret in [value, &*cookie] {
        world.holder(secret).get("/api/v1/tokens").expect(401);
        let basic = base64(&format!("x:{secret}"));
        world.anon().ask("GET", "/api/v1/tokens", &[("Authorization", &basic)], b"").expect(401);
    }
    assert_eq!(world.anon().file("tools", "a.txt").expect(200).text(), "a");
}

fn base64(pair: &str) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = "Basic ".to_owned();
    for part in pair.as_bytes().chunks(3) {
        let bits = part.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - part.len()));
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= part.len() { letter.into() } else { '=' });
        }
    }
    text
}

#[test]
fn a_form_of_another_site_does_nothing() {
    let world = World::start();
    let admin = world.admin();
    let here = world.root();
    let form = format!("token={}", admin.secret());
    for headers in [
        &[][..],
        &[("Sec-Fetch-Site", "cross-site")],
        &[("Sec-Fetch-Site", "same-site")],
        &[("Sec-Fetch-Site", "none")],
        &[("Sec-Fetch-Site", "cross-site"), ("Origin", &here)],
        &[("Origin", "null")],
        &[("Origin", "http://evil.test")],
        &[("Origin", &here.replace("http:", "https:"))],
    ] {
        let answer = sign_in(&world, headers, &form).expect(403);
        assert_eq!(answer.header("set-cookie"), None, "{headers:?}");
    }
    sign_in(&world, &[("Origin", &here)], &form).expect(303);

    // Signing out: the cookie alone is not enough, nor is the secret of another session.
    let (mine, other) = (session(&world, &admin), session(&world, &admin));
    let right = secret(&get(&world, &mine, "/"));
    let wrong = secret(&get(&world, &other, "/"));
    assert_ne!(right, wrong);
    let out = |headers: &[(&str, &str)], secret: &str| {
        let headers = [&[FORM, ("Cookie", &mine)], headers].concat();
        world.anon().ask("POST", "/sign-out", &headers, format!("secret={}", segment(secret)).as_bytes()).status
    };
    assert_eq!(out(&[SAME], &wrong), 403);
    assert_eq!(out(&[SAME], ""), 403);
    assert_eq!(out(&[("Sec-Fetch-Site", "cross-site")], &right), 403);
    assert_eq!(out(&[("Origin", "null")], &right), 403);
    assert_eq!(out(&[], &right), 403);
    assert!(get(&world, &mine, "/").text().contains("admin-web-"), "it is still signed in");
    // What another site makes a browser get is what anyone gets.
    for site in ["cross-site", "same-site"] {
        let headers = [HTML, ("Cookie", &*mine), ("Sec-Fetch-Site", site)];
        assert!(!world.anon().ask("GET", "/", &headers, b"").text().contains("admin-web-"), "{site}");
    }
    assert_eq!(out(&[SAME], &right), 303);
}

#[test]
fn nobody_is_sent_elsewhere_after_signing_in_and_no_header_is_made_of_a_form() {
    let world = World::start();
    let token = world.admin().secret().to_owned();
    for to in [
        "//evil.test",
        "/\\evil.test",
        "http://evil.test/",
        "\\\\evil.test",
        "/a\r\nSet-Cookie: x=y",
        "javascript:alert(1)",
        "/\t/evil.test",
        "",
        "/%0d%0a\u{0}",
    ] {
        let answer = sign_in(&world, &[SAME], &format!("token={token}&to={}", segment(to))).expect(303);
        assert_eq!(answer.header("location"), Some("/"), "{to:?}");
        assert_eq!(answer.headers.iter().filter(|(name, _)| name == "set-cookie").count(), 1);
    }
    // The page that somebody came from, if it is one of this server.
    let here = world.root();
    for (from, to) in [
        (format!("{here}/explain?repository=a&path=b"), "/explain?repository=a&#38;path=b"),
        ("http://evil.test/explain".into(), "/"),
        (format!("{here}.evil.test/x"), "/"),
        (format!("{here}//evil.test"), "/"),
    ] {
        let form = world.anon().ask("GET", "/sign-in", &[HTML, ("Referer", &from)], b"").expect(200);
        assert!(form.text().contains(&format!("name=\"to\" value=\"{to}\"")), "{from}: {}", form.text());
    }
}

#[test]
fn odd_and_large_forms_and_cookies_are_refused_or_ignored() {
    let world = World::start();
    sign_in(&world, &[SAME], &format!("token={}", "a".repeat(100_000))).expect(413);
    for form in ["", "token=", "token=%zz", "tokn=x", "token=a&token=b"] {
        let answer = sign_in(&world, &[SAME], form).expect(401);
        assert!(answer.header("www-authenticate").unwrap().starts_with("Bearer"), "no window of the browser");
        assert!(answer.text().contains("role=\"alert\"") && answer.header("set-cookie").is_none());
    }
    let writer = world.person("writer", &["write"], &[]);
    let answer = sign_in(&world, &[SAME], &format!("token={}", writer.secret())).expect(400);
    assert!(answer.text().contains("none of the scopes"), "{}", answer.text());
    // Fixation: a cookie that somebody planted is replaced, and never becomes a session.
    let planted = format!("daylight=daylight_{}", "A".repeat(43));
    let answer =
        sign_in(&world, &[SAME, ("Cookie", &planted)], &format!("token={}", world.admin().secret())).expect(303);
    assert_ne!(cookie(&answer), planted);
    assert!(!get(&world, &planted, "/").expect(200).text().contains("admin-web-"));
    // Bombs: the page is what anyone gets.
    for bomb in [format!("daylight={}", "a".repeat(4000)), "daylight=; ".repeat(300), ";=;".repeat(900)] {
        get(&world, &bomb, "/").expect(200);
    }
    world.anon().ask("GET", "/sign-out", &[], b"").expect(405);
    world.anon().ask("PUT", "/sign-in", &[], b"").expect(405);
}

#[test]
fn a_server_that_browsers_reach_by_https_has_a_cookie_that_no_other_host_can_set() {
    let world = World::start_with(&[("DAYLIGHT_SERVER_PUBLIC_URL", "https://packages.example.test")]);
    world.repository("vault", true);
    let reader = world.person("reader", &["read"], &["vault"]);
    let form = format!("token={}", reader.secret());
    // Behind a proxy the host may be another one than the browser's.
    let answer = sign_in(&world, &[("Origin", "https://packages.example.test")], &form).expect(303);
    let set = answer.header("set-cookie").unwrap();
    assert!(set.starts_with("__Host-daylight=daylight_") && set.ends_with("; Secure"), "{set}");
    let cookie = cookie(&answer);
    get(&world, &cookie, "/repository/vault/names").expect(200);
    // The same secret under the name that any host of the domain can set.
    get(&world, cookie.strip_prefix("__Host-").unwrap(), "/repository/vault/names").expect(401);
    get(&world, "", "/explain?repository=vault&path=names").expect(401);
}

#[test]
fn a_token_that_demands_one_time_passwords_demands_one_to_sign_in() {
    let world = World::start();
    let wanted = json!({ "name": "careful", "scopes": ["read"], "otp": true });
    let made = world.admin().post_json("/api/v1/tokens", &wanted).expect(201).json();
    let token = made["secret"].as_str().unwrap();
    let answer = sign_in(&world, &[SAME], &format!("token={token}")).expect(401);
    assert!(answer.text().contains("one-time password"), "{}", answer.text());
    sign_in(&world, &[SAME], &format!("token={token}&code=000000")).expect(401);
}

#[test]
fn no_page_in_memory_is_served_across_sessions() {
    let world = World::start();
    world.repository("vault", true);
    world.admin().push("vault", &Gem::new("lamp", "1.0.0")).expect(200);
    let reader = world.person("reader", &["read"], &["vault"]);
    let cookie = session(&world, &reader);
    let paths = ["/repository/vault/info/lamp", "/repository/vault/info/none"];
    for _ in 0..3 {
        for (path, status) in paths.iter().zip([200, 404]) {
            // Each answer could become a page of the class of its caller.
            get(&world, &cookie, path).expect(status);
            reader.get(path).expect(status);
            world.anon().get(path).expect(401);
            get(&world, "daylight=daylight_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", path).expect(401);
        }
    }
    world.admin().ask("DELETE", "/api/v1/tokens/reader", &[], b"").expect(204);
    for path in paths {
        get(&world, &cookie, path).expect(401);
    }
}
