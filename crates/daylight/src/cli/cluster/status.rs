//! `daylight cluster status`: the nodes that share a database, as a running server sees them.

use crate::cli::api::{Api, decode};
use crate::cli::context::Context;
use crate::cli::health::probe;
use crate::cli::{folder, table};
use crate::serve::running::url;
use serde::Deserialize;
use serde_json::Value;
use std::io::Write;

/// The path of the call.
const CLUSTER: &str = "/api/v1/cluster";

/// Show the nodes that share a database, what each of them lacks, and which one does the work for all
///
/// The running server answers from memory, as its last beat saw the others, also while the database is away. BEHIND is the number of changes
/// that a node lacks, and HEARD OF the time since its last beat; `-` is an unknown value, as BEHIND of a node whose history has parted. A node that is not FRESH answers with `Daylight-Stale` until it has heard of the database again.
/// With `--config`, and without `--server`, it asks the server of that file on this machine.
#[derive(Debug, clap::Args)]
pub(super) struct Status;

#[derive(Debug, Deserialize)]
struct ClusterStatus {
    last: u64,
    database: Option<Engine>,
    objects: Option<Engine>,
    nodes: Vec<Node>,
    leases: Vec<Lease>,
}

#[derive(Debug, Deserialize)]
struct Engine {
    url: String,
    last: Option<u64>,
    away_since: Option<String>,
    why: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Node {
    name: String,
    is_this: bool,
    url: String,
    version: String,
    state: String,
    fresh: bool,
    last: Option<u64>,
    behind: Option<u64>,
    beat_age_ms: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct Lease {
    name: String,
    node: String,
}

impl Status {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let api = match &context.flags.config {
            Some(_) => Api::at(&of_settings(context)?, context)?,
            None => Api::new(context)?,
        };
        let answer = api.get(CLUSTER)?;
        if api.print_json(&answer, context)? {
            return Ok(());
        }
        write(answer, context.out)
    }
}

/// The URL of the server of the configuration file, on this machine.
fn of_settings(context: &Context<'_>) -> anyhow::Result<String> {
    let (settings, _) = folder::read(None, context)?;
    Ok(url(probe(&settings, CLUSTER)?.address(), settings.speaks_tls()))
}

/// Writes the answer for people.
fn write(answer: Value, out: &mut dyn Write) -> anyhow::Result<()> {
    let ClusterStatus { last, database, objects, nodes, leases } = decode(answer)?;
    match &database {
        Some(database) => writeln!(out, "database: {}", database.told())?,
        None => writeln!(out, "database: none, the data folder has all {last} changes")?,
    }
    match &objects {
        Some(objects) => writeln!(out, "objects:  {}", objects.told())?,
        None => writeln!(out, "objects:  none, the data folder has the bytes of packages")?,
    }
    if nodes.is_empty() {
        return Ok(());
    }
    if nodes.len() > 1 && objects.is_none() {
        writeln!(out, "without `store.objects` each node lacks the packages that were published through another one")?;
    }
    writeln!(out)?;
    let work = |node: &Node| {
        let names: Vec<&str> = leases.iter().filter(|one| one.node == node.name).map(|one| &*one.name).collect();
        if names.is_empty() { "-".to_owned() } else { names.join(",") }
    };
    let rows: Vec<_> = nodes.iter().map(|node| node.row(work(node))).collect();
    let head = ["NODE", "STATE", "FRESH", "LAST", "BEHIND", "HEARD OF", "VERSION", "URL", "DOES"];
    table::write(out, head, rows)?;
    if let [node] = &nodes[..]
        && node.beat_age_ms.is_none()
    {
        writeln!(out, "\nother nodes are not known: this one has not worked with the database since its start")?;
    }
    Ok(())
}

impl Engine {
    fn told(&self) -> String {
        let last = self.last.map(|last| format!(", up to change {last}")).unwrap_or_default();
        match (&self.away_since, &self.why) {
            (Some(since), why) => {
                format!("{}{last}, away since {since}: {}", self.url, why.as_deref().unwrap_or("unknown"))
            }
            (None, _) => format!("{}{last}", self.url),
        }
    }
}

impl Node {
    fn row(&self, does: String) -> [String; 9] {
        let name = if self.is_this { format!("{} (this)", self.name) } else { self.name.clone() };
        let fresh = if self.fresh { "yes" } else { "no" };
        let known = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        [
            name,
            self.state.clone(),
            fresh.to_owned(),
            known(self.last),
            known(self.behind),
            self.beat_age_ms.map_or_else(|| "-".to_owned(), |age_ms| format!("{:.1} s", age_ms as f64 / 1e3)),
            self.version.clone(),
            self.url.clone(),
            does,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(answer: Value) -> String {
        let mut out = Vec::new();
        write(answer, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn one_machine_is_told_as_such() {
        let told = told(json!({ "last": 7, "database": null, "objects": null, "nodes": [], "leases": [] }));
        assert_eq!(
            told,
            "database: none, the data folder has all 7 changes\nobjects:  none, the data folder has the bytes of packages\n"
        );
    }

    #[test]
    fn each_node_is_a_row_with_what_it_lacks_and_does() {
        let node = |name: &str, is_this: bool, state: &str, last: u64| {
            json!({
                "name": name, "is_this": is_this, "url": format!("http://{name}:8080"), "version": "1.0", "form": 3, "state": state,
                "fresh": is_this, "last": last, "behind": 9 - last, "beat_age_ms": 120,
            })
        };
        let told = told(json!({
            "last": 9, "database": { "url": "postgres://db", "last": 9, "away_since": null, "why": null },
            "objects": { "url": "s3://p/x", "last": null, "away_since": "2026-01-01T00:00:00.000Z", "why": "refused" },
            "nodes": [node("a", true, "serving", 9), node("b", false, "gone", 7)],
            "leases": [{ "name": "collect", "node": "a" }, { "name": "follow", "node": "a" }],
        }));
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(
            lines[..2],
            [
                "database: postgres://db, up to change 9",
                "objects:  s3://p/x, away since 2026-01-01T00:00:00.000Z: refused"
            ]
        );
        let cells = |line: &str| {
            line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(
            cells(lines[4]),
            ["a (this)", "serving", "yes", "9", "0", "0.1 s", "1.0", "http://a:8080", "collect,follow"]
        );
        assert_eq!(cells(lines[5]), ["b", "gone", "no", "7", "2", "0.1 s", "1.0", "http://b:8080", "-"]);
    }

    #[test]
    fn a_node_that_has_not_reached_the_database_tells_its_last_change_and_what_it_does_not_know() {
        let told = told(json!({
            "last": 9, "database": { "url": "postgres://db", "last": 9, "away_since": "2026-01-01T00:00:00.000Z", "why": "refused" },
            "objects": null, "leases": [],
            "nodes": [{
                "name": "a", "is_this": true, "url": "http://a:8080", "version": "1.0", "form": 3, "state": "serving",
                "fresh": false, "last": 9, "behind": null, "beat_age_ms": null,
            }],
        }));
        let row = told.lines().find(|line| line.starts_with("a (this)")).unwrap();
        let cells: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(cells, ["a", "(this)", "serving", "no", "9", "-", "-", "1.0", "http://a:8080", "-"]);
        assert!(
            told.ends_with("\nother nodes are not known: this one has not worked with the database since its start\n"),
            "{told}"
        );
    }
}
