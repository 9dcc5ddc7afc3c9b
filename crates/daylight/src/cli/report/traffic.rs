//! What went on: requests, bytes and times by day, by repository, client, build and package.

use super::asked::{Asker, Rows, figure, text};
use super::{cells, or_missing};
use crate::cli::api::Api;
use insight::read_moment;
use std::collections::BTreeMap;
use telemetry::Millis;
use web::{Bars, ReportBlock, ReportFigure, ReportTable};

/// The requests of clients for content: not those of people who look at the server, and no jobs.
pub(super) const CONTENT: &str = "(layer = page or class = pages or class = downloads or class = dynamic_index or class = uploads or class = \
                                  accounts or class = hooks or class = apps)";
/// The measures of each table of requests.
const MEASURES: &str = "count, sum(bytes_out), p50(duration_ms), p95(duration_ms), share(status >= 500)";
/// The most rows of a table of days.
const DAYS_MAX: usize = 31;
const HOUR: i64 = 60 * 60 * 1000;
const DAY: i64 = 24 * HOUR;

/// The figures of the whole time.
pub(super) struct Totals {
    rows: Rows,
}

impl Totals {
    /// Reads them, and the moments of the time.
    pub(super) fn read<'a>(api: &'a Api, from: &str, to: &str) -> anyhow::Result<(Self, Asker<'a>)> {
        let (asker, rows) = Asker::new(api, from, to, &format!("{MEASURES} where {CONTENT}"))?;
        Ok((Self { rows }, asker))
    }

    fn of(&self, name: &str) -> f64 {
        self.rows.figure(name).unwrap_or(0.0)
    }

    /// Requests of clients.
    pub(super) fn requests(&self) -> f64 {
        self.of("count")
    }

    fn note(&self) -> String {
        match self.rows.complete < 1.0 {
            true => format!("of {} of the stored events", cells::share(self.rows.complete)),
            false => String::new(),
        }
    }

    pub(super) fn figures(&self) -> Vec<ReportFigure> {
        let figure = |name: &str, value: String, note: String| ReportFigure { name: name.to_owned(), value, note };
        let p50 = format!("half within {}", cells::time(self.of("p50(duration_ms)")));
        vec![
            figure("Requests", cells::count(self.requests()), self.note()),
            figure("Sent to clients", cells::bytes(self.of("sum(bytes_out)")), String::new()),
            figure("95 % answered within", cells::time(self.of("p95(duration_ms)")), p50),
            figure(
                "Failed",
                cells::share(self.of("share(status >= 500)")),
                "by an error here or of an upstream".to_owned(),
            ),
        ]
    }

    pub(super) fn sentence(&self) -> String {
        let part = self.rows.part_sentence();
        if self.requests() == 0.0 {
            let text = format!("No client requested anything in this time. {part}");
            return text.trim_end().to_owned();
        }
        let (requests, sent) =
            (cells::counted(self.requests() as usize, "request"), cells::bytes(self.of("sum(bytes_out)")));
        let (half, most) = (cells::time(self.of("p50(duration_ms)")), cells::time(self.of("p95(duration_ms)")));
        let failed = match self.of("share(status >= 500)") {
            0.0 => "None failed.".to_owned(),
            share => format!("{} of them failed.", cells::share(share)),
        };
        let text = format!(
            "Clients made {requests} and received {sent}. Half of the requests were answered within {half}, and 95 % within {most}. {failed} {part}"
        );
        text.trim_end().to_owned()
    }
}

