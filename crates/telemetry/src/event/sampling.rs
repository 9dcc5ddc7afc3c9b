//! Why an event is stored, and how many events it stands for.

crate::closed_list! {
    /// Why an event is stored. Of several reasons the first one of this list counts.
    #[derive(Default, Hash, PartialOrd, Ord)]
    #[repr(u8)]
    pub enum Because {
        /// It failed, was shed or turned away.
        Failed = "failed",
        /// A member of a group failed, did not answer in time or gave an old answer.
        Member = "member",
        /// It was slow for its cost class.
        Slow = "slow",
        /// Its client traces it.
        Traced = "traced",
        /// It is a background job.
        Job = "job",
        /// It shows best what a finding may be about.
        Evidence = "evidence",
        /// It is part of a sample.
        Sample = "sample",
        /// No census chose: every event is stored.
        #[default]
        All = "all",
    }
}

/// Whether an event is stored, as a census decides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SamplingDecision {
    /// How many events this one stands for; 0: it is not stored.
    pub weight: u32,
    /// Why it is stored.
    pub because: Because,
}

impl SamplingDecision {
    /// It is not stored.
    pub const DROP: SamplingDecision = SamplingDecision { weight: 0, because: Because::All };

    /// It is stored and stands for `weight` events.
    pub fn store(weight: u32, because: Because) -> Self {
        Self { weight, because }
    }

    /// What holds if this census and another one need the event: the smaller weight, and the first reason.
    pub(crate) fn join(self, other: SamplingDecision) -> SamplingDecision {
        match (self.weight, other.weight) {
            (0, _) => other,
            (_, 0) => self,
            (mine, theirs) => SamplingDecision { weight: mine.min(theirs), because: self.because.min(other.because) },
        }
    }
}
