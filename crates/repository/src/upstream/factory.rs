//! Builds the upstream of each remote repository when it is first needed, and again when its settings change.

use crate::bad_setting::BadSetting;
use crate::record::RemoteRecord;
use crate::references::References;
use crate::repository::Repository;
use crate::upstream::failure::Failure;
use crate::upstream::trouble::Trouble;
use crate::upstream::upstream_cell::UpstreamCell;
use crate::upstream::{Remote, Remotes};
use client::{Apart, HostState, Hosts, Pem, ProxyOptions, Secret, Upstream, UpstreamOptions, Zone};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use store::Lane;
use telemetry::{Event, Op};

/// Calls to a hub at a time. It holds each answer whole in memory, and one look makes one call after the other.
const HUB_CALLS: usize = 2;

/// Builds upstreams.
#[derive(Debug)]
pub(crate) struct UpstreamFactory {
    hosts: Arc<Hosts>,
    references: Arc<dyn References>,
}

/// The two services of an upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Service {
    /// The files, which every upstream has.
    Files,
    /// The hub of a Koji repository. Its troubles are not those of the files, even on the same host.
    Hub,
}

impl Service {
    /// Its URLs; none: the repository has no such service.
    fn urls(self, record: &RemoteRecord) -> &[String] {
        match (self, &record.koji) {
            (Service::Files, None) => &record.urls,
            (Service::Files, Some(koji)) => std::slice::from_ref(&koji.files),
            (Service::Hub, Some(koji)) => std::slice::from_ref(&koji.hub),
            (Service::Hub, None) => &[],
        }
    }

    fn apart(self) -> Option<Apart> {
        (self == Service::Hub).then_some(Apart { name: "hub", calls: HUB_CALLS })
    }
}

impl Remote {
    /// Whether the upstream did not answer recently, so that the next call is a trial.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.repository.shared.upstream.is_in_doubt()
    }

    /// The upstream with the present settings of the repository: of a Koji repository, its files.
    pub(crate) async fn upstream(&self, event: &mut Event) -> Result<Arc<Upstream>, Trouble> {
        self.made(&self.repository.shared.upstream, Service::Files, event).await
    }

    /// The hub of a Koji repository.
    pub(crate) async fn hub(&self, event: &mut Event) -> Result<Arc<Upstream>, Trouble> {
        self.made(&self.repository.shared.hub, Service::Hub, event).await
    }

    /// Secrets and certificates are read on a thread of their own, because their disk may hang.
    async fn made(&self, cell: &UpstreamCell, service: Service, event: &mut Event) -> Result<Arc<Upstream>, Trouble> {
        let repository = &self.repository;
        let Some(record) = repository.record.remote.as_deref().filter(|record| !service.urls(record).is_empty()) else {
            return Err(Failure::unset(&repository.record.name).into());
        };
        let mut made = event.waited(Op::TurnWait, cell.0.lock()).await;
        if let Some((_, upstream)) = made.as_ref().filter(|(of, _)| of == record) {
            return Ok(upstream.clone());
        }
        let (remotes, of) = (self.remotes.clone(), record.clone());
        let pinned = self.remotes.store.pins(repository.origin, event).await?;
        let pinned = pinned.into_iter().filter_map(|(host, zone)| Some((host, Zone::named(&zone)?))).collect();
        let make = move |_: &mut ()| remotes.upstreams.make(&of, service, pinned);
        let upstream = self.remotes.workers.run(Lane::Change, Op::ReferencesRead, event, make).await??;
        let upstream = Arc::new(upstream);
        *made = Some((record.clone(), upstream.clone()));
        Ok(upstream)
    }

    /// Pins the networks of upstream hosts that were resolved for the first time.
    pub(crate) async fn pin(&self, upstream: &Upstream, event: &mut Event) -> Result<(), store::Error> {
        for (host, zone) in upstream.newly_pinned() {
            self.remotes.store.pin(self.repository.origin, host, zone.as_str(), event).await?;
        }
        Ok(())
    }

    /// Makes the next call read the credentials again. The upstream refused them, and they may have been renewed.
    pub(crate) async fn read_again(&self) {
        *self.repository.shared.upstream.0.lock().await = None;
    }
}

