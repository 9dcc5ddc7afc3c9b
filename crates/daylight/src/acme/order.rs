//! One order: the names are proven, and the authority makes the certificate (RFC 8555 7.4).

use super::account;
use super::answers::{Answer, Answers};
use super::calls::Calls;
use super::failure::Failure;
use super::options::{ChallengeKind, Options};
use super::placeholder::{self, DIGEST_BYTES};
use super::shared_answers::SharedAnswers;
use crate::serve::certificate::PemFiles;
use insight::StateFile;
use instant_acme::{
    AuthorizationStatus, ChallengeHandle, ChallengeType, Identifier, NewOrder, Order as Ordered, OrderStatus,
};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use telemetry::{Clock, LongJob, Tally, Tick, lock};
use tokio::time::sleep;

/// The pause before the authority is asked again whether it has checked the names; it doubles up to [`PAUSE_MAX`].
const PAUSE: Duration = Duration::from_millis(250);
/// The longest pause, also if the authority asks for a longer one.
const PAUSE_MAX: Duration = Duration::from_secs(15);
/// How long the authority may take to check the names, and to make the certificate.
const CHECKS_MAX: Duration = Duration::from_secs(120);
/// Most proofs that an authority may want for one order. There need not be as many as names (RFC 8555 7.1.3), of which there are 100 at most.
const PROOFS_MAX: usize = 200;

/// One try.
pub(super) struct Order<'a> {
    pub(super) options: &'a Options,
    /// The host of the authority, for failures.
    pub(super) host: &'a str,
    pub(super) account: StateFile,
    pub(super) answers: &'a Arc<Answers>,
    /// Those of all nodes that share a database.
    pub(super) shared: Option<&'a SharedAnswers>,
    pub(super) calls: Calls,
    pub(super) clock: Clock,
    pub(super) job: &'a LongJob,
    /// The time between calls.
    pub(super) waits: Mutex<Tally>,
}

