//! The answers to challenges that are under way. Each ends when its guard is dropped, also if a try is given up.

use super::options::ChallengeKind;
use super::placeholder;
use crate::serve::certificate::PemFiles;
use front::Tls;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use telemetry::lock;

/// The answers to challenges by request, and where the others are shown.
#[derive(Debug)]
pub(super) struct Answers {
    /// By the token of the challenge. One try runs at a time, and an order has a limit for them.
    by_token: Mutex<BTreeMap<String, String>>,
    /// Requests that got one of them.
    fetched: AtomicU64,
    tls: Arc<Tls>,
}

/// An answer that is given until this is dropped.
#[derive(Debug)]
pub(super) struct Answer {
    answers: Arc<Answers>,
    kind: ChallengeKind,
    /// The token, or the name in the handshake.
    key: String,
}

impl Answers {
    pub(super) fn new(tls: Arc<Tls>) -> Arc<Self> {
        Arc::new(Self { by_token: Mutex::default(), fetched: AtomicU64::new(0), tls })
    }

    /// The body for `/.well-known/acme-challenge/TOKEN` (RFC 8555 8.3).
    pub(super) fn http(&self, token: &str) -> Option<String> {
        let text = lock(&self.by_token).get(token).cloned()?;
        self.fetched.fetch_add(1, Relaxed);
        Some(text)
    }

    /// How often an answer was given since the start.
    pub(super) fn given(&self) -> u64 {
        self.fetched.load(Relaxed).saturating_add(self.tls.challenges_shown())
    }

    /// Answers requests with this text.
    pub(super) fn answer_http(self: &Arc<Self>, token: &str, text: &str) -> Answer {
        lock(&self.by_token).insert(token.to_owned(), text.to_owned());
        Answer { answers: self.clone(), kind: ChallengeKind::Http01, key: token.to_owned() }
    }

    /// Answers handshakes for this name.
    pub(super) fn answer_tls(
        self: &Arc<Self>,
        name: &str,
        digest: &[u8; placeholder::DIGEST_BYTES],
    ) -> anyhow::Result<Answer> {
        let PemFiles { certificate, key } = placeholder::of_challenge(name, digest)?;
        let name = placeholder::name_in_handshake(name);
        self.tls.show_challenge(&name, &certificate, &key)?;
        Ok(Answer { answers: self.clone(), kind: ChallengeKind::TlsAlpn01, key: name })
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        match self.kind {
            ChallengeKind::Http01 => drop(lock(&self.answers.by_token).remove(&self.key)),
            ChallengeKind::TlsAlpn01 => self.answers.tls.hide_challenge(&self.key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_given_until_the_try_has_ended() {
        let PemFiles { certificate, key } = placeholder::placeholder(&["a.example".to_owned()]).unwrap();
        let answers = Answers::new(Tls::new(&certificate, &key).unwrap());
        assert_eq!(answers.http("token"), None);
        let answer = answers.answer_http("token", "token.thumbprint");
        assert_eq!((answers.http("token").as_deref(), answers.given()), (Some("token.thumbprint"), 1));
        assert_eq!([answers.http(""), answers.http("toke"), answers.http(&"t".repeat(300))], [None, None, None]);
        drop(answer);
        assert_eq!((answers.http("token"), answers.given()), (None, 1), "only an answer counts");
        let digest = [7; placeholder::DIGEST_BYTES];
        drop(answers.answer_tls("a.example", &digest).unwrap());
    }
}
