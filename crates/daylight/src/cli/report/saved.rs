//! What caches saved: bytes that were sent and not fetched, and the time that clients did not wait for an upstream. What the server took.

use super::asked::{Asker, Rows, figure, text};
use super::program::Program;
use super::traffic::CONTENT;
use super::{cells, or_missing};
use crate::cli::failure;
use serde_json::Value;
use std::collections::BTreeSet;
use web::{ReportBlock, ReportFigure};

/// The id in the column `flight` of a request that waited for no download. Such a column is of the whole group, not of a member.
const NONE: &str = "0000000000000000";

/// The most pairs of a repository and a member whose answers are counted.
const PAIRS_MAX: usize = 1000;

/// The figures of the time.
pub(super) struct Saved {
    /// Answers that no upstream was called for, by repository and member.
    kept: anyhow::Result<Rows>,
    /// Answers that waited for an upstream.
    waited: anyhow::Result<Rows>,
    /// Calls to upstreams, by host.
    fetched: anyhow::Result<Rows>,
    /// The repositories that get their content from an upstream, or may.
    from_upstreams: BTreeSet<String>,
}

impl Saved {
    pub(super) fn read(asker: &Asker<'_>) -> Self {
        let kept = format!(
            "count, sum(bytes_out) by repository, answered_by where {CONTENT} and (repository_kind = remote or repository_kind = group) and \
             upstream_calls = 0 and flight = {NONE} and status < 400 order -count top {PAIRS_MAX}"
        );
        let waited =
            format!("count, mean(first_byte_ms), sum(bytes_out) where {CONTENT} and flight != {NONE} and status < 400");
        let fetched = "count, sum(upstream_bytes), sum(upstream_calls) by upstream_host where kind = job and upstream_calls > 0 order -sum(upstream_bytes) top 15";
        let list = asker.api.get("/api/v1/repositories").unwrap_or_default();
        let remotes = list["repositories"].as_array().into_iter().flatten().filter(|one| one["kind"] != "hosted");
        let from_upstreams = remotes.filter_map(|one| one["name"].as_str()).map(str::to_owned).collect();
        Self { kept: asker.ask(&kept), waited: asker.ask(&waited), fetched: asker.ask(fetched), from_upstreams }
    }

    /// Answers from caches, and their bytes. `None`: they are not known.
    fn sums(&self) -> Option<(f64, f64)> {
        let rows = self.kept.as_ref().ok()?;
        // The answer of a hosted member was never to be fetched.
        let is_of_upstream = |row: &&serde_json::Map<String, Value>| {
            let from = Some(text(row, "answered_by"))
                .filter(|member| !member.is_empty())
                .unwrap_or_else(|| text(row, "repository"));
            self.from_upstreams.contains(from)
        };
        let of_upstreams: Vec<_> = rows.rows.iter().filter(is_of_upstream).collect();
        let sum = |name: &str| of_upstreams.iter().map(|row| figure(row, name)).sum::<f64>();
        Some((sum("count"), sum("sum(bytes_out)")))
    }

    /// The mean time until the first byte of an answer that waited for an upstream, in milliseconds. `None`: none did.
    fn wait(&self) -> Option<f64> {
        let rows = self.waited.as_ref().ok()?;
        rows.figure("count").filter(|count| *count > 0.0)?;
        rows.figure("mean(first_byte_ms)")
    }

    fn saved_s(&self) -> Option<f64> {
        Some(self.sums()?.0 * self.wait()? / 1000.0)
    }

    pub(super) fn figure(&self) -> ReportFigure {
        let value = self.sums().map_or_else(|| "not known".to_owned(), |(_, bytes)| cells::bytes(bytes));
        let note =
            self.saved_s().map_or_else(String::new, |seconds| format!("some {} less to wait", cells::seconds(seconds)));
        ReportFigure { name: "Sent from caches".to_owned(), value, note }
    }