impl Order<'_> {
    /// Gets a certificate.
    pub(super) async fn run(&self) -> Result<PemFiles, Failure> {
        let mut order = match self.begin(false).await {
            // A company that installs its authority again forgets its accounts.
            Err(failure) if failure.is_unknown_account => self.begin(true).await,
            order => order,
        }?;
        let given = self.answers.given();
        // The answers are given until all names are checked.
        let answers = self.prove(&mut order).await?;
        let proven = self.checked(&mut order).await;
        if let Err(failure) = proven {
            return Err(self.refused(&mut order, given).await.unwrap_or(failure));
        }
        drop(answers);
        let (key, request) = placeholder::request(&self.options.names)
            .map_err(|error| Failure::new(format!("cannot make the request for the certificate: {error}")))?;
        let failed = |error: instant_acme::Error| Failure::of(&error, self.host, "cannot request the certificate");
        order.finalize_csr(&request).await.map_err(failed)?;
        let certificate = self.made(&mut order).await?;
        Ok(PemFiles { certificate: certificate.into_bytes(), key: key.into_bytes() })
    }

    /// Begins an order. `again`: with a new account, as the authority does not know that of the data folder.
    async fn begin(&self, again: bool) -> Result<Ordered, Failure> {
        self.job.moved();
        let account = account::account(self.options, self.host, &self.account, &self.calls, again).await?;
        self.job.moved();
        let identifier = |name: &String| match name.parse() {
            Ok(address) => Identifier::Ip(address),
            Err(_) => Identifier::Dns(name.clone()),
        };
        let identifiers: Vec<Identifier> = self.options.names.iter().map(identifier).collect();
        let order = account.new_order(&NewOrder::new(&identifiers)).await;
        order.map_err(|error| Failure::of(&error, self.host, "cannot order a certificate"))
    }

    /// Answers the challenge of each name that is not proven yet, and tells the authority so.
    async fn prove(&self, order: &mut Ordered) -> Result<Vec<Answer>, Failure> {
        let failed = |error: instant_acme::Error| Failure::of(&error, self.host, "cannot ask for the challenges");
        let kind = self.options.challenge;
        let of_kind = match kind {
            ChallengeKind::Http01 => ChallengeType::Http01,
            ChallengeKind::TlsAlpn01 => ChallengeType::TlsAlpn01,
        };
        let proofs = order.state().authorizations.len();
        if proofs > PROOFS_MAX {
            return Err(Failure::new(format!("`{}` wants {proofs} proofs for one order", self.host)));
        }
        let mut answers = Vec::new();
        let mut names = order.authorizations();
        while let Some(name) = names.next().await {
            self.job.moved();
            let mut name = name.map_err(failed)?;
            match name.status {
                AuthorizationStatus::Valid => continue,
                AuthorizationStatus::Pending => {}
                // What it says is read after it is over, where the reason of each challenge is told.
                _ => break,
            }
            let shown = name.identifier().to_string();
            let offered: Vec<String> = name.challenges.iter().map(|one| format!("{:?}", one.r#type)).collect();
            let Some(mut challenge) = name.challenge(of_kind.clone()) else {
                let why = format!(
                    "the authority does not check `{shown}` by {}, only by {}",
                    kind.name(),
                    offered.join(", ")
                );
                let other = match kind {
                    ChallengeKind::Http01 => "without `server.http_listen` the names are checked by tls-alpn-01",
                    ChallengeKind::TlsAlpn01 => "with `server.http_listen` the names are checked by http-01",
                };
                return Err(Failure::new(why).with_hint(other));
            };
            answers.push(self.answer(&shown, &challenge)?);
            if let (Some(shared), ChallengeKind::Http01) = (self.shared, kind) {
                shared.add(&challenge.token, challenge.key_authorization().as_str(), self.clock.now()).await;
            }
            challenge.set_ready().await.map_err(failed)?;
        }
        Ok(answers)
    }

    fn answer(&self, name: &str, challenge: &ChallengeHandle<'_>) -> Result<Answer, Failure> {
        let text = challenge.key_authorization();
        match self.options.challenge {
            ChallengeKind::Http01 => Ok(self.answers.answer_http(&challenge.token, text.as_str())),
            ChallengeKind::TlsAlpn01 => {
                let digest = text.digest();
                let digest: &[u8; DIGEST_BYTES] = digest
                    .as_ref()
                    .try_into()
                    .map_err(|_| Failure::new("the digest of a challenge has a wrong length"))?;
                let answer = self.answers.answer_tls(name, digest);
                answer.map_err(|error| Failure::new(format!("cannot answer the challenge of `{name}`: {error:#}")))
            }
        }
    }

    /// Waits until all names are checked.
    async fn checked(&self, order: &mut Ordered) -> Result<(), Failure> {
        let what = "cannot ask whether the names are checked";
        let until = Tick::now().plus(CHECKS_MAX);
        let mut pause = PAUSE;
        loop {
            let state = order.refresh().await.map_err(|error| Failure::of(&error, self.host, what))?;
            match state.status {
                OrderStatus::Pending => {}
                OrderStatus::Ready | OrderStatus::Processing | OrderStatus::Valid => return Ok(()),
                OrderStatus::Invalid => {
                    let problem = state.error.as_ref();
                    let failure = problem.map(|problem| Failure::of_problem(problem, self.host, "the order failed"));
                    return Err(failure.unwrap_or_else(|| Failure::new(format!("`{}` refuses the order", self.host))));
                }
            }
            if Tick::now() > until {
                let why = format!("`{}` has not checked the names within {} s", self.host, CHECKS_MAX.as_secs());
                return Err(Failure::slow(why).with_hint(self.options.challenge.needs()));
            }
            self.pause(&mut pause).await;
        }
    }

    /// Waits until the certificate is made, and reads it.
    async fn made(&self, order: &mut Ordered) -> Result<String, Failure> {
        let what = "cannot get the certificate that was ordered";
        let until = Tick::now().plus(CHECKS_MAX);
        let mut pause = PAUSE;
        loop {
            let certificate = order.certificate().await.map_err(|error| Failure::of(&error, self.host, what))?;
            if let Some(certificate) = certificate {
                return Ok(certificate);
            }
            if Tick::now() > until {
                let why = format!("`{}` has not made the certificate within {} s", self.host, CHECKS_MAX.as_secs());
                return Err(Failure::slow(why));
            }
            self.pause(&mut pause).await;
        }
    }

    /// Waits before the next call, which doubles the pause.
    async fn pause(&self, usual: &mut Duration) {
        self.job.moved();
        let now = self.clock.now();
        let asked = self.calls.until().map_or(0, |until| until.0.saturating_sub(now.0)).max(0);
        let began = Tick::now();
        sleep((*usual).max(Duration::from_millis(asked.unsigned_abs())).min(PAUSE_MAX)).await;
        let mut waits = lock(&self.waits);
        waits.count = waits.count.saturating_add(1);
        waits.nanos = waits.nanos.saturating_add(Tick::now().since(began));
        *usual = usual.saturating_mul(2).min(PAUSE_MAX);
    }

    /// Why a name was refused, in the words of the authority. `given`: answers before the order. `None`: it says nothing.
    async fn refused(&self, order: &mut Ordered, given: u64) -> Option<Failure> {
        let needs = self.options.challenge.needs();
        let hint = match self.answers.given() == given {
            true => format!("nobody asked this server for its answer: {needs}"),
            false => format!(
                "this server was asked and has answered, so look whether all addresses of the names lead here: {needs}"
            ),
        };
        let mut names = order.authorizations();
        for _ in 0..PROOFS_MAX {
            let Some(Ok(name)) = names.next().await else { break };
            let shown = name.identifier().to_string();
            let problem = name.challenges.iter().find_map(|challenge| challenge.error.as_ref());
            if let Some(problem) = problem {
                let what = format!("`{shown}` was checked by {} and refused", self.options.challenge.name());
                let failure = Failure::of_problem(problem, self.host, &what);
                let hint = failure.hint.clone().unwrap_or(hint);
                return Some(Failure { is_away: false, ..failure }.with_hint(hint));
            }
        }
        None
    }
}
