//! The upstream of each remote repository, made when it is first needed and again when its settings are others.

use super::Failure;
use crate::{BadSetting, References, Repository};
use client::{HostState, Hosts, Pem, ProxyOptions, Upstream, UpstreamOptions};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use store::{RemoteRecord, RepositoryId};

/// Upstreams by the repositories that stand for them.
#[derive(Debug)]
pub(super) struct Upstreams {
    hosts: Arc<Hosts>,
    references: Arc<dyn References>,
    made: Mutex<HashMap<RepositoryId, (RemoteRecord, Arc<Upstream>)>>,
}

impl Upstreams {
    pub(super) fn new(hosts: Arc<Hosts>, references: Arc<dyn References>) -> Self {
        Self { hosts, references, made: Mutex::default() }
    }

    /// The upstream of a repository as it is set. It may read files.
    pub(super) fn of(&self, repository: &Repository) -> Result<Arc<Upstream>, Failure> {
        let Some(record) = &repository.record.remote else {
            let text = format!("`{}` has no upstream", repository.record.name);
            return Err(BadSetting::new(text, "`daylight repo set NAME --remote URL`").into());
        };
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, upstream)) = made.get(&repository.id).filter(|(of, _)| of == record) {
            return Ok(upstream.clone());
        }
        let upstream = Arc::new(self.make(record)?);
        made.insert(repository.id, (record.clone(), upstream.clone()));
        Ok(upstream)
    }

    /// Has the credentials read again before the next call: they were refused, and may have been renewed.
    pub(super) fn read_again(&self, repository: &Repository) {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).remove(&repository.id);
    }

    /// How the hosts stand, and which repositories have theirs on each, as far as those have been asked for anything.
    pub(super) fn states(&self) -> Vec<(HostState, Vec<RepositoryId>)> {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let hosts = |upstream: &Upstream| upstream.states().into_iter().map(|state| state.host).collect::<Vec<_>>();
        let of: Vec<_> = made.iter().map(|(id, (_, upstream))| (*id, hosts(upstream))).collect();
        let on = |host: &String| of.iter().filter(|(_, hosts)| hosts.contains(host)).map(|(id, _)| *id).collect();
        self.hosts.states().into_iter().map(|state| (on(&state.host), state)).map(|(ids, state)| (state, ids)).collect()
    }

    /// Looks whether an upstream can be made of these settings. It may read files, and calls nobody.
    pub(super) fn check(&self, record: &RemoteRecord) -> Result<(), BadSetting> {
        let unusable = |error: client::Error| {
            let hint = error.hint().unwrap_or("look at the settings of `remote`").to_owned();
            BadSetting::new(error.to_string(), &hint)
        };
        Upstream::new(self.options(record)?, self.hosts.clone()).map(drop).map_err(unusable)
    }

    fn make(&self, record: &RemoteRecord) -> Result<Upstream, Failure> {
        Ok(Upstream::new(self.options(record)?, self.hosts.clone())?)
    }

    /// The settings with what they refer to.
    fn options(&self, record: &RemoteRecord) -> Result<UpstreamOptions, BadSetting> {
        let secret = |reference: &Option<String>| {
            reference.as_deref().map(|reference| self.references.secret(reference)).transpose()
        };
        let pem =
            |path: &Option<String>| path.as_deref().map(|path| self.references.pem(path).map(Pem::from)).transpose();
        let proxy_credentials = secret(&record.proxy_credentials)?;
        Ok(UpstreamOptions {
            urls: record.urls.clone(),
            credentials: secret(&record.credentials)?,
            proxy: record.proxy.clone().map(|url| ProxyOptions { url, credentials: proxy_credentials }),
            trust: pem(&record.trust)?,
            certificate: pem(&record.certificate)?,
        })
    }
}
