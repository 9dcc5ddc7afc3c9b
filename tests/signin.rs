//! Signing in with the real client: keys are created from tokens, extended and revoked; and one-time passwords.

use crate::world::{Client, FIRST, Gem, Person, Ruby, Upstream, World};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha1::Sha1;

crate::world::with_each_client!([gem_signs_in_and_pushes_and_yanks_with_the_key_it_was_given]);

const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");

fn path(repository: &str, below: &str) -> String {
    format!("/repository/{repository}/api/v1/{below}")
}

/// The credentials with an owner as the user and a token as the password.
fn basic(token: &Person) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("mira@example.com:{}", token.secret())))
}

/// Signs in as RubyGems does, without prompts.
fn sign_in(world: &World, token: &Person, form: &str) -> crate::world::Answer {
    let headers = [("Authorization", &*basic(token)), FORM];
    world.anon().ask("POST", &path(FIRST, "api_key"), &headers, form.as_bytes())
}

fn names(world: &World) -> Vec<String> {
    let all = world.admin().get("/api/v1/tokens").expect(200).json();
    all["tokens"].as_array().unwrap().iter().map(|token| token["name"].as_str().unwrap().to_owned()).collect()
}

fn gem_signs_in_and_pushes_and_yanks_with_the_key_it_was_given(client: Client) {
    let (world, elsewhere) = (World::start(), Upstream::start());
    // As the README has it: with a `/` at its end, RubyGems would look for the key under another name.
    let (url, desk) = (world.url(FIRST).trim_end_matches('/').to_owned(), Ruby::with(client));
    let mira = world.person("mira", &["read", "write", "delete"], &[]);
    let mut answers = vec![("mail:", "mira@example.com"), ("Password:", mira.secret()), ("API Key name", "laptop")];
    if desk.gem_version() >= vec![3, 4] {
        answers.extend([("customise scopes", "y"), ("show_dashboard", "n")]);
    }
    let scopes = ["index_rubygems", "push_rubygem", "yank_rubygem", "add_owner", "remove_owner", "access_webhooks"];
    answers.extend(scopes.into_iter().zip(["y", "y", "n", "n", "n", "n"]));
    if desk.gem_version() < vec![3, 4] {
        answers.push(("show_dashboard", "n"));
    }
    let [host, proxy] = [format!("RUBYGEMS_HOST={url}"), format!("https_proxy={}", elsewhere.url())];
    let said = desk.asked(&["env", &host, &proxy, "gem", "signin"], &answers).good();
    assert!(said.contains("Signed in with API key: laptop."), "{said}");
    let kept = desk.credentials().unwrap();
    assert!(kept.contains("daylight_") && !kept.contains(mira.secret()), "{kept}");

    let file = desk.build(&Gem::new("lamp", "1.0.0"));
    let push = ["env", &host, &proxy, "gem", "push", "--host", &url, file.to_str().unwrap()];
    let said = desk.asked(&push, &[]).good();
    assert!(said.contains("Successfully registered gem: lamp (1.0.0)"), "{said}");

    // The key lacks the scope for yanking. The client recognises the message, asks for the password, and adds the
    // scope.
    let yank = ["env", &host, &proxy, "gem", "yank", "lamp", "--version", "1.0.0", "--host", &url];
    let said = desk.asked(&yank, &[("mail:", "mira@example.com"), ("Password:", mira.secret())]).good();
    assert!(said.contains("Added yank_rubygem scope to the existing API key"), "{said}");
    assert!(said.contains("Successfully deleted gem: lamp (1.0.0)"), "{said}");
    assert_eq!(elsewhere.asked(), [], "the public registry, which is the client's default, learns nothing");

    let said = desk.asked(&["gem", "signout"], &[]).good();
    assert!(said.contains("signed out") && desk.credentials().is_none(), "{said}");
    assert_eq!(names(&world), ["admin", "laptop", "mira"]);
}

/// Why the documentation does not recommend `gem signin --host`: since 3.4 the client first requests the profile from
/// its default host, the public registry, and sends it the password.
#[test]
fn with_the_host_as_an_option_the_newest_client_would_ask_the_public_registry_first() {
    let (world, elsewhere) = (World::start(), Upstream::start());
    let desk = Ruby::with(Client::Newest);
    let (url, proxy) = (world.url(FIRST), format!("https_proxy={}", elsewhere.url()));
    let command = ["env", &proxy, "gem", "signin", "--host", url.trim_end_matches('/')];
    let answers =
        [("mail:", "mira"), ("Password:", "daylight_x"), ("API Key name", "laptop"), ("customise scopes", "n")];
    desk.asked(&command, &answers).bad();
    assert_eq!(elsewhere.asked()[0].method, "CONNECT");
    for text in [include_str!("../README.md"), include_str!("../docs/accounts.md"), include_str!("../docs/clients.md")]
    {
        assert!(!text.contains("gem signin --host $"), "it is recommended");
    }
}

