//! Certificates of an authority that speaks ACME (RFC 8555): the first one, and each renewal while the server runs.
//!
//! A job looks each second whether the certificate in the data folder is for the names of the settings and young enough, and orders another one
//! otherwise. Until it is there the former one stays in use, or a placeholder. [`order`] is one try; what it brings is an ordinary certificate in
//! files ([`crate::serve::certificate`]).

mod account;
mod answers;
mod calls;
mod failure;
mod figures;
mod files;
mod options;
mod order;
mod placeholder;
mod schedule;
mod shared_answers;
mod state;

pub(crate) use options::{ChallengeKind, Eab, Options};

use crate::serve::certificate::{Certificate, PemFiles};
use crate::serve::jobs::Jobs;
use account::Kept;
use answers::Answers;
use anyhow::Context as _;
use calls::Calls;
use client::Validity;
use failure::Failure;
use files::Files;
use insight::RenewalFact;
use order::Order;
use shared_answers::SharedAnswers;
use state::{State, Wanted};
use std::fmt::Display;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;
use store::Store;
use telemetry::{Clock, Event, Job, Log, LongJob, Millis, Op, Outcome, Recorder, Tally, lock};
use tokio::sync::Notify;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// How often the job looks whether a certificate is wanted.
const LOOKS: Duration = Duration::from_secs(1);
/// The longest usual time between two heartbeats of the job: a call, and the pause before it.
const EVERY: Duration = Duration::from_secs(60);
/// The longest try.
const TRY_MAX: Duration = Duration::from_secs(10 * 60);
/// The name of the job of each try.
const JOB: &str = "acme";

/// The certificate of an authority.
pub(crate) struct Acme {
    options: Options,
    /// The host of the authority.
    host: String,
    files: Files,
    certificate: Arc<Certificate>,
    answers: Arc<Answers>,
    /// Of all nodes that share a database. `None`: there is none.
    shared: Option<SharedAnswers>,
    state: Mutex<State>,
    wake: Notify,
    /// Somebody wants a try at once.
    is_asked: AtomicBool,
    /// Of this server, from 0 to 1: when within the usual time it renews.
    chance: f64,
}

impl std::fmt::Debug for Acme {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Acme").field("host", &self.host).field("names", &self.options.names).finish_non_exhaustive()
    }
}

impl Acme {
    /// Opens the folder. `name` tells the certificates of a server apart in its metrics. Nobody is asked before [`Acme::start`].
    pub(crate) fn open(options: Options, name: String, store: &Arc<Store>, log: &Log) -> anyhow::Result<Arc<Self>> {
        let files = Files::new(&options.folder);
        let folder = options.folder.display();
        if files.mend().with_context(|| format!("cannot read or write the certificate in `{folder}`"))? {
            log.info("made the files of the certificate again, whose change was interrupted", &[("folder", &folder)]);
        }
        // A text that is no key fails the start, and not the first try days later.
        if let Some(eab) = &options.eab {
            account::key_bytes(&eab.key).context("the key that `server.acme.eab_key` refers to is not base64url")?;
        }
        let host = client::host_of(&options.directory);
        let host = host.with_context(|| format!("`{}` is not the URL of an authority", options.directory))?;
        let placeholder =
            placeholder::placeholder(&options.names).context("cannot make a certificate for the names")?;
        let certificate = Certificate::open_or(name, files.certificate(), files.key(), placeholder)?;
        let mut random = [0; 4];
        getrandom::fill(&mut random).map_err(|error| anyhow::anyhow!("the system gives no random bytes: {error}"))?;
        Ok(Arc::new(Self {
            host,
            files,
            answers: Answers::new(certificate.tls()),
            shared: SharedAnswers::of(store),
            certificate,
            state: Mutex::default(),
            wake: Notify::new(),
            is_asked: AtomicBool::new(false),
            chance: f64::from(u32::from_ne_bytes(random)) / f64::from(u32::MAX),
            options,
        }))
    }

    /// The certificate in use, or the placeholder.
    pub(crate) fn certificate(&self) -> Arc<Certificate> {
        self.certificate.clone()
    }

    /// The body of `/.well-known/acme-challenge/TOKEN`. `None`: no challenge under way has this token.
    pub(crate) async fn http_answer(&self, token: &str, event: &mut Event) -> Option<String> {
        match (self.answers.http(token), &self.shared) {
            (None, Some(shared)) => shared.find(token, event).await,
            (answer, _) => answer,
        }
    }

    /// Starts the job, which lasts as long as the server.
    pub(crate) fn start(self: &Arc<Self>, jobs: &Jobs<'_>, recorder: &Arc<Recorder>, log: &Log, clock: &Clock) {
        figures::show(self, recorder);
        let (acme, recorder, log, clock) = (self.clone(), recorder.clone(), log.clone(), clock.clone());
        let work = move |job| Work { recorder: recorder.clone(), log: log.clone(), clock: clock.clone(), job };
        jobs.start(JOB, EVERY, move |job| acme.clone().run(work(job)));
    }

    /// Looks at once whether a certificate is wanted, and orders it without waiting for the end of a pause.
    pub(crate) fn try_now(&self) {
        self.is_asked.store(true, Relaxed);
        self.wake.notify_one();
    }

    /// What findings are told. `None`: the last try succeeded, or there was none.
    pub(crate) fn renewal_fact(&self) -> Option<RenewalFact> {
        lock(&self.state).fact(&self.host, &self.options.names, self.certificate.validity())
    }

