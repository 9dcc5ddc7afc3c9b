//! The program that ran: its version, since when it runs, how often it was started, and the processor time that it took.

use super::asked::{Asker, text};
use super::{cells, or_missing};
use serde_json::{Map, Value};
use telemetry::{EventId, Millis};
use web::{ReportBlock, ReportFigure, ReportTable};

/// The most starts that are listed and counted.
const STARTS_MAX: usize = 50;

/// The program that ran.
pub(super) struct Program {
    version: String,
    started: Option<Millis>,
    pub(super) cpu_s: Option<f64>,
    blocks: Vec<ReportBlock>,
    starts: usize,
    /// When the first change of the journal was made, if that is after the begin of the time.
    begins: Option<String>,
}

impl Program {
    pub(super) fn read(asker: &Asker<'_>) -> Self {
        let metrics = asker.api.get_text("/metrics").unwrap_or_default();
        let sample = |name: &str| metrics.lines().find_map(|line| line.strip_prefix(name));
        let number = |name: &str| sample(name)?.trim().parse::<f64>().ok();
        let version =
            sample("daylight_build_info{version=\"").and_then(|rest| rest.split('"').next()).unwrap_or_default();
        let started = number("process_start_time_seconds ").map(|seconds| Millis((seconds * 1000.0) as i64));
        let starts = asker.ask(&format!("count by id, version where kind = job and method = start top {STARTS_MAX}"));
        let mut count = 0;
        let starts = starts.map(|mut rows| {
            count = rows.rows.len();
            rows.rows.sort_by(|one, other| text(other, "id").cmp(text(one, "id")));
            let row = |row: &Map<String, Value>| {
                let at = EventId::read(text(row, "id")).map(|id| cells::minute(&id.millis().to_string()));
                vec![at.unwrap_or_default(), cells::foreign(text(row, "version"))]
            };
            let rows: Vec<Vec<String>> = rows.rows.iter().map(row).collect();
            match rows.is_empty() {
                true => Vec::new(),
                false => {
                    let names = vec!["Started", "Version of the program"];
                    vec![ReportBlock::Table(ReportTable { caption: "Starts of the server".to_owned(), names, rows })]
                }
            }
        });
        let blocks = or_missing("starts of the server", starts);
        let first = asker.api.get("/api/v1/journal?after=0&limit=1").unwrap_or_default();
        // Both are moments in the same form.
        let begins = first["rows"][0]["at"].as_str().filter(|at| *at > asker.from()).map(cells::minute);
        Self {
            begins,
            version: cells::foreign(version),
            started,
            cpu_s: number("process_cpu_seconds_total "),
            blocks,
            starts: count,
        }
    }

    pub(super) fn figure(&self) -> ReportFigure {
        let note = match self.starts {
            0 => "no start in this time".to_owned(),
            STARTS_MAX.. => format!("{STARTS_MAX} starts or more in this time"),
            starts => format!("{} in this time", cells::counted(starts, "start")),
        };
        let value = if self.version.is_empty() { "not known".to_owned() } else { self.version.clone() };
        ReportFigure { name: "Version that runs".to_owned(), value, note }
    }

    pub(super) fn since(&self) -> Option<String> {
        self.started.map(|at| cells::minute(&at.to_string()))
    }

    pub(super) fn blocks(&self) -> Vec<ReportBlock> {
        let mut blocks = vec![ReportBlock::Heading("The server".to_owned())];
        let since = self.since().map_or_else(
            || "It is not known since when the server runs.".to_owned(),
            |since| format!("The server runs without a break since {since}."),
        );
        let restarts = match self.starts {
            0 => "It was not started in this time.".to_owned(),
            1 => "It was started once in this time.".to_owned(),
            STARTS_MAX.. => format!("It was started {STARTS_MAX} times or more in this time."),
            starts => format!("It was started {starts} times in this time."),
        };
        blocks.push(ReportBlock::Text(format!("{since} {restarts}")));
        if let Some(begins) = &self.begins {
            let text = format!("The journal of this server begins at {begins}: nothing is known of the time before.");
            blocks.push(ReportBlock::Missing(text));
        }
        blocks.extend(self.blocks.iter().cloned());
        blocks
    }
}