#[test]
fn a_key_is_never_good_for_more_than_the_token_it_was_made_with() {
    let world = World::start();
    world.repository("other", false);
    let mira = world.person("mira", &["write", "add_owner"], &[]);
    let refused = sign_in(&world, &mira, "name=k&yank_rubygem=true").expect(403);
    assert!(!refused.text().starts_with("The API key doesn't have access"), "the client would ask in a loop");
    sign_in(&world, &mira, "name=k").expect(400);
    sign_in(&world, &mira, "name=k&access_webhooks=true&push_rubygem=true").expect(400);
    sign_in(&world, &mira, "push_rubygem=true").expect(400);
    sign_in(&world, &world.holder("nobody"), "name=k&push_rubygem=true").expect(401);

    // Reading public content needs no scope.
    let made = sign_in(&world, &mira, "name=k&index_rubygems=true&push_rubygem=true").expect(200);
    assert_eq!(made.header("cache-control"), Some("no-store"));
    let key = world.holder(made.text());
    sign_in(&world, &mira, "name=k&push_rubygem=true").expect(409);
    key.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    key.push("other", &Gem::new("lamp", "1.0.0")).expect(403);
    // `gem` asks for a password after these words, so they come where one helps: the maker has the scope.
    let owners = format!("/repository/{FIRST}/api/v1/gems/lamp/owners");
    let refused = key.ask("POST", &owners, &[FORM], b"email=jun").expect(403);
    assert!(refused.text().starts_with("The API key doesn't have access"), "{}", refused.text());
    let refused = key.yank(FIRST, "lamp", "1.0.0").expect(403);
    assert!(refused.text().starts_with("token `k` lacks the scope `delete`"), "{}", refused.text());

    let widen = |by: &Person, more: &str| {
        let form = format!("api_key={}&{more}", key.secret());
        by.ask("PUT", &path(FIRST, "api_key"), &[FORM], form.as_bytes())
    };
    widen(&mira, "yank_rubygem=true").expect(403);
    widen(&world.admin(), "yank_rubygem=true").expect(403);
    assert_eq!(widen(&mira, "add_owner=true").expect(200).text(), "Scopes for the API key k updated");

    // A key can create keys too; all of them are revoked with the first.
    let second = world.holder(sign_in(&world, &key, "name=k2&push_rubygem=true").expect(200).text());
    second.push(FIRST, &Gem::new("lamp", "1.1.0")).expect(200);
    world.admin().ask("DELETE", "/api/v1/tokens/mira", &[], b"").expect(204);
    second.push(FIRST, &Gem::new("lamp", "1.2.0")).expect(401);
    assert_eq!(names(&world), ["admin"]);
}

#[test]
fn a_key_of_who_may_only_publish_never_reads_what_is_private() {
    let world = World::start();
    world.repository("secret", true);
    let machine = world.person("machine", &["write"], &[]);
    world.admin().push("secret", &Gem::new("lamp", "1.0.0")).expect(200);
    let ask = |method: &str, repository: &str, form: String| {
        machine.ask(method, &path(repository, "api_key"), &[FORM], form.as_bytes())
    };
    ask("POST", "secret", "name=a&push_rubygem=true&index_rubygems=true".into()).expect(403);
    let key = ask("POST", "secret", "name=k&push_rubygem=true".into()).expect(200).text().to_owned();
    // In a public repository the scope read is not granted.
    for repository in ["secret", FIRST] {
        ask("PUT", repository, format!("api_key={key}&index_rubygems=true"));
        world.holder(&key).get("/repository/secret/info/lamp").expect(403);
    }
}

#[test]
fn nobody_fills_the_table_of_tokens_with_keys() {
    let world = World::start();
    let mira = world.person("mira", &["write"], &[FIRST]);
    let mut connection = mira.connect().unwrap();
    let mut made = 0;
    let refused = loop {
        let form = format!("name=k{made}&push_rubygem=true");
        let answer = mira.on(&mut connection, "POST", &path(FIRST, "api_key"), &[FORM], form.as_bytes()).unwrap();
        if answer.status != 200 {
            break answer;
        }
        made += 1;
        assert!(made < 1_000, "there is no end");
    };
    assert!(refused.status < 500 && refused.text().contains("keys"), "{}", refused.text());
    // A revoked key still has its row, so it makes no room for another.
    mira.ask("DELETE", "/api/v1/tokens/k0", &[], b"").expect(204);
    let again = mira.ask("POST", &path(FIRST, "api_key"), &[FORM], b"name=again&push_rubygem=true");
    assert_eq!(again.status, refused.status, "{}", again.text());
    // Nor through one of the keys. Other owners are not affected.
    let last = sign_in(&world, &world.person("otto", &["write"], &[FIRST]), "name=o&push_rubygem=true").expect(200);
    assert!(!last.text().is_empty());
}

