//! `daylight journal`: who changed what, from a running server.

use super::api::{Api, Pages, decode};
use super::context::Context;
use super::table;
use format::percent::segment;
use serde::{Deserialize, Serialize};

/// Most rows that one call of the API gives.
const PAGE: usize = 1_000;

/// Show who changed what on a running server, newest changes last
///
/// Every push, yank, deletion and change of a setting, repository or token is a row of the journal, with the token that made it and the
/// address that it came from. Without --after and --since the newest rows are shown.
#[derive(Debug, clap::Args)]
pub(super) struct Journal {
    /// Changes in this repository, also in removed ones of the same name
    #[arg(long, value_name = "NAME")]
    repository: Option<String>,
    /// Changes made with this token; `daylight` is the server itself
    #[arg(long, value_name = "TOKEN")]
    by: Option<String>,
    /// Changes of this kind
    #[arg(long, value_name = "KIND", value_parser = clap::builder::PossibleValuesParser::new(repository::CHANGE_KINDS))]
    kind: Option<String>,
    /// Changes at this time and later: 2026-11-01, or 2026-11-01T12:00:00Z
    #[arg(long, value_name = "MOMENT")]
    since: Option<String>,
    /// Changes up to this time
    #[arg(long, value_name = "MOMENT")]
    until: Option<String>,
    /// Changes after the one with this number, oldest first
    #[arg(long, value_name = "SEQ")]
    after: Option<u64>,
    /// Most rows to show
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    limit: u32,
}

/// A page of the API, and the output of `--json`.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Rows {
    rows: Vec<Row>,
    next: Option<u64>,
    earlier: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Row {
    seq: u64,
    at: String,
    by: String,
    from: String,
    kind: String,
    repository: Option<String>,
    package: Option<String>,
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    what: Option<String>,
}

impl Journal {
    pub(super) fn run(self, context: &mut Context<'_>) -> Result<(), anyhow::Error> {
        let api = Api::new(context)?;
        let wanted = usize::try_from(self.limit)?;
        let mut pages = Pages::default();
        let (mut all, mut place) = (Rows::default(), self.after.map(|after| format!("&after={after}")));
        loop {
            let limit = PAGE.min(wanted - all.rows.len());
            let url = format!("/api/v1/journal?limit={limit}{}{}", self.filters(), place.unwrap_or_default());
            let page = decode::<Rows>(api.get(&url)?)?;
            (all.next, all.earlier) = (page.next, page.earlier);
            // Each page that goes back has earlier rows than the page before it.
            let at = if self.goes_forward() { all.rows.len() } else { 0 };
            all.rows.splice(at..at, page.rows);
            place = match (page.next, page.earlier) {
                (Some(next), _) => Some(format!("&after={next}")),
                (_, Some(earlier)) => Some(format!("&before={earlier}")),
                (None, None) => None,
            };
            match &place {
                Some(place) if all.rows.len() < wanted => pages.go_on(place)?,
                _ => break,
            }
        }
        if api.print_json(&serde_json::to_value(&all)?, context)? {
            return Ok(());
        }
        let rows = all.rows.into_iter().map(cells).collect();
        let head = ["SEQ", "AT", "BY", "FROM", "KIND", "REPOSITORY", "WHAT"];
        table::write(context.out, head, rows)?;
        if let Some(next) = all.next {
            writeln!(context.err, "there are later rows: `--after {next}` shows them")?;
        }
        if all.earlier.is_some() {
            writeln!(context.err, "there are earlier rows: a higher `--limit` shows them")?;
        }
        Ok(())
    }

    fn goes_forward(&self) -> bool {
        self.after.is_some() || self.since.is_some()
    }

    fn filters(&self) -> String {
        let filters = [
            ("repository", &self.repository),
            ("by", &self.by),
            ("kind", &self.kind),
            ("since", &self.since),
            ("until", &self.until),
        ];
        let set = filters.into_iter().filter_map(|(name, value)| value.as_ref().map(|value| (name, value)));
        set.map(|(name, value)| format!("&{name}={}", segment(value))).collect()
    }
}

fn cells(row: Row) -> [String; 7] {
    let what = [row.package, row.version, row.name, row.what].into_iter().flatten().collect::<Vec<_>>().join(" ");
    [row.seq.to_string(), row.at, row.by, row.from, row.kind, row.repository.unwrap_or_default(), what]
}