impl Remotes {
    /// Deletes the pinned networks of a repository's upstream hosts, because an administrator confirmed the settings.
    /// The next call pins them again.
    pub(crate) async fn pin_anew(&self, repository: &Repository, event: &mut Event) -> Result<(), store::Error> {
        let mut made = repository.shared.upstream.0.lock().await;
        *made = None;
        *repository.shared.hub.0.lock().await = None;
        self.store.unpin(repository.id, event).await
    }
}

impl UpstreamFactory {
    pub(crate) fn new(hosts: Arc<Hosts>, references: Arc<dyn References>) -> Self {
        Self { hosts, references }
    }

    /// Divides the calls to each host among this number of nodes.
    pub(crate) fn share(&self, nodes: u64) {
        self.hosts.share(nodes);
    }

    /// The state of each host that was called, and the repositories that use it.
    pub(crate) fn states<'a>(
        &self,
        repositories: impl Iterator<Item = &'a Arc<Repository>>,
    ) -> Vec<(HostState, Vec<String>)> {
        let mut of: HashMap<String, BTreeSet<String>> = HashMap::new();
        for one in repositories {
            if let Some(remote) = one.record.remote.as_deref() {
                let hosts = |service: Service| {
                    let urls = service.urls(remote).iter();
                    let hosts = urls.filter_map(|url| client::host_of(url));
                    hosts.map(move |host| {
                        service.apart().map_or_else(|| host.clone(), |apart| format!("{host} ({})", apart.name))
                    })
                };
                for host in hosts(Service::Files).chain(hosts(Service::Hub)) {
                    of.entry(host).or_default().insert(one.record.name.clone());
                }
            }
        }
        let on = |host: &String| of.get(host).into_iter().flatten().cloned().collect();
        self.hosts.states().into_iter().map(|state| (on(&state.host), state)).map(|(on, state)| (state, on)).collect()
    }

    /// The secret behind a reference. This may read a file.
    pub(crate) fn secret(&self, reference: &str) -> Result<Secret, BadSetting> {
        self.references.secret(reference)
    }

    /// Checks whether an upstream can be built from these settings. This may read files, and makes no call.
    pub(crate) fn check(&self, record: &RemoteRecord) -> Result<(), BadSetting> {
        let unusable = |error: client::Error| {
            let hint = error.hint().unwrap_or("look at the settings of `remote`").to_owned();
            BadSetting::new(error.to_string(), &hint)
        };
        for service in [Service::Files, Service::Hub] {
            if !service.urls(record).is_empty() {
                let options = self.options(record, service, Vec::new())?;
                Upstream::new(options, self.hosts.clone()).map(drop).map_err(unusable)?;
            }
        }
        Ok(())
    }

    fn make(&self, record: &RemoteRecord, service: Service, pinned: Vec<(String, Zone)>) -> Result<Upstream, Failure> {
        Ok(Upstream::new(self.options(record, service, pinned)?, self.hosts.clone())?)
    }

    /// The settings, with the secrets and certificates that they refer to.
    fn options(
        &self,
        record: &RemoteRecord,
        service: Service,
        pinned: Vec<(String, Zone)>,
    ) -> Result<UpstreamOptions, BadSetting> {
        let secret = |reference: &Option<String>| {
            reference.as_deref().map(|reference| self.references.secret(reference)).transpose()
        };
        let pem =
            |path: &Option<String>| path.as_deref().map(|path| self.references.pem(path).map(Pem::from)).transpose();
        // A hub answers without a login, so nobody who runs one learns the credentials of the files.
        let is_hub = service == Service::Hub;
        let proxy_credentials = secret(&record.proxy_credentials)?;
        Ok(UpstreamOptions {
            urls: service.urls(record).to_vec(),
            credentials: if is_hub { None } else { secret(&record.credentials)? },
            proxy: record.proxy.clone().map(|url| ProxyOptions {
                url,
                credentials: proxy_credentials,
                except: record.no_proxy.clone().unwrap_or_default(),
            }),
            trust: pem(&record.trust)?,
            certificate: if is_hub { None } else { pem(&record.certificate)? },
            pinned,
            apart: service.apart(),
        })
    }
}
