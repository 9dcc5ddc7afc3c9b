//! What became of the page that an application wrote for a request.

macro_rules! page_outcomes {
    ($($name:ident $text:literal $doc:literal;)*) => {
        crate::closed_list! {
            /// What became of the page that an application wrote into memcached or Valkey, for one request.
            pub enum PageOutcome { $(#[doc = $doc] $name = $text,)* }
        }

        impl PageOutcome {
            /// Its meaning, for people.
            pub fn doc(self) -> &'static str {
                match self { $(PageOutcome::$name => $doc,)* }
            }
        }
    };
}

page_outcomes! {
    Hit "hit" "The page was sent";
    HitTolerated "hit_tolerated" "A page that may be of an earlier version was sent, within `tolerance_s`";
    HitStale "hit_stale" "A page past its freshness was sent, while the application writes it again";
    HitError "hit_error" "The application failed, and a page past its freshness was sent";
    Miss "miss" "The server has no page";
    Old "old" "The page is not of the present version, and older than `tolerance_s`; or past its freshness";
    Purged "purged" "The page was written before a purge";
    Spliced "spliced" "The application fills in parts of the page for each request";
    Metadata "metadata" "The entry has data for the application";
    Unknown "unknown" "The entry has a form that is not known";
    Damaged "damaged" "The entry contradicts itself, or its body cannot be decoded";
    TooLarge "too_large" "The entry, or its decoded body, is larger than `value_bytes`";
    Status "status" "The page has a status with which no page is sent";
    Timeout "timeout" "The server did not answer within `timeout_ms`";
    Unreachable "unreachable" "The server cannot be reached";
    Refused "refused" "The server refused: credentials, or an error of its own";
    Invalid "invalid" "The answer of the server cannot be understood";
    Busy "busy" "Too many reads of the server were in progress";
}

impl PageOutcome {
    /// That of this name.
    pub fn read(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|outcome| outcome.as_str() == name)
    }

    /// Whether a page was sent.
    pub fn is_hit(self) -> bool {
        matches!(self, Self::Hit | Self::HitTolerated | Self::HitStale | Self::HitError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_a_hit_if_its_name_says_so() {
        for outcome in PageOutcome::ALL {
            assert_eq!(PageOutcome::read(outcome.as_str()), Some(*outcome));
            assert_eq!(outcome.is_hit(), outcome.as_str().starts_with("hit"), "{outcome:?}");
        }
        assert_eq!(PageOutcome::read("else"), None);
    }
}