#[test]
fn a_key_may_be_for_one_gem_and_for_a_time() {
    let world = World::start();
    let mira = world.person("mira", &["write", "delete"], &[]);
    let form = "name=k&push_rubygem=true&yank_rubygem=true&rubygem_name=lamp&expires_at=2999-01-01T00%3A00";
    let key = world.holder(sign_in(&world, &mira, form).expect(200).text());
    key.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let refused = key.push(FIRST, &Gem::new("oil", "1.0.0")).expect(403);
    assert!(refused.text().starts_with("This API key cannot perform the specified action on this gem"));
    mira.push(FIRST, &Gem::new("oil", "1.0.0")).expect(200);
    key.yank(FIRST, "oil", "1.0.0").expect(403);
    key.yank(FIRST, "lamp", "1.0.0").expect(200);
    sign_in(&world, &key, "name=k2&push_rubygem=true&rubygem_name=oil").expect(403);
    sign_in(&world, &key, "name=k2&push_rubygem=true").expect(200);
    sign_in(&world, &mira, "name=k3&push_rubygem=true&rubygem_name=a%2Fb").expect(400);
    sign_in(&world, &mira, "name=k3&push_rubygem=true&expires_at=2001-01-01").expect(400);
    sign_in(&world, &mira, "name=k3&push_rubygem=true&expires_at=soon").expect(400);
    let all = world.admin().get("/api/v1/tokens").expect(200).json();
    let told: Vec<&Value> =
        all["tokens"].as_array().unwrap().iter().filter(|token| token["package"] == "lamp").collect();
    assert_eq!(told.len(), 2);
    assert!(told.iter().all(|token| token["expires"] == "2999-01-01T00:00:00.000Z" || token["name"] == "k2"), "{all}");
}

#[test]
fn older_clients_and_programs_get_their_key_in_the_form_they_ask_for() {
    let world = World::start();
    let mira = world.person("mira", &["write", "admin"], &[FIRST]);
    let agent = ("User-Agent", "RubyGems/3.1.6 x86_64-linux Ruby/2.7.8 (2023-03-30 patchlevel 225)");
    let ask =
        |below: &str| world.anon().ask("GET", &path(FIRST, below), &[("Authorization", &basic(&mira)), agent], b"");
    let old = world.holder(ask("api_key").expect(200).text());
    old.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    old.get("/api/v1/tokens").expect(403);
    let json = ask("api_key.json").expect(200);
    assert!(json.json()["rubygems_api_key"].as_str().unwrap().starts_with("daylight_"));
    assert!(ask("api_key.yaml").expect(200).text().starts_with("---\n\"rubygems_api_key\": \"daylight_"));
    world.anon().get(&path(FIRST, "api_key")).expect(401).header("www-authenticate").unwrap();
    assert_eq!(
        ask("profile/me.yaml").expect(200).text(),
        "---\n\"email\": null\n\"handle\": \"mira\"\n\"id\": \"mira\"\n\"mfa\": \"disabled\"\n"
    );
    assert_eq!(ask("profile/me.json").expect(200).json()["handle"], "mira");
    world.anon().ask("POST", &path(FIRST, "webauthn_verification"), &[], b"").expect(404);
    world.admin().get(&path(FIRST, "web_hooks.json")).expect(501);
    let elsewhere = [("Authorization", &*basic(&mira)), ("Sec-Fetch-Site", "cross-site")];
    world.anon().ask("GET", &path(FIRST, "api_key"), &elsewhere, b"").expect(403);
}

#[test]
fn a_picture_on_a_page_makes_no_key() {
    let world = World::start();
    let mira = world.person("mira", &["write"], &[FIRST]);
    let before = names(&world);
    let basic = basic(&mira);
    let shown = ("Authorization", basic.as_str());
    let (rubygems, browser) =
        (("User-Agent", "RubyGems/3.1.6"), ("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"));
    for headers in [
        // The request of a browser for an image over plain HTTP, with a stored password.
        &[shown, browser, ("Accept", "image/avif,image/webp,*/*;q=0.8")][..],
        &[shown, browser],
        &[shown],
        &[shown, ("User-Agent", "curl/8.0")],
        &[shown, rubygems, ("Sec-Fetch-Dest", "image"), ("Sec-Fetch-Site", "none")],
        &[shown, rubygems, ("Referer", "http://evil.test/")],
    ] {
        for below in ["api_key", "api_key.json", "api_key.yaml"] {
            let refused = world.anon().ask("GET", &path(FIRST, below), headers, b"").expect(403);
            assert!(refused.text().contains("POST") && !refused.text().contains("daylight_"), "{}", refused.text());
        }
    }
    assert_eq!(names(&world), before);
    world.anon().ask("GET", &path(FIRST, "api_key"), &[shown, rubygems], b"").expect(200);
    assert_eq!(names(&world).len(), before.len() + 1);
}

