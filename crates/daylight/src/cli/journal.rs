//! `daylight journal`: who changed what, from a running server.

use super::api::{Api, Pages, decode};
use super::context::Context;
use super::table;
use crate::config::duration;
use format::percent::segment;
use serde::{Deserialize, Serialize};
use telemetry::{Clock, Millis};

/// Most rows that one call of the API gives.
const PAGE: usize = 1_000;

/// Show who changed what on a running server, newest changes last
///
/// Every push, yank, deletion and change of a setting, repository or token is a row of the journal, with the token that made it and the
/// address that it came from. Without --after and --since the newest rows are shown. Rows in which the server records the content of upstreams
/// (the kinds `first_seen` and `listing`) are left out unless --all or --kind asks for them.
#[derive(Debug, clap::Args)]
pub(super) struct Journal {
    /// Changes in this repository, also in removed ones of the same name
    #[arg(long, value_name = "NAME")]
    repository: Option<String>,
    /// Changes made with this token; `daylight` is the server itself
    #[arg(long, value_name = "TOKEN")]
    by: Option<String>,
    /// Changes of these kinds
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = clap::builder::PossibleValuesParser::new(repository::CHANGE_KINDS))]
    kind: Vec<String>,
    /// Changes of every kind, also what the server recorded about upstreams
    #[arg(long, conflicts_with = "kind")]
    all: bool,
    /// Changes at this time and later: 2026-11-01, 2026-11-01T12:00:00Z, or -1h
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true, value_parser = moment)]
    since: Option<String>,
    /// Changes up to this time
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true, value_parser = moment)]
    until: Option<String>,
    /// Changes after the one with this number, oldest first
    #[arg(long, value_name = "SEQ")]
    after: Option<u64>,
    /// Most rows to show
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    limit: u32,
}

/// All kinds of changes except those in which the server records the content of upstreams.
const OF_PEOPLE: &str = "-first_seen,-listing";

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
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
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
        let kinds = match self.kind.is_empty() {
            false => Some(self.kind.join(",")),
            true => (!self.all).then(|| OF_PEOPLE.to_owned()),
        };
        let filters = [
            ("repository", &self.repository),
            ("by", &self.by),
            ("kind", &kinds),
            ("since", &self.since),
            ("until", &self.until),
        ];
        let set = filters.into_iter().filter_map(|(name, value)| value.as_ref().map(|value| (name, value)));
        set.map(|(name, value)| format!("&{name}={}", segment(value))).collect()
    }
}

/// A moment, or a time before now: `-1h`.
fn moment(text: &str) -> Result<String, String> {
    match text.strip_prefix('-') {
        Some(time) => {
            let millis = i64::try_from(duration::parse(time)?.as_millis()).unwrap_or(i64::MAX);
            Ok(Millis(Clock::default().now().0.saturating_sub(millis)).to_string())
        }
        None => Ok(text.to_owned()),
    }
}

fn cells(row: Row) -> [String; 7] {
    let what = [row.package, row.version, row.name, row.what].into_iter().flatten().collect::<Vec<_>>().join(" ");
    [row.seq.to_string(), row.at, row.by, row.from, row.kind, row.repository.unwrap_or_default(), what]
}
