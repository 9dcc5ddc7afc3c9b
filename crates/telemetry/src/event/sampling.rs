//! Why an event is stored, and how many events it stands for.

macro_rules! reasons {
    ($($name:ident $text:literal $doc:literal;)*) => {
        /// Why an event is stored. Of several reasons the first one of this list counts.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Because { $(#[doc = $doc] $name,)* #[default] #[doc = "No census chose: every event is stored."] All }

        impl Because {
            /// All of them, in the order of declaration.
            pub const ALL: &'static [Because] = &[$(Because::$name,)* Because::All];

            /// The name used in events.
            pub fn as_str(self) -> &'static str {
                match self { $(Because::$name => $text,)* Because::All => "all" }
            }
        }
    };
}

reasons! {
    Failed "failed" "It failed, was shed or turned away.";
    Member "member" "A member of a group failed, did not answer in time or gave an old answer.";
    Slow "slow" "It was slow for its cost class.";
    Traced "traced" "Its client traces it.";
    Job "job" "It is a background job.";
    Sample "sample" "It is part of a sample.";
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
