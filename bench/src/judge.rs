//! `bench judge ONE OTHER [ROUNDS]`: two programs in turns, on other work than that of `bench train`: builds with other releases of Maven, which share
//! most of their files with 3.8, cold and warm, files and pages of other lengths, missing names and uploads.

use crate::build::{Peers, Recorded, is_artifact, replay};
use crate::load::Generator;
use crate::process::{Server, load_average};
use crate::push::noise;
use crate::spread::Spread;
use crate::train::{CLIENTS, RELEASES, upload};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

/// The rounds, unless an argument says another number.
const ROUNDS: usize = 7;
/// Uploads of a round.
const UPLOADS: usize = 60;
/// What a server writes after its last answer is written within this time.
const AFTERWARDS: Duration = Duration::from_millis(500);

/// The CPU time of each program for a unit of work, in microseconds, and the ratio of the second one.
struct Row {
    name: String,
    micros: [Spread; 2],
    ratio: Spread,
}

#[derive(Default)]
struct Table(Vec<Row>);

impl Table {
    /// Adds a round of a row: each server works, which is so many units of work.
    fn add<S: AsRef<Server>>(&mut self, name: &str, servers: &[S; 2], work: impl Fn(&S) -> Result<f64>) -> Result<()> {
        let cost = |server: &S| -> Result<f64> {
            let before = server.as_ref().cpu_seconds()?;
            let units = work(server)?;
            sleep(AFTERWARDS);
            Ok((server.as_ref().cpu_seconds()? - before) * 1e6 / units)
        };
        let costs = [cost(&servers[0])?, cost(&servers[1])?];
        let at = self.0.iter().position(|row| row.name == name).unwrap_or(self.0.len());
        if at == self.0.len() {
            self.0.push(Row { name: name.to_owned(), micros: Default::default(), ratio: Spread::default() });
        }
        let row = &mut self.0[at];
        row.micros.iter_mut().zip(costs).for_each(|(spread, cost)| spread.add(cost));
        row.ratio.add(costs[1] / costs[0]);
        Ok(())
    }
}

/// Measures and prints the table.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let [one, other, rest @ ..] = arguments else { bail!("usage: bench judge ONE OTHER [ROUNDS]") };
    let rounds = rest.first().map_or(Ok(ROUNDS), |rounds| rounds.parse().context("ROUNDS"))?;
    let (programs, mut table) = ([Path::new(one), Path::new(other)], Table::default());
    let recorded = Recorded::maven()?;
    let upstream = recorded.upstream(false)?;
    let folders = [tempfile::tempdir()?, tempfile::tempdir()?];
    let start = |at: usize| Server::daylight_of(programs[at], folders[at].path());
    let servers = [start(0)?, start(1)?];
    for server in &servers {
        upload(server, "lamp1", "pom", &noise(3, 2 << 10))?;
        upload(server, "lamp1", "jar", &noise(5, 40_000))?;
        upload(server, "lamp2", "jar", &noise(7, 2 << 20))?;
    }
    for round in 0..rounds {
        for client in recorded.clients.iter().filter(|client| CLIENTS.iter().all(|name| !client.name.starts_with(name)))
        {
            let files = client.requests.iter().filter(|path| is_artifact(path)).count();
            let peers = Peers::default();
            let open = |at: usize| peers.open_daylight(programs[at], "judged", &recorded, &upstream.url());
            let opened = [open(0)?, open(1)?];
            sleep(AFTERWARDS);
            for (what, times) in [("cold", 1), ("warm", 10)] {
                table.add(&format!("a file of a {what} build, {}", client.name), &opened, |server| {
                    (0..times).try_for_each(|_| replay::run(server, &server.base, &client.requests).map(drop))?;
                    Ok((times * files) as f64)
                })?;
            }
        }
        table.add("an upload", &servers, |server| {
            let all = 0..UPLOADS;
            all.clone()
                .try_for_each(|number| upload(server, &format!("oil{round}-{number}"), "pom", &noise(9, 2 << 10)))?;
            Ok(all.len() as f64)
        })?;
        for (name, generator, path) in [
            ("a POM", Generator::Wrk, format!("{RELEASES}/lamp1/1.0/lamp1-1.0.pom")),
            ("40 KB", Generator::Wrk, format!("{RELEASES}/lamp1/1.0/lamp1-1.0.jar")),
            ("2 MB", Generator::Wrk, format!("{RELEASES}/lamp2/1.0/lamp2-1.0.jar")),
            ("a missing name", Generator::Missing, format!("{RELEASES}/lamp/2.0/lamp-2.0-")),
            ("a web page", Generator::Wrk, "/repository/maven-releases/".to_owned()),
        ] {
            let ask = |server: &Server| Ok(generator.run(32, 2, &format!("http://{}{path}", server.address))?.requests);
            table.add(name, &servers, ask)?;
        }
    }
    println!("\n| {rounds} rounds in turns | the first, us | the second, us | ratio |\n|---|---|---|---|");
    let mut all = Spread::default();
    for Row { name, micros, ratio } in &table.0 {
        println!("| {name} | {} | {} | {ratio} |", micros[0], micros[1]);
        all.add(ratio.median());
    }
    println!("\nratio of all rows: {all}; load average after it: {}", load_average()?);
    Ok(())
}
