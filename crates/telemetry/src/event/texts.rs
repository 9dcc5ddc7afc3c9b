//! The texts of an event that may contain secrets, and how they are cleaned.

use crate::log::scrub::{scrub, scrub_in_place};
use crate::{Event, Outcome, Subject};

impl Event {
    /// Whether a text contains what looks like a secret, so that it must not be kept.
    pub fn has_secret(text: &str) -> bool {
        scrub(text, usize::MAX) != text
    }

    /// At most [`Event::TEXT_MAX`] bytes of `text`, cut between characters. Control characters are replaced, and secrets are hidden:
    /// credentials in URLs and headers, our own tokens, JWTs, and values with secret names.
    pub fn text(text: &str) -> String {
        scrub(text, Self::TEXT_MAX)
    }

    /// Hides secrets in the texts that do not come from the head of the request: errors may repeat what an upstream said. The name of
    /// something that was found stays as it is, because it is content.
    pub(crate) fn hide_secrets(&mut self) {
        scrub_in_place(&mut self.detail);
        self.members.iter_mut().for_each(|member| scrub_in_place(&mut member.detail));
        if let Some(used) = self.more.as_mut().and_then(|more| more.app.as_mut()) {
            let clean = scrub(&used.server_timing, Self::TEXT_MAX);
            if clean != *used.server_timing.as_str() {
                used.server_timing = clean.into();
            }
        }
        let found = matches!(self.outcome, Some(Outcome::Answered | Outcome::NotModified | Outcome::Redirected));
        if !found {
            let Subject { package, version, .. } = &mut self.subject;
            for text in [package, version] {
                let clean = scrub(text, usize::MAX);
                if clean != *text.as_str() {
                    *text = clean.into();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AppUse, MemberRecord, MemberSaid, Millis};

    #[test]
    fn secrets_in_errors_and_in_names_of_nothing_are_hidden() {
        let secret = "https://me:secret@host";
        let event = |outcome| {
            let mut event = Event::job("test", Millis(1));
            (event.detail, event.outcome) = (format!("{secret}: refused"), Some(outcome));
            event.subject = Subject { package: secret.into(), version: "token=secret".into(), ..Subject::default() };
            event.absorb(MemberRecord { detail: secret.into(), ..MemberRecord::new("a", MemberSaid::Failed, None) });
            let timing = AppUse { server_timing: secret.into(), ..AppUse::default() };
            event.more_mut().app = Some(Box::new(timing));
            event.hide_secrets();
            event
        };
        let failed = event(Outcome::Failed);
        assert!(!format!("{failed:?}").contains("secret"), "{failed:?}");
        assert_eq!((&*failed.detail, failed.subject.version.as_str()), ("https://***@host: refused", "token=***"));
        // Otherwise a file of that name would count as unused.
        assert_eq!(event(Outcome::Answered).subject.package, secret);
    }
}
