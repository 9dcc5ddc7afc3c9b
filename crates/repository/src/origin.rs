//! The original publication on another server, as an upload claims it.

use crate::actor::Actor;
use crate::error::{Error, Result};
use store::EntryOrigin;
use telemetry::Millis;

/// The original publication that an upload claims. The caller has checked that an admin makes the claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginClaim {
    /// When it was published there.
    pub at: Millis,
    /// Who published it there, if that is known.
    pub by: Option<String>,
}

impl OriginClaim {
    /// The origin that a change at `now` by `by` writes. A date in the future is refused.
    pub(crate) fn accept(&self, by: Actor<'_>, now: Millis) -> Result<EntryOrigin> {
        if self.at > now {
            let text = format!(
                "the upload says that it was published at {}, which is in the future: it is {now} here",
                self.at
            );
            return Err(Error::Input(text));
        }
        Ok(EntryOrigin { at: self.at, by: self.by.clone(), claimed_by: by.name.to_owned() })
    }
}

/// Whether `claimed` differs from the origin of an entry. It does not matter who makes the claim. A claim without a
/// publisher keeps the known one.
pub(crate) fn differs(claimed: Option<&EntryOrigin>, known: Option<&EntryOrigin>) -> bool {
    let (Some(claimed), Some(known)) = (claimed, known) else { return claimed.is_some() };
    claimed.at != known.at || (claimed.by.is_some() && claimed.by != known.by)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADMIN: Actor<'_> =
        Actor { name: "admin", from: crate::ChangeSource::Server, owner: "admin", only: None, admin: true };

    #[test]
    fn an_origin_is_never_in_the_future() {
        let claim = OriginClaim { at: Millis(5), by: None };
        assert!(claim.accept(ADMIN, Millis(5)).is_ok());
        assert!(matches!(claim.accept(ADMIN, Millis(4)), Err(Error::Input(_))));
    }

    #[test]
    fn a_claim_differs_by_its_moment_or_its_publisher() {
        let origin = |at, by: Option<&str>, claimed_by: &str| EntryOrigin {
            at: Millis(at),
            by: by.map(str::to_owned),
            claimed_by: claimed_by.to_owned(),
        };
        let known = origin(1, Some("ann"), "admin");
        assert!(differs(Some(&known), None) && !differs(None, Some(&known)) && !differs(None, None));
        assert!(!differs(Some(&origin(1, Some("ann"), "other")), Some(&known)));
        assert!(!differs(Some(&origin(1, None, "other")), Some(&known)));
        assert!(differs(Some(&origin(2, None, "admin")), Some(&known)));
        assert!(differs(Some(&origin(1, Some("bob"), "admin")), Some(&known)));
    }
}
