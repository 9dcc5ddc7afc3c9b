//! The stage of the page about more than one machine: a server whose database is PostgreSQL, as the page makes it.

use super::stage::Stage;
use crate::world::{POSTGRES_PASSWORD, Postgres, World, write};
use std::fs;
use std::rc::Rc;

pub(super) fn stage() -> Stage {
    let postgres = Rc::new(Postgres::start());
    let (server, settings) = (postgres.clone(), postgres.clone());
    Stage::on(World::start())
        .reads("sql", move |_, text| {
            let text = text.replace("change me", POSTGRES_PASSWORD);
            text.split_terminator(';').for_each(|statement| drop(server.sql_in("postgres", statement)));
            Ok(())
        })
        .before("curl -fsS http://127.0.0.1:8080/health/ready", move |stage| begin(stage, &settings))
        .after(move |_| {
            let changes = postgres.sql_in("daylight", "SELECT count(*) FROM daylight.journal");
            assert!(changes.parse::<u64>().unwrap() > 0);
        })
}

/// Starts the server again, on an empty folder, with the settings of the page.
fn begin(stage: &mut Stage, postgres: &Postgres) {
    stage.world.stop();
    fs::remove_dir_all(stage.world.data()).unwrap();
    let password = stage.home().join("database-password");
    write(&password, &format!("{POSTGRES_PASSWORD}\n"));
    let page = fs::read_to_string(super::page::root().join("docs/more-than-one-machine.md")).unwrap();
    let (_, toml) = page.split_once("```toml\n[cluster]").unwrap();
    let toml = toml.split("```").next().unwrap().replace("db.example", &postgres.authority());
    let toml = toml.replace("/etc/daylight/database-password", password.to_str().unwrap());
    let plain: String =
        toml.lines().filter(|line| !line.starts_with("database_trust")).map(|line| format!("{line}\n")).collect();
    stage.world.configure(&format!("[cluster]{plain}"));
    stage.resume();
}