/// The blocks about traffic.
pub(super) fn blocks(asker: &Asker<'_>, totals: &Totals) -> Vec<ReportBlock> {
    let mut blocks = or_missing("requests by day", by_day(asker));
    blocks.extend(totals.rows.part());
    if totals.requests() == 0.0 {
        blocks.push(ReportBlock::Text("There are no requests to tell more of.".to_owned()));
        return blocks;
    }
    let requests = [
        ("#Requests", "count"),
        ("#Sent", "sum(bytes_out)"),
        ("#95 % within", "p95(duration_ms)"),
        ("#Failed", "share(status >= 500)"),
    ];
    let mut table = |what: &str, caption: &str, question: String, columns: &[(&'static str, &str)]| {
        blocks.extend(or_missing(what, asker.ask(&question).map(|rows| rows.table(caption, columns))));
    };
    let with = |first: &[(&'static str, &'static str)], rest: &[(&'static str, &'static str)]| [first, rest].concat();
    table(
        "requests by repository",
        "Repositories, by requests",
        format!("{MEASURES} by repository where {CONTENT} order -count top 15"),
        &with(&[("Repository", "repository")], &requests),
    );
    table(
        "the most used packages",
        "The most downloaded packages",
        "count, sum(bytes_out), distinct(version) by package, repository where (class = downloads or layer = page) and package != '' and status < 300 \
         and repository != '' and file != 'info' and file != 'versions' and file != 'metadata' order -count top 15"
            .to_owned(),
        &[("Package", "package"), ("Repository", "repository"), ("#Requests", "count"), ("#Versions", "distinct(version)"), ("#Sent", "sum(bytes_out)")],
    );
    table(
        "clients",
        "Client programs",
        format!(
            "count, distinct(client), share(status >= 500) by client_product, client_version where {CONTENT} order -count top 15"
        ),
        &[
            ("Program", "client_product"),
            ("Version", "client_version"),
            ("#Requests", "count"),
            ("#Addresses", "distinct(client)"),
            ("#Failed", "share(status >= 500)"),
        ],
    );
    table(
        "builds",
        "Runs of Bundler, by the CI system that ran them (without one: people and others)",
        "distinct(run), count, sum(bytes_out) by ci where run != '' order -distinct(run) top 10".to_owned(),
        &[("CI system", "ci"), ("#Runs", "distinct(run)"), ("#Requests", "count"), ("#Sent", "sum(bytes_out)")],
    );
    blocks
}

/// The charts and the table of days, or of hours or weeks.
fn by_day(asker: &Asker<'_>) -> anyhow::Result<Vec<ReportBlock>> {
    let millis = |text: &str| read_moment(text, Millis(0)).map_or(0, |at| at.0);
    let (from, to) = (millis(asker.from()), millis(asker.to()));
    let (per, step, name) = match to - from {
        length if length <= 36 * HOUR => ("1h", HOUR, "Hour"),
        length if length <= 92 * DAY => ("1d", DAY, "Day"),
        _ => ("1w", 7 * DAY, "Week from"),
    };
    let rows = asker.ask(&format!("{MEASURES} where {CONTENT} per {per}"))?;
    let found: BTreeMap<i64, _> = rows.rows.iter().map(|row| (millis(text(row, "at")), row)).collect();
    let stretches = (from - from.rem_euclid(step)..to).step_by(usize::try_from(step)?);
    let stretches: Vec<(i64, Option<_>)> = stretches.map(|at| (at, found.get(&at).copied())).collect();
    let label = |at: i64| {
        let text = Millis(at).to_string();
        if step == HOUR { cells::minute(&text) } else { text.chars().take(10).collect() }
    };
    let (Some((first, _)), Some((last, _))) = (stretches.first(), stretches.last()) else { return Ok(Vec::new()) };
    let (first, last) = (label(*first), label(*last));
    let word = name.split(' ').next().unwrap_or_default().to_lowercase();
    let chart = |name: &str, keys: [&str; 2], show: fn(f64) -> String| {
        let of = |key: &str| stretches.iter().map(|(_, row)| row.map(|row| figure(row, key))).collect::<Vec<_>>();
        let values: Vec<_> = of(keys[0])
            .into_iter()
            .zip(if keys[1].is_empty() { vec![None; stretches.len()] } else { of(keys[1]) })
            .collect();
        let most = values.iter().filter_map(|(whole, _)| *whole).fold(0.0, f64::max);
        let highest =
            stretches.iter().zip(&values).find(|(_, (whole, _))| *whole == Some(most)).map(|((at, _), _)| label(*at));
        let about = format!(
            "{name} by {word} from {first} to {last}; most: {}, at {}",
            show(most),
            highest.unwrap_or_default()
        );
        Bars { name: name.to_owned(), total: format!("at most {}", show(most)), values, most: String::new(), about }
    };
    let charts = vec![
        chart(&format!("Requests by {word}"), ["count", ""], cells::count),
        chart(&format!("Sent by {word}"), ["sum(bytes_out)", ""], cells::bytes),
        chart("95 % answered within (dark: half)", ["p95(duration_ms)", "p50(duration_ms)"], cells::time),
        chart("Failed", ["share(status >= 500)", ""], cells::share),
    ];
    let mut blocks = vec![ReportBlock::Charts(charts, first.clone(), last.clone())];
    if stretches.len() <= DAYS_MAX {
        let row = |(at, row): &(i64, Option<&serde_json::Map<String, serde_json::Value>>)| {
            let row = (*row)?;
            let of = |key: &str, show: fn(f64) -> String| show(figure(row, key));
            Some(vec![
                label(*at),
                of("count", cells::count),
                of("sum(bytes_out)", cells::bytes),
                of("p50(duration_ms)", cells::time),
                of("p95(duration_ms)", cells::time),
                of("share(status >= 500)", cells::share),
            ])
        };
        let names = vec![name, "#Requests", "#Sent", "#Half within", "#95 % within", "#Failed"];
        let caption = format!("Requests by {word}; a {word} without requests is left out");
        blocks.push(ReportBlock::Table(ReportTable {
            caption,
            names,
            rows: stretches.iter().filter_map(row).collect(),
        }));
    }
    blocks.extend(rows.part());
    Ok(blocks)
}
