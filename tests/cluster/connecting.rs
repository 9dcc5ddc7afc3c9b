//! The way to the database: with TLS, with a password, and not at all.

use super::{VARIABLES, settings, settings_of, world_on};
use crate::objects::shared;
use crate::tls::Certificate;
use crate::world::{FIRST, Gem, Index, ObjectProduct, Postgres, World, await_true, program};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// What a start says that fails.
#[track_caller]
fn refused(settings: &str) -> String {
    let said = World::fails_to_start(settings, VARIABLES);
    assert!(said.contains("hint: ") && !said.contains("sesame"), "{said}");
    said
}

/// What `daylight config check` says of a file, and whether everything can be used.
fn config_check(file: &Path) -> (bool, String) {
    let tried = program(&["config", "check", "--config"]).arg(file).envs(VARIABLES.iter().copied()).output().unwrap();
    (tried.status.success(), String::from_utf8([tried.stdout, tried.stderr].concat()).unwrap())
}

#[test]
fn a_connection_is_encrypted_where_certificates_are_trusted_and_only_to_a_server_that_has_one() {
    let certificate = Certificate::new();
    let postgres = Postgres::start_with_tls((&certificate.file(), &certificate.key()));
    let trusting = |postgres: &Postgres, file: &std::path::Path| {
        format!("{}database_trust = \"{}\"\n", settings(postgres), file.display())
    };
    let world = World::start_with_file_and(&trusting(&postgres, &certificate.file()), VARIABLES);
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let encrypted = "SELECT bool_and(ssl), count(*) > 0 FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
                     WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
    assert_eq!(postgres.sql(encrypted), "t|t");
    let other = Certificate::new();
    let said = refused(&trusting(&postgres, &other.file()));
    assert!(said.contains("TLS handshake") && said.contains("`cluster.database_trust`"), "{said}");
    let said = refused(&trusting(&Postgres::start(), &certificate.file()));
    assert!(said.contains("speaks no TLS"), "{said}");
}

#[test]
fn a_start_without_the_database_needs_a_copy_of_it() {
    let mut postgres = Postgres::start();
    let mut world = world_on(&postgres);
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let said = refused(&settings(&postgres).replace("env:DATABASE_PASSWORD", "env:DAYLIGHT_SERVER_PUBLIC_URL"));
    assert!(said.contains("`cluster.database_password`"), "{said}");
    let said = refused(&settings(&postgres).replace("node@", "somebody@"));
    assert!(said.contains("password authentication failed") && said.contains("pg_hba.conf"), "{said}");
    let tried = |world: &World| config_check(&world.data().with_file_name("daylight.toml"));
    let (is_usable, said) = tried(&world);
    assert!(is_usable && said.contains("cluster.database: `postgres://") && said.contains("changes up to"), "{said}");
    let same_name = format!("cluster.node: `a` runs at `http://{}`", world.address());
    assert!(said.contains(&same_name) && said.ends_with("\nsettings: they can be used\n"), "{said}");
    world.kill();
    postgres.kill();
    let (is_usable, said) = tried(&world);
    assert!(!is_usable && said.contains("nothing listens on") && said.contains("hint: "), "{said}");
    assert!(!said.contains("they can be used"), "{said}");
    let said = refused(&settings(&postgres));
    assert!(said.contains("nothing listens on `127.0.0.1:"), "{said}");
    assert!(
        said.contains("a first start needs the database") && !said.contains("copy, and nothing is written"),
        "{said}"
    );
    world.resume();
    let cluster = world.admin().get("/api/v1/cluster").expect(200).json();
    let own = &cluster["nodes"][0];
    assert_eq!((&own["name"], &own["last"], &cluster["nodes"][1]), (&json!("a"), &cluster["last"], &Value::Null));
    assert_eq!((&own["behind"], &own["beat_age_ms"], &own["fresh"]), (&Value::Null, &Value::Null, &json!(false)));
    assert_eq!(Index::read(&world.admin(), FIRST).offered.len(), 1);
    let ready = world.anon().get("/health/ready").expect(200);
    assert!(ready.text().contains("degraded: read-only: "), "{ready:?}");
    postgres.resume();
    // A change is refused until the next attempt to connect.
    await_true("changes go on", || world.admin().push(FIRST, &Gem::new("lamp", "1.1.0")).status == 200);
}

#[test]
fn a_server_that_would_keep_bytes_elsewhere_than_the_others_does_not_start() {
    let (postgres, storage) = (Postgres::start(), shared(ObjectProduct::SeaweedFs));
    let place = |prefix: &str| storage.settings(prefix, &storage.url());
    let first = World::start_with_file_and(&(settings_of(&postgres, "a") + &place("places/one")), VARIABLES);
    first.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("daylight.toml");
    for (other, kept) in [(place("places/two"), "places/two`"), (String::new(), "in its data folder")] {
        let settings = settings_of(&postgres, "b") + &other;
        let said = refused(&settings);
        assert!(said.contains("places/one`") && said.contains(kept) && said.contains("`store.objects`"), "{said}");
        fs::write(&file, settings).unwrap();
        let (is_usable, said) = config_check(&file);
        assert!(!is_usable && said.contains("places/one`") && said.contains(kept), "{said}");
    }
    assert!(storage.objects("places/two").is_empty());
    let second = World::start_with_file_and(&(settings_of(&postgres, "b") + &place("places/one")), VARIABLES);
    assert_eq!(Index::read(&second.admin(), FIRST).offered.len(), 1);
    // All objects were moved by a person.
    drop(second);
    postgres.sql("UPDATE daylight.note SET body = replace(body, 'one', 'two') WHERE name = 'objects'");
    World::start_with_file_and(&(settings_of(&postgres, "b") + &place("places/two")), VARIABLES);
}
