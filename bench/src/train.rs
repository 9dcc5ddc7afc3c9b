//! `bench train`: what a profile of the shipped program learns from, with a Daylight that counts (`-Cprofile-generate`) beside this program:
//! the recorded requests of Maven 3.8 and Bundler, cold and warm, and small pages, jars, missing names and uploads. The other releases of
//! Maven are left to `bench judge`.

use crate::build::{Peer, Peers, Recorded, replay};
use crate::hit::publish;
use crate::http::Connection;
use crate::load::Generator;
use crate::process::{Server, TOKEN};
use crate::push;
use anyhow::{Result, ensure};

/// The clients whose builds are learned from.
pub(crate) const CLIENTS: [&str; 2] = ["Maven 3.8", "Bundler"];
/// Warm builds after each cold one.
const WARM: usize = 12;
/// Uploads of each kind.
const UPLOADS: usize = 60;
/// A hosted Maven repository that each new data folder has.
pub(crate) const RELEASES: &str = "/repository/maven-releases/org/example";

/// Trains the program.
pub(crate) fn run() -> Result<()> {
    for recorded in [Recorded::maven()?, Recorded::gems()?] {
        let upstream = recorded.upstream(false)?;
        let learned = recorded.clients.iter().filter(|client| CLIENTS.iter().any(|name| client.name.starts_with(name)));
        for client in learned {
            println!("training: {}, {} requests", client.name, client.requests.len());
            let peers = Peers::default();
            let daylight = peers.open(Peer::Daylight, "learned", &recorded, &upstream.url())?;
            (0..=WARM).try_for_each(|_| replay::run(&daylight, &daylight.base, &client.requests).map(drop))?;
        }
    }
    let folder = tempfile::tempdir()?;
    let daylight = Server::daylight(folder.path(), &[])?;
    for number in 0..UPLOADS {
        let name = format!("lamp{number}");
        upload(&daylight, &name, "pom", &push::noise(number as u64, 3 << 10))?;
        upload(&daylight, &name, "jar", &push::noise(number as u64, 55_000))?;
        publish(&daylight, &name, 1)?;
    }
    for (generator, path) in [
        (Generator::Wrk, format!("{RELEASES}/lamp1/1.0/lamp1-1.0.pom")),
        (Generator::Wrk, format!("{RELEASES}/lamp1/1.0/lamp1-1.0.jar")),
        (Generator::Wrk, "/repository/gems-private/info/lamp1".to_owned()),
        (Generator::Missing, format!("{RELEASES}/lamp/2.0/lamp-2.0-")),
    ] {
        generator.run(32, 4, &format!("http://{}{path}", daylight.address))?;
    }
    Ok(())
}

/// Publishes a file of version 1.0 of an artifact.
pub(crate) fn upload(daylight: &Server, artifact: &str, ending: &str, bytes: &[u8]) -> Result<()> {
    let path = format!("{RELEASES}/{artifact}/1.0/{artifact}-1.0.{ending}");
    let reply = Connection::open(daylight.address.parse()?)?.call("PUT", &path, &[("Authorization", TOKEN)], bytes)?;
    ensure!(reply.status == 201, "{path}: {}", reply.text());
    Ok(())
}