    async fn run(self: Arc<Self>, work: Work) {
        loop {
            work.job.moved();
            let now = work.clock.now();
            let is_asked = self.is_asked.swap(false, Relaxed);
            if is_asked || lock(&self.state).is_over(now) {
                match self.wanted(now) {
                    Some(wanted) => self.attempt(&work, wanted).await,
                    None => lock(&self.state).settled(),
                }
            }
            let _ = timeout(LOOKS, self.wake.notified()).await;
        }
    }

    /// Why another certificate is wanted. `None`: that in use will do.
    fn wanted(&self, now: Millis) -> Option<Wanted> {
        if self.certificate.is_placeholder() {
            return Some(Wanted::First);
        }
        // A disk that does not answer has not lost it.
        if matches!(self.files.certificate().try_exists(), Ok(false)) {
            return Some(Wanted::Removed);
        }
        if let Some(name) = self.options.names.iter().find(|name| !self.certificate.is_for(name)) {
            return Some(Wanted::Name(name.clone()));
        }
        if lock(&self.state).certificate_of(&self.files.account()).is_some_and(|of| of != self.options.directory) {
            return Some(Wanted::OtherAuthority);
        }
        let renews_at = schedule::renews_at(self.certificate.validity()?, self.chance);
        (now >= renews_at).then_some(Wanted::Renewal)
    }

    /// One try, with its event.
    async fn attempt(&self, work: &Work, wanted: Wanted) {
        let mut job = Job::begin(&work.recorder, JOB);
        job.asked(&format!("acme/{}", self.host));
        job.subject.kind = wanted.kind();
        let order = Order {
            options: &self.options,
            host: &self.host,
            account: self.files.account(),
            answers: &self.answers,
            shared: self.shared.as_ref(),
            calls: Calls::new(self.options.trust.clone(), work.clock.clone()),
            clock: work.clock.clone(),
            job: &work.job,
            waits: Mutex::new(Tally::default()),
        };
        let got = tried(&order).await;
        if let Some(shared) = &self.shared {
            shared.remove_own(work.clock.now()).await;
        }
        job.add_all(Op::AcmeCall, order.calls.tally());
        job.add_all(Op::AcmeWait, *lock(&order.waits));
        let until = order.calls.until();
        let got = got.and_then(|new| self.checked(new));
        let kept = match got {
            Ok(new) => self.keep(work, &mut job, new).await,
            Err(failure) => Err(Failure { until, ..failure }),
        };
        let now = work.clock.now();
        match kept {
            Ok(()) => {
                let validity = self.certificate.validity();
                let ends = validity.map(|validity| validity.ends).unwrap_or_default();
                lock(&self.state).succeeded(&self.options.directory, validity, now);
                job.detail = format!("{wanted}; the certificate ends on {ends}");
                job.end(Outcome::Done);
                let names = self.options.names.join(", ");
                let fields: [(&str, &dyn Display); 4] =
                    [("names", &names), ("ends", &ends), ("from", &self.host), ("because", &wanted)];
                work.log.info("got a certificate", &fields);
            }
            Err(failure) => {
                let (attempts, next) = lock(&self.state).failed(&failure, now);
                job.reason = failure.reason;
                job.detail = format!("{wanted}; {}", failure.whole());
                job.end(Outcome::Failed);
                let why = failure.whole();
                let fields: [(&str, &dyn Display); 4] =
                    [("cause", &why), ("because", &wanted), ("attempts", &attempts), ("next", &next)];
                work.log.warn("cannot get a certificate", &fields);
            }
        }
    }

    /// Refuses a certificate that would be ordered again at once.
    fn checked(&self, new: PemFiles) -> Result<PemFiles, Failure> {
        let refused = |why: String| Failure::new(format!("the certificate of `{}` is not used: {why}", self.host));
        if let Err(error) = front::Tls::new(&new.certificate, &new.key) {
            return Err(refused(error.to_string()));
        }
        if Validity::read(&new.certificate).is_none() {
            return Err(refused("its validity cannot be read".to_owned()));
        }
        match self.options.names.iter().find(|name| !client::is_for(&new.certificate, name)) {
            Some(name) => Err(refused(format!("it is not for `{name}`"))),
            None => Ok(new),
        }
    }

    /// Writes the certificate and uses it.
    async fn keep(&self, work: &Work, job: &mut Job, new: PemFiles) -> Result<(), Failure> {
        let (files, certificate, log, now) =
            (self.files.clone(), self.certificate.clone(), work.log.clone(), work.clock.now());
        let directory = self.options.directory.clone();
        let write = spawn_blocking(move || {
            certificate.change(|| files.write(&new), &log, now)?;
            let account = files.account();
            if let Some(mut kept) = Kept::read(&account)? {
                kept.certificate_of = Some(directory);
                kept.write(&account)?;
            }
            anyhow::Ok(())
        });
        let written = job.during(Op::AcmeKeep, write).await.unwrap_or_else(|stopped| Err(stopped.into()));
        written.map_err(|error| Failure::of_file(&error))
    }
}

/// Gets a certificate within [`TRY_MAX`]. The client of ACME panics at some answers: that ends the try, and not the job, which would forget the
/// pause before the next one.
async fn tried(order: &Order<'_>) -> Result<PemFiles, Failure> {
    let mut run = pin!(timeout(TRY_MAX, order.run()));
    let ended = poll_fn(|cx| {
        catch_unwind(AssertUnwindSafe(|| run.as_mut().poll(cx)))
            .unwrap_or_else(|_| Poll::Ready(Ok(Err(Failure::panicked()))))
    });
    let slow = |_| Err(Failure::slow(format!("the order was not complete after {} s", TRY_MAX.as_secs())));
    ended.await.unwrap_or_else(slow)
}

/// What a try needs of the server.
struct Work {
    recorder: Arc<Recorder>,
    log: Log,
    clock: Clock,
    job: Arc<LongJob>,
}
