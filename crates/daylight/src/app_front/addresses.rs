//! The listening addresses of applications: one for each distinct `listen`, with the applications that have it and their certificate.

use super::STARTS_WITHIN;
use super::passed_on::PassedOn;
use super::served_apps::ServedApps;
use crate::config::{Settings, TlsFiles};
use crate::instance::Instance;
use crate::route::public_url::proxies;
use crate::serve::certificate::Certificate;
use crate::serve::door::Door;
use crate::serve::running::url;
use apps::{AppOptions, Apps};
use front::Listener;
use std::net::SocketAddr;
use std::sync::Arc;

/// The sockets and certificates of all addresses, before the data folder is open.
pub(super) struct Addresses(Vec<Address>);

struct Address {
    listener: Listener,
    certificate: Option<Arc<Certificate>>,
    apps: Vec<AppOptions>,
}

/// The applications of each distinct address, in the order of the settings. `port`: that of the command, which is the backend of the only
/// application.
pub(super) fn groups(settings: &Settings, port: Option<u16>) -> Vec<(SocketAddr, Vec<AppOptions>)> {
    let mut groups: Vec<(SocketAddr, Vec<AppOptions>)> = Vec::new();
    for app in &settings.apps {
        let mut options = AppOptions { spool_folder: settings.store.data.clone(), ..app.options.clone() };
        if options.to.is_empty() {
            // While settings are only checked, there is no command and no port.
            options.to.push(format!("http://127.0.0.1:{}", port.unwrap_or(1)));
            options.starts_within = Some(STARTS_WITHIN);
        }
        // Each port 0 is another port.
        match groups.iter_mut().find(|(address, _)| *address == app.listen && app.listen.port() != 0) {
            Some((_, apps)) => apps.push(options),
            None => groups.push((app.listen, vec![options])),
        }
    }
    groups
}

/// All addresses of the settings: that of the admin side, and those of applications.
pub(super) fn wanted(settings: &Settings) -> Vec<SocketAddr> {
    let of_apps = groups(settings, None).into_iter().map(|(address, _)| address);
    std::iter::once(settings.server.listen).chain(of_apps).collect()
}

/// The certificates of addresses, each by its address. Applications of one address have the same.
pub(super) fn certificates(settings: &Settings) -> anyhow::Result<Vec<(SocketAddr, Arc<Certificate>)>> {
    let mut certificates: Vec<(SocketAddr, Arc<Certificate>)> = Vec::new();
    for app in &settings.apps {
        let Some(TlsFiles { certificate, key }) = app.tls.clone() else { continue };
        if certificates.iter().any(|(address, _)| *address == app.listen && address.port() != 0) {
            continue;
        }
        certificates.push((app.listen, Certificate::open(app.listen.to_string(), certificate, key)?));
    }
    Ok(certificates)
}

impl Addresses {
    /// Binds each address, or takes the socket that was passed on for it.
    pub(super) fn bind(settings: &Settings, port: Option<u16>, passed: &mut PassedOn) -> anyhow::Result<Self> {
        let mut certificates = certificates(settings)?;
        let mut addresses = Vec::new();
        for (wanted, apps) in groups(settings, port) {
            let listener = passed.listener(wanted).map_or_else(|| Listener::bind(wanted), Ok)?;
            let at = certificates.iter().position(|(address, _)| *address == wanted);
            let certificate = at.map(|at| certificates.remove(at).1);
            addresses.push(Address { listener, certificate, apps });
        }
        Ok(Self(addresses))
    }

    /// Makes the applications of each address, and the doors to them.
    pub(super) fn open(self, instance: &Instance, settings: &Settings) -> anyhow::Result<Vec<Door>> {
        let (mut doors, mut served) = (Vec::new(), Vec::new());
        for Address { listener, certificate, apps, .. } in self.0 {
            let apps = Apps::new(apps, &proxies(&settings.server), &instance.app.recorder)?;
            instance.back.spawn(apps.clone().watch());
            served.push((url(listener.local_addr()?, certificate.is_some()), apps.clone()));
            doors.push(Door { listener, certificate, handler: apps });
        }
        drop(instance.app.apps.set(ServedApps::new(served)));
        Ok(doors)
    }
}
