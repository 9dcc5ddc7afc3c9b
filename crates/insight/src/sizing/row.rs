//! A line of the answer: how large one thing is, how large today's and more traffic needs it, and why.

use serde_json::{Value, json};

telemetry::closed_list! {
    /// The verdict about a size.
    pub enum SizingVerdict {
        /// It is large enough for the traffic, today's and the multiple that was asked for.
        Enough = "enough",
        /// The busiest minute needs more.
        TooSmall = "too_small",
        /// It is enough for the busiest minute, and not for the multiple.
        TooSmallForMore = "too_small_for_more",
        /// It is at least twice what the busiest minute needs.
        TwiceTooLarge = "twice_too_large",
        /// Callers wait for it, and more of it would not help: the thing behind it is the bottleneck.
        MoreDoesNotHelp = "more_does_not_help",
        /// The data are missing.
        Unknown = "unknown",
    }
}

/// How large one thing is, and how large it needs to be.
#[derive(Debug, Clone, PartialEq)]
pub struct SizingRow {
    /// What it is: `pool:work.threads`, `upstream:HOST:PORT`, `app:NAME`, `bound:requests/uploads`, `cache:pages`, `group:width`,
    /// `machine:processors`.
    pub subject: String,
    /// The setting with its size.
    pub setting: Option<String>,
    /// The unit of the sizes.
    pub unit: &'static str,
    /// Its size. `None`: it is not known.
    pub now: Option<u64>,
    /// The size that the busiest minute needs. `None`: the data are missing.
    pub needed: Option<u64>,
    /// The size that a multiple of its traffic needs.
    pub needed_at: Option<u64>,
    /// The verdict.
    pub verdict: SizingVerdict,
    /// The figures behind it, in one sentence; or the data that are missing.
    pub why: String,
    /// How sure it is, 0 to 1.
    pub confidence: f64,
    /// The figures behind it.
    pub data: Value,
    /// A size that costs something, so that it can be too large. Limits cost nothing until they are reached.
    pub(super) costs: bool,
}

impl SizingRow {
    /// A row of which nothing is known yet.
    pub(super) fn unknown(subject: String, setting: Option<&str>, unit: &'static str, why: &str) -> Self {
        Self {
            subject,
            setting: setting.map(str::to_owned),
            unit,
            now: None,
            needed: None,
            needed_at: None,
            verdict: SizingVerdict::Unknown,
            why: why.to_owned(),
            confidence: 0.0,
            data: json!({}),
            costs: false,
        }
    }

    /// Compares the sizes.
    pub(super) fn judged(mut self) -> Self {
        let (Some(now), Some(needed)) = (self.now, self.needed) else { return self };
        self.verdict = match self.needed_at.unwrap_or(needed) {
            _ if needed > now => SizingVerdict::TooSmall,
            at if at > now => SizingVerdict::TooSmallForMore,
            _ if self.costs && now >= 2 * needed && now - needed >= 2 => SizingVerdict::TwiceTooLarge,
            _ => SizingVerdict::Enough,
        };
        self
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "subject": self.subject, "setting": self.setting, "unit": self.unit, "now": self.now, "needed": self.needed,
            "needed_at": self.needed_at, "verdict": self.verdict.as_str(), "why": self.why,
            "confidence": (self.confidence * 100.0).round() / 100.0, "data": self.data,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_too_small_or_twice_too_large_or_enough() {
        let judged = |now, needed, at, costs| {
            let row = SizingRow::unknown("pool:a".to_owned(), None, "threads", "");
            let (now, needed, needed_at) = (Some(now), Some(needed), Some(at));
            SizingRow { now, needed, needed_at, costs, ..row }.judged().verdict
        };
        assert_eq!(judged(4, 5, 9, true), SizingVerdict::TooSmall);
        assert_eq!(judged(5, 5, 9, true), SizingVerdict::TooSmallForMore);
        assert_eq!(judged(16, 5, 9, true), SizingVerdict::TwiceTooLarge);
        assert_eq!((judged(9, 5, 9, true), judged(16, 5, 9, false)), (SizingVerdict::Enough, SizingVerdict::Enough));
        assert_eq!(judged(2, 1, 1, true), SizingVerdict::Enough, "one less is no saving");
        let unknown = SizingRow::unknown("pool:a".to_owned(), Some("a"), "threads", "it needs an hour").judged();
        assert_eq!((unknown.verdict, unknown.json()["needed"].is_null()), (SizingVerdict::Unknown, true));
    }
}
