//! Shows the record of an answer: the request, the result and its reason, the members that were asked, and the time spent.

use crate::cli::context::Context;
use crate::cli::{failure, table};
use serde::Deserialize;
use std::collections::BTreeMap;
use telemetry::Reason;

/// The answer of the API. Fields that it leaves out are empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Record {
    at: String,
    method: String,
    path: String,
    package: String,
    version: String,
    token: String,
    status: u16,
    outcome: Option<String>,
    reason: String,
    detail: String,
    hint: String,
    layer: String,
    duration_ms: Option<f64>,
    members: Vec<Member>,
    ops: BTreeMap<String, Cost>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Member {
    member: String,
    said: String,
    reason: String,
    detail: String,
    until: String,
    ms: f64,
    flight: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Cost {
    count: u64,
    ms: f64,
}

impl Record {
    pub(super) fn show(self, context: &mut Context<'_>) -> std::io::Result<()> {
        for (name, text) in self.lines() {
            writeln!(context.out, "{name:8} {}", failure::plain(&text).replace('\n', " "))?;
        }
        if !self.members.is_empty() {
            writeln!(context.out)?;
            let rows = self.members.into_iter().map(Member::row).collect();
            table::write(context.out, ["MEMBER", "SAID", "UNTIL", "WHY", "MS", "FETCH"], rows)?;
        }
        if !self.ops.is_empty() {
            writeln!(context.out)?;
            let mut ops: Vec<(String, Cost)> = self.ops.into_iter().collect();
            ops.sort_by(|(_, a), (_, b)| b.ms.total_cmp(&a.ms));
            let rows = ops.into_iter().map(|(op, cost)| [op, cost.count.to_string(), format!("{:.3}", cost.ms)]);
            table::write(context.out, ["SPENT ON", "TIMES", "MS"], rows.collect())?;
        }
        Ok(())
    }

    /// The lines above the tables, each with its name.
    fn lines(&self) -> Vec<(&'static str, String)> {
        let about = [self.package.as_str(), &self.version].join(" ");
        let at = self.duration_ms.map_or_else(|| self.at.clone(), |ms| format!("{}, in {ms:.3} ms", self.at));
        let ended = match self.outcome.as_deref() {
            Some(outcome) => format!("{} {outcome}, by: {}", self.status, self.layer),
            None => "depends on an upstream".to_owned(),
        };
        let all = [
            ("asked", [self.method.as_str(), &self.path].join(" ").trim().to_owned()),
            ("about", about.trim().to_owned()),
            ("token", self.token.clone()),
            ("at", at),
            ("answer", ended),
            ("why", why(&self.reason)),
            ("detail", self.detail.clone()),
            ("hint", self.hint.clone()),
        ];
        all.into_iter().filter(|(_, text)| !text.is_empty()).collect()
    }
}

impl Member {
    fn row(self) -> [String; 6] {
        // Details about a policy name the rule, and say more than the reason.
        let hidden = self.reason == Reason::HiddenByPolicy.as_str() && !self.detail.is_empty();
        let reason = if hidden { String::new() } else { why(&self.reason) };
        let why = [reason, self.detail].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>();
        [self.member, self.said, self.until, why.join(": "), format!("{:.3}", self.ms), self.flight]
    }
}

/// The text of a reason. A reason that only a newer server knows is shown by its name.
fn why(reason: &str) -> String {
    let known = Reason::ALL.iter().find(|known| known.as_str() == reason);
    known.map_or(reason, |known| known.doc()).to_owned()
}
