//! Hands the listening sockets over to the next program, so that a restart refuses no connection: new clients wait in the backlogs of
//! the sockets meanwhile.
//!
//! A restart keeps the process and replaces its program (execve). Supervisors do not notice it, and the lock of the data folder
//! is free for the new program. A single socket becomes the standard input of the new program, as this is the only descriptor with
//! a fixed meaning; beside that of plain HTTP, a message on standard input has both. Others may pass a socket in the same way (systemd:
//! `StandardInput=socket`), or several from descriptor 3 on (sd_listen_fds(3)).

use super::descriptor_message;
use crate::config::Environment;
use anyhow::{Context, bail};
use front::Listener;
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Stdio;
use telemetry::Log;

/// The first descriptor that systemd passes.
const FIRST_PASSED: i32 = 3;
/// Most sockets that are taken.
const PASSED_MAX: u32 = 64;
/// The name of sockets of systemd for plain HTTP (`FileDescriptorName=`).
const HTTP: &str = "http";

/// The sockets of a server.
#[derive(Debug, Default)]
pub(crate) struct Sockets {
    /// Those of its own address.
    pub(crate) own: Option<Listener>,
    /// Those of plain HTTP beside TLS.
    pub(crate) http: Option<Listener>,
    /// Whether there are some for plain HTTP that the settings do not want.
    pub(crate) has_unused_http: bool,
}

/// The text of the message to the next program.
#[derive(Debug, Serialize, Deserialize)]
struct Message {
    /// The process, which stays the same: another one that gets the message by accident ignores it.
    daylight_serve: u32,
    /// Whether each descriptor is of plain HTTP.
    http: Vec<bool>,
}

impl Sockets {
    /// The sockets that were passed to this process. `http_listen`: the address of the settings for plain HTTP.
    pub(crate) fn passed(environment: &Environment, http_listen: Option<SocketAddr>) -> anyhow::Result<Self> {
        let input = std::io::stdin();
        let sockets = match Self::receive(input.as_fd())? {
            Some(sockets) => Some(sockets),
            None => Listener::inherited(input.as_fd())?.map(|own| Self { own: Some(own), ..Self::default() }),
        };
        if let Some(sockets) = sockets {
            // Otherwise it would stay open as standard input, in this process and its children.
            rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
            return Ok(sockets);
        }
        Self::of_systemd(environment, http_listen)
    }

    /// Those of a message. `None`: it is another input.
    fn receive(input: BorrowedFd<'_>) -> anyhow::Result<Option<Self>> {
        let Some((message, descriptors)) = descriptor_message::receive::<Message>(input) else { return Ok(None) };
        if message.daylight_serve != std::process::id() {
            return Ok(None);
        }
        let mut sockets = Self::default();
        for (is_http, descriptor) in message.http.into_iter().zip(descriptors) {
            Listener::inherited(descriptor.as_fd())?.into_iter().for_each(|listener| sockets.add(listener, is_http));
        }
        Ok(Some(sockets))
    }

    /// Those of systemd. Of plain HTTP are those with that name, and those with the port of the settings.
    fn of_systemd(environment: &Environment, http_listen: Option<SocketAddr>) -> anyhow::Result<Self> {
        let (count, names) = environment.passed_sockets(std::process::id());
        if count > PASSED_MAX {
            bail!("`LISTEN_FDS` announces {count} sockets, but the server takes at most {PASSED_MAX}");
        }
        let mut sockets = Self::default();
        let mut names = names.into_iter();
        for number in (FIRST_PASSED..).take(count as usize) {
            let passed = pidfd_open(getpid(), PidfdFlags::empty())
                // A copy, as no value in this program owns the descriptor.
                .and_then(|myself| pidfd_getfd(myself, number, PidfdGetfdFlags::empty()))
                .with_context(|| format!("cannot take the socket {number} that `LISTEN_FDS` announces"))?;
            let listener = Listener::inherited(passed.as_fd())?.with_context(|| {
                format!("descriptor {number} that `LISTEN_FDS` announces is not a listening TCP socket")
            })?;
            let is_named = names.next().is_some_and(|name| name == HTTP);
            if is_named && http_listen.is_none() {
                sockets.has_unused_http = true;
                continue;
            }
            let port = listener.local_addr()?.port();
            sockets.add(listener, is_named || http_listen.is_some_and(|address| address.port() == port));
        }
        Ok(sockets)
    }

    fn add(&mut self, listener: Listener, is_http: bool) {
        let place = if is_http { &mut self.http } else { &mut self.own };
        *place = Some(match place.take() {
            Some(others) => others.and(listener),
            None => listener,
        });
    }

    /// The standard input with which the next program takes the sockets over.
    pub(crate) fn input(self) -> anyhow::Result<Stdio> {
        match self {
            Self { own: Some(own), http: Some(http), .. } => Ok(send(&own, &http, std::process::id())?.into()),
            // Several sockets can only be systemd's, whose descriptors and variables stay.
            Self { own: Some(own), http: None, .. } if !own.is_several() => Ok(OwnedFd::from(own).into()),
            _ => Ok(Stdio::null()),
        }
    }
}

fn send(own: &Listener, http: &Listener, process: u32) -> anyhow::Result<OwnedFd> {
    let all: Vec<_> = own
        .sockets()
        .map(|socket| (socket.as_fd(), false))
        .chain(http.sockets().map(|socket| (socket.as_fd(), true)))
        .collect();
    let message = Message { daylight_serve: process, http: all.iter().map(|(_, is_http)| *is_http).collect() };
    descriptor_message::send(&message, &all.iter().map(|(socket, _)| *socket).collect::<Vec<_>>())
}

/// Warns if the address in the settings has changed since this process began: a reload and a restart keep the socket.
pub(crate) fn warn_of_listen(
    serving: SocketAddr,
    began_with: SocketAddr,
    now: &dyn Fn() -> anyhow::Result<SocketAddr>,
    log: &Log,
) {
    // A mistake in the settings is reported elsewhere.
    let Ok(now) = now() else { return };
    let same = now.ip() == serving.ip() && [0, serving.port()].contains(&now.port());
    if now != began_with && !same {
        let message = "`server.listen` has changed: stop and start the server to listen there";
        log.warn(message, &[("listening", &serving), ("wanted", &now)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound() -> Listener {
        Listener::bind(([127, 0, 0, 1], 0).into()).unwrap()
    }

    #[test]
    fn the_next_program_gets_the_sockets_of_both_kinds_and_another_process_none() {
        let (own, http) = (bound().and(bound()), bound());
        let message = send(&own, &http, std::process::id()).unwrap();
        let passed = Sockets::receive(message.as_fd()).unwrap().unwrap();
        assert_eq!(passed.own.unwrap().local_addrs().unwrap(), own.local_addrs().unwrap());
        assert_eq!(passed.http.unwrap().local_addrs().unwrap(), http.local_addrs().unwrap());
        let other = send(&own, &http, std::process::id() + 1).unwrap();
        assert!(Sockets::receive(other.as_fd()).unwrap().is_none());
        assert!(Sockets::receive(File::open("/dev/null").unwrap().as_fd()).unwrap().is_none());
    }
}