    pub(super) fn sentence(&self) -> String {
        let Some((count, bytes)) = self.sums().filter(|(count, _)| *count > 0.0) else { return String::new() };
        let (count, bytes) = (cells::counted(count as usize, "answer"), cells::bytes(bytes));
        let waited = self
            .saved_s()
            .map_or_else(String::new, |seconds| format!(", which spared clients some {}", cells::seconds(seconds)));
        format!("Of upstreams' content, {count} with {bytes} came from the server's caches{waited}.")
    }

    pub(super) fn blocks(&self, program: &Program) -> Vec<ReportBlock> {
        let mut blocks =
            vec![ReportBlock::Heading("Saved: content of upstreams that was sent and not fetched again".to_owned())];
        match (&self.kept, self.sums()) {
            (Err(error), _) => blocks.push(missing("the content from caches", error)),
            (Ok(_), None) => {}
            (Ok(rows), Some((count, bytes))) => {
                let (answers, bytes) = (cells::counted(count as usize, "answer"), cells::bytes(bytes));
                let waited = match (self.wait(), self.saved_s()) {
                    (Some(wait), Some(saved)) => format!(
                        " Answers that waited for an upstream took {} until their first byte, so the caches spared clients some {}: this is an \
                         estimate, as other files may take other times.",
                        cells::time(wait),
                        cells::seconds(saved)
                    ),
                    _ => " No answer waited for an upstream, so the time that this spared cannot be estimated."
                        .to_owned(),
                };
                blocks.push(ReportBlock::Text(format!(
                    "{answers} of remote repositories and groups came without a call to an upstream: {bytes}.{waited}"
                )));
                if rows.rows.len() >= PAIRS_MAX {
                    let text = format!(
                        "Only the {PAIRS_MAX} pairs of a repository and a member with most answers are counted: it was more."
                    );
                    blocks.push(ReportBlock::Missing(text));
                }
                blocks.extend(rows.part());
            }
        }
        let columns = [
            ("Upstream", "upstream_host"),
            ("#Downloads", "count"),
            ("#Calls", "sum(upstream_calls)"),
            ("#Fetched", "sum(upstream_bytes)"),
        ];
        match &self.fetched {
            Ok(rows) => blocks.extend(rows.table("Fetched from upstreams", &columns)),
            Err(error) => blocks.push(missing("what was fetched", error)),
        }
        blocks.push(ReportBlock::Heading("What the server took".to_owned()));
        match (program.cpu_s, program.since()) {
            (Some(cpu), Some(since)) => {
                let text = format!(
                    "Since its start at {since} the server used {} of processor time. The time before that start is not known.",
                    cells::seconds(cpu)
                );
                blocks.push(ReportBlock::Text(text));
            }
            _ => blocks.extend(or_missing(
                "the processor time of the server",
                Err(anyhow::anyhow!("`/metrics` does not tell it")),
            )),
        }
        blocks
    }
}

fn missing(what: &str, error: &anyhow::Error) -> ReportBlock {
    let (why, _) = failure::told(error);
    ReportBlock::Missing(format!("Not shown: {what}. {}", cells::foreign(&why)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rows(rows: Value) -> anyhow::Result<Rows> {
        let rows = rows.as_array().unwrap().iter().map(|row| row.as_object().unwrap().clone()).collect();
        Ok(Rows { rows, ..Rows::default() })
    }

    #[test]
    fn what_a_hosted_member_answered_was_not_saved() {
        let saved = Saved {
            kept: rows(json!([
                { "repository": "all", "answered_by": "hosted", "count": 50, "sum(bytes_out)": 5_000 },
                { "repository": "all", "answered_by": "central", "count": 10, "sum(bytes_out)": 2_000_000 },
                { "repository": "central", "answered_by": "", "count": 2, "sum(bytes_out)": 1_000_000 },
            ])),
            waited: rows(json!([{ "count": 4, "mean(first_byte_ms)": 500.0 }])),
            fetched: rows(json!([])),
            from_upstreams: ["all", "central"].map(str::to_owned).into(),
        };
        assert_eq!(saved.sums(), Some((12.0, 3_000_000.0)));
        assert_eq!(saved.saved_s(), Some(6.0));
        assert_eq!(
            saved.sentence(),
            "Of upstreams' content, 12 answers with 3 MB came from the server's caches, which spared clients some 6.0 seconds."
        );
    }
}
