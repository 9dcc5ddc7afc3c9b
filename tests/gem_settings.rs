//! The settings files of Bundler and `gem`, saved as they come, with the token where they say: gems are installed through Daylight, from public
//! and private repositories of each kind, by an IPv4 address, an IPv6 address and a name.

use crate::world::{Client, FIRST, Gem, Ruby, World, write};
use serde_json::json;

crate::world::with_each_client!([
    bundler_installs_with_the_saved_file_and_the_token_where_it_says,
    gem_asks_the_repository_and_no_other_source,
]);
crate::world::with_each_client!([bundler_installs_with_the_saved_file_and_the_token_where_it_says]; jruby: Jruby);

/// The source that Gemfiles name. Nobody answers there.
const ELSEWHERE: &str = "http://127.0.0.1:1/";
/// The source that Gemfiles name if they name no other. No test reaches it.
const PUBLIC: &str = "https://rubygems.org/";
/// The hosts by which clients reach the server.
const HOSTS: [&str; 3] = ["127.0.0.1", "[::1]", "localhost"];
/// Repositories of each kind, a public and a private one.
const KINDS: [[&str; 2]; 3] = [["all", "vault"], [FIRST, "safe"], ["far", "deep"]];

/// Where the token of a private repository is: as each of the comments of the file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Environment,
    Settings,
    /// In the URL of a mirror of all sources.
    Url,
}

/// One installation.
#[derive(Debug, Clone, Copy)]
struct Case {
    /// Of the three kinds.
    kind: usize,
    /// The way of a private repository's token; `None`: it is public.
    way: Option<Way>,
    host: &'static str,
    /// Whether another version of Bundler wrote the lock.
    locked: bool,
}

/// All installations, or some that have each value of each dimension: others for each client.
fn cases(client: Client) -> Vec<Case> {
    let number = Client::ALL.iter().position(|one| *one == client);
    let ways = [Way::Environment, Way::Settings, Way::Url];
    let case = |kind: usize, way: Option<usize>, host: usize, locked| Case {
        kind: kind % 3,
        way: way.map(|way| ways[way % 3]),
        host: HOSTS[host % 3],
        locked,
    };
    let mut all = Vec::new();
    for kind in 0..3 {
        for host in 0..3 {
            for locked in [false, true] {
                all.extend([None, Some(0), Some(1), Some(2)].map(|way| case(kind, way, host, locked)));
            }
        }
    }
    match number {
        _ if std::env::var("DAYLIGHT_TORTURE").is_ok() => all,
        // Each command of JRuby takes seconds.
        None => vec![case(0, Some(1), 0, false)],
        Some(number) => {
            let private =
                |kind: usize| case(kind, Some(number + 2 * kind), number / 3 + kind, (number + kind).is_multiple_of(2));
            vec![private(0), private(1), private(2), case(number, None, number + 1, number % 2 == 1)]
        }
    }
}

/// A server on all addresses with the repositories, and the server that is the upstream.
fn worlds() -> (World, World) {
    let (world, upstream) = (World::start_with_file("[server]\nlisten = \"[::]:0\"\n"), World::start());
    upstream.admin().push(FIRST, &Gem::new("oil", "1.0.0")).expect(200);
    upstream.admin().push(FIRST, &Gem::new("lamp", "1.0.0").needs("oil", "~> 1.0")).expect(200);
    world.repository("safe", true);
    for hosted in [FIRST, "safe"] {
        world.admin().push(hosted, &Gem::new("oil", "1.0.0")).expect(200);
        world.admin().push(hosted, &Gem::new("lamp", "1.0.0").needs("oil", "~> 1.0")).expect(200);
    }
    world.remote_of("gem", "far", &upstream.url(FIRST));
    world.make(&json!({ "name": "deep", "format": "gem", "kind": "remote", "remote": { "urls": [upstream.url(FIRST)] }, "private": true }));
    world.make(&json!({ "name": "all", "format": "gem", "members": [FIRST, "far"] }));
    world.make(&json!({ "name": "vault", "format": "gem", "members": ["safe", "deep"], "private": true }));
    (world, upstream)
}

/// A file of a repository, as it comes by this host, and the URL of the repository.
fn settings(world: &World, secret: Option<&str>, host: &str, repository: &str, file: &str) -> (String, String) {
    let authority = format!("{host}:{}", world.address().port());
    let mut headers = vec![("Host", authority.as_str())];
    headers.extend(secret.map(|secret| ("Authorization", secret)));
    let answer = world.anon().ask("GET", &format!("/repository/{repository}/{file}"), &headers, b"").expect(200);
    assert_eq!(answer.header("content-type"), Some("application/yaml"));
    (answer.text().to_owned(), format!("http://{authority}/repository/{repository}/"))
}

/// The command in the comment of a file that begins so, with the token.
fn comment(config: &str, begins: &str, secret: &str) -> Option<String> {
    let line = config.lines().find_map(|line| line.strip_prefix("#   ").filter(|line| line.starts_with(begins)))?;
    Some(line.replace("TOKEN", secret))
}