/// The one-time password at the server's time, and the next one.
pub(crate) fn codes(uri: &str) -> [String; 2] {
    codes_after(uri, 0)
}

/// Those of so many seconds later.
pub(crate) fn codes_after(uri: &str, seconds: i64) -> [String; 2] {
    let digits = uri.split("secret=").nth(1).unwrap().split('&').next().unwrap();
    let value = |digit: u8| b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".iter().position(|known| *known == digit).unwrap();
    let bits: Vec<bool> =
        digits.bytes().flat_map(|digit| (0..5).rev().map(move |at| value(digit) >> at & 1 == 1)).collect();
    let key: Vec<u8> =
        bits.chunks_exact(8).map(|bits| bits.iter().fold(0, |byte, bit| byte << 1 | u8::from(*bit))).collect();
    let step = (telemetry::Clock::default().now().seconds() + seconds) / 30;
    [step, step + 1].map(|step| {
        let mut mac = Hmac::<Sha1>::new_from_slice(&key).unwrap();
        mac.update(&step.to_be_bytes());
        let digest = mac.finalize().into_bytes();
        let at = usize::from(digest[19] & 15);
        let number = u32::from_be_bytes(digest[at..at + 4].try_into().unwrap()) & 0x7fff_ffff;
        format!("{:06}", number % 1_000_000)
    })
}

/// A token that requires one-time passwords, and the URI for its app.
pub(crate) fn guarded(world: &World, name: &str) -> (Person, String) {
    let wanted = json!({ "name": name, "scopes": ["write", "delete"], "otp": true });
    let made = world.admin().post_json("/api/v1/tokens", &wanted).expect(201).json();
    (world.holder(made["secret"].as_str().unwrap()), made["otp_uri"].as_str().unwrap().to_owned())
}

#[test]
fn a_push_with_a_guarded_token_takes_its_code_from_the_command_line_or_a_prompt() {
    let mut world = World::start();
    let (url, desk) = (world.url(FIRST), Ruby::new());
    let (token, uri) = guarded(&world, "mira");
    let refused = token.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(401);
    assert!(refused.text().starts_with("You have enabled multifactor authentication"), "{}", refused.text());
    token.get(&format!("/repository/{FIRST}/names")).expect(200);
    token.ask("POST", &path(FIRST, "webauthn_verification"), &[], b"").expect(404);

    let [now, next] = codes(&uri);
    let file = desk.build(&Gem::new("lamp", "1.0.0"));
    let push = ["push", "--host", &url, "--otp", &now, file.to_str().unwrap()];
    let said = desk.run(file.parent().unwrap(), token.secret(), "gem", &push).good();
    assert!(said.contains("Successfully registered gem: lamp (1.0.0)"), "{said}");
    let again = token.ask("DELETE", &path(FIRST, "gems/yank?gem_name=lamp&version=1.0.0"), &[("OTP", &now)], b"");
    assert!(again.expect(401).text().starts_with("You have enabled multifactor authentication"), "a code is good once");

    // The same code signs in, and its key needs the next one, for which the client prompts.
    let (other, uri) = guarded(&world, "olaf");
    let [now, after] = codes(&uri);
    let answers = [("mail:", "olaf"), ("Password:", other.secret()), ("Code:", &*now), ("Code:", &*after)];
    let said = desk.push_asked(&url, &Gem::new("oil", "1.0.0"), &[], &answers).good();
    assert!(said.contains("Signed in with API key: ") && said.contains("Successfully registered gem: oil"), "{said}");

    for wrong in ["12345", "nonsense", ""] {
        token.ask("POST", &path(FIRST, "gems"), &[("OTP", wrong)], b"x").expect(401);
    }
    token.ask("POST", &path(FIRST, "gems"), &[("OTP", "000")], b"x").expect(401);
    let shut = token.ask("POST", &path(FIRST, "gems"), &[("OTP", &next)], b"x").expect(429);
    assert!(shut.header("retry-after").unwrap().parse::<u64>().unwrap() <= 600);
    let listed = world.admin().get("/api/v1/tokens").expect(200);
    assert!(!listed.text().contains("otpauth") && listed.text().contains("\"otp\":true"), "{}", listed.text());
    world.stop();
    let key = uri.split("secret=").nth(1).unwrap().split('&').next().unwrap();
    let log = world.files().into_iter().filter(|path| path.iter().any(|part| part == "log"));
    let logged = world.event_lines().into_iter().chain(log);
    assert!(logged.map(|path| std::fs::read_to_string(path).unwrap()).all(|text| !text.contains(key)));
}
