//! A finding as it is listed: with its mute, and with what explains it.

use super::check::Lost;
use super::state::Entry;
use super::{Finding, FindingState, Mute};
use telemetry::Millis;

/// A finding that is pending, open or muted, in its place.
#[derive(Debug, Clone)]
pub(super) struct Listed {
    /// With its mute, and the ids of the findings that it explains.
    pub(super) finding: Finding,
    /// Its content at the look at which it cost most.
    pub(super) worst: Finding,
    pub(super) lost: Lost,
    /// When it opened.
    pub(super) opened: Option<Millis>,
    /// Whether it was seen at the last look.
    pub(super) seen: bool,
    /// The id of the finding that explains it. It is not listed by itself then.
    pub(super) under: Option<String>,
}

impl Listed {
    /// A finding with its mute, if that has not ended.
    pub(super) fn new(entry: &Entry, mutes: &[Mute], now: Millis) -> Self {
        let mut finding = entry.finding.clone();
        if let Some(mute) = mutes.iter().find(|mute| mute.id == finding.id && now < mute.until) {
            finding.state = FindingState::Muted;
            finding.mute = Some(mute.clone());
        }
        let (worst, lost, opened) = (entry.dearest(), entry.lost.clone(), entry.opened);
        Self { finding, worst, lost, opened, seen: entry.is_seen(), under: None }
    }
}