fn bundler_installs_with_the_saved_file_and_the_token_where_it_says(client: Client) {
    let (world, _upstream) = worlds();
    let reader = world.person("reader", &["read"], &[]);
    for case in cases(client) {
        let Case { kind, way, host, locked } = case;
        let (repository, secret) = (KINDS[kind][usize::from(way.is_some())], way.map(|_| reader.secret()));
        let (config, url) = settings(&world, secret, host, repository, "bundle-config");
        assert!(!config.contains(reader.secret()));
        // A hosted repository is no mirror. A mirror with the token of its own is one of the public source.
        let source = match (kind, way) {
            (1, _) => &*url,
            (_, Some(Way::Environment | Way::Settings)) => PUBLIC,
            (_, None | Some(Way::Url)) => ELSEWHERE,
        };
        let machine = Ruby::with(client);
        let app = machine.app("app", source, "gem 'lamp'");
        app.file(".bundle/config", &config);
        if locked {
            app.file("Gemfile.lock", &lock(source));
        }
        let secret = secret.unwrap_or_default();
        let of_settings = || comment(&config, "bundle config set --global ", secret).unwrap();
        let token = match way {
            None => String::new(),
            // An IPv6 address is no name of a variable.
            Some(Way::Environment) => comment(&config, "export ", secret).unwrap_or_else(of_settings),
            // A hosted repository has no mirror.
            Some(Way::Url) if kind != 1 => comment(&config, "bundle config set --global mirror.all ", secret).unwrap(),
            Some(Way::Settings | Way::Url) => of_settings(),
        };
        let lines = format!("cd app; export BUNDLE_APP_CONFIG=$PWD/.bundle\n{token}\nbundle install");
        let said = machine.shell("", &lines).either().unwrap_or_else(|said| panic!("{case:?}: {said}\n{config}"));
        assert!(said.contains("Bundle complete"), "{case:?}: {said}");
        assert!(app.lock().contains(&format!("remote: {source}")), "{case:?}: {}", app.lock());
        if matches!(client, Client::Trixie | Client::Newest) && kind == 1 {
            assert!(!said.contains("Installing Bundler"), "it looks for another Bundler elsewhere: {said}");
        }
        assert_eq!(app.ruby("require 'lamp'; puts Lamp::VERSION"), "1.0.0\n", "{case:?}");
    }
}

/// A lock of another version of Bundler than any here.
fn lock(source: &str) -> String {
    format!(
        "GEM\n  remote: {source}\n  specs:\n    lamp (1.0.0)\n      oil (~> 1.0)\n    oil (1.0.0)\n\nPLATFORMS\n  ruby\n\n\
         DEPENDENCIES\n  lamp\n\nBUNDLED WITH\n   2.4.99\n"
    )
}

fn gem_asks_the_repository_and_no_other_source(client: Client) {
    let (world, _upstream) = worlds();
    let reader = world.person("reader", &["read"], &[]);
    let builder = Ruby::here();
    let oil = builder.build(&Gem::new("oil", "2.0.0"));
    for (at, [public, private]) in KINDS.into_iter().enumerate() {
        let number = Client::ALL.iter().position(|one| *one == client).unwrap_or_default();
        let host = HOSTS[(at + number) % 3];
        // Private ones of each kind, and a public one.
        for repository in [Some(private), Some(public).filter(|_| at == number % 3)].into_iter().flatten() {
            let secret = Some(reader.secret()).filter(|_| repository == private);
            let (text, _) = settings(&world, secret, host, repository, "gemrc");
            let machine = Ruby::with(client);
            write(
                &machine.home().join(".gemrc"),
                &text.replace("//x:TOKEN@", &format!("//x:{}@", secret.unwrap_or_default())),
            );
            let lines = "gem sources --list; gem list --remote; gem fetch oil; gem install --no-document lamp";
            let said = machine.shell("", lines).good();
            assert_eq!(said.matches("http://").count(), 1, "{said}");
            for part in ["lamp (1.0.0)", "oil (1.0.0)", "Downloaded oil-1.0.0", "2 gems installed"] {
                assert!(said.contains(part), "{repository} by {host}: {said}");
            }
            // The file is about sources: a push goes where its command says.
            if at == 1 {
                let target = format!("http://{host}:{}/repository/{repository}", world.address().port());
                let said = machine.push_file(&target, world.admin().secret(), &oil).good();
                assert!(said.contains("oil (2.0.0)"), "{said}");
            }
        }
    }
}

#[test]
fn a_hosted_repository_replaces_no_source_and_a_remote_one_all_of_them() {
    let world = World::start();
    world.remote_of("gem", "far", "http://127.0.0.1:1/");
    let text = |repository: &str, file: &str| world.anon().file(repository, file).expect(200).text().to_owned();
    assert!(!text(FIRST, "bundle-config").contains("MIRROR"));
    assert!(text("far", "bundle-config").contains(&format!("BUNDLE_MIRROR__ALL: \"{}\"", world.url("far"))));
    assert!(text(FIRST, "gemrc").contains(&format!("gem sources --add {}", world.url(FIRST))));
    // One of a moment leads back to it.
    let name = format!("{FIRST}@seq-{}", crate::as_of::last_change(&world));
    assert!(text(&name, "gemrc").ends_with(&format!("\n- {}\n", world.url(&name))));
    world.repository("vault", true);
    world.anon().file("vault", "bundle-config").expect(401);
    world.tree("tools", "raw");
    world.anon().file("tools", "bundle-config").expect(404);
}
