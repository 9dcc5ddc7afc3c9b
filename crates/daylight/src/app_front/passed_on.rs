//! What a front passes on to its next program: its listening sockets with the addresses that they are for, and its command.

use crate::serve::descriptor_message;
use anyhow::Context as _;
use front::Listener;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Stdio;

/// The text of the message.
#[derive(Debug, Serialize, Deserialize)]
struct Message {
    /// The process, which stays the same: another one that gets the message by accident ignores it.
    daylight_front: u32,
    /// The addresses of the settings, each of one socket.
    sockets: Vec<SocketAddr>,
    command: Option<PassedCommand>,
}

/// A command that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PassedCommand {
    /// Its process, which is a child of this one.
    pub(super) process: u32,
    /// The port that it was told.
    pub(super) port: u16,
}

impl PassedCommand {
    /// Asks it to end, as nobody takes it over.
    pub(super) fn terminate(&self) {
        let id = i32::try_from(self.process).ok().and_then(Pid::from_raw);
        let pidfd = id.and_then(|id| pidfd_open(id, PidfdFlags::empty()).ok());
        let _ = pidfd.map(|pidfd| pidfd_send_signal(pidfd, Signal::TERM));
    }
}

/// What the former program left.
#[derive(Debug, Default)]
pub(crate) struct PassedOn {
    sockets: Vec<(SocketAddr, Listener)>,
    pub(super) command: Option<PassedCommand>,
}

impl PassedOn {
    /// Reads the message on standard input, if a former program of this process sent it.
    pub(crate) fn take() -> anyhow::Result<Self> {
        let passed = Self::receive(std::io::stdin().as_fd()).context("cannot take over from the former program")?;
        if passed.is_some() {
            rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
        }
        Ok(passed.unwrap_or_default())
    }

    /// `None`: it is another input.
    fn receive(input: BorrowedFd<'_>) -> anyhow::Result<Option<Self>> {
        let Some((message, descriptors)) = descriptor_message::receive::<Message>(input) else { return Ok(None) };
        if message.daylight_front != std::process::id() {
            return Ok(None);
        }
        let mut sockets = Vec::new();
        for (address, descriptor) in message.sockets.into_iter().zip(descriptors) {
            sockets.extend(Listener::inherited(descriptor.as_fd())?.map(|listener| (address, listener)));
        }
        Ok(Some(Self { sockets, command: message.command }))
    }

    /// The socket for an address of the settings.
    pub(super) fn listener(&mut self, address: SocketAddr) -> Option<Listener> {
        let at = self.sockets.iter().position(|(wanted, _)| *wanted == address)?;
        Some(self.sockets.remove(at).1)
    }
}

/// The standard input with which the next program gets the sockets and the command.
pub(super) fn input(sockets: Vec<(SocketAddr, Listener)>, command: Option<PassedCommand>) -> anyhow::Result<Stdio> {
    Ok(send(sockets, command, std::process::id())?.into())
}

fn send(sockets: Vec<(SocketAddr, Listener)>, command: Option<PassedCommand>, process: u32) -> anyhow::Result<OwnedFd> {
    let (addresses, listeners): (Vec<SocketAddr>, Vec<Listener>) = sockets.into_iter().unzip();
    let message = Message { daylight_front: process, sockets: addresses, command };
    descriptor_message::send(&message, &listeners.iter().map(AsFd::as_fd).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    fn bound() -> (SocketAddr, Listener) {
        let listener = Listener::bind(([127, 0, 0, 1], 0).into()).unwrap();
        (listener.local_addr().unwrap(), listener)
    }

    #[test]
    fn the_next_program_gets_every_socket_for_its_address_and_the_command() {
        let (one, two) = (bound(), bound());
        let (first, second, any) = (one.0, two.0, SocketAddr::from(([127, 0, 0, 1], 0)));
        let command = Some(PassedCommand { process: 7, port: 8 });
        let passed = send(vec![(any, one.1), (second, two.1)], command, std::process::id()).unwrap();
        let mut passed = PassedOn::receive(passed.as_fd()).unwrap().unwrap();
        assert_eq!(passed.command, command);
        assert_eq!(passed.listener(second).unwrap().local_addr().unwrap(), second);
        assert_eq!(passed.listener(any).unwrap().local_addr().unwrap(), first, "by the address of the settings");
        assert!(passed.listener(second).is_none(), "each is taken once");
    }

    #[test]
    fn another_input_and_a_message_for_another_process_are_ignored() {
        let file = File::open("/dev/null").unwrap();
        assert!(PassedOn::receive(file.as_fd()).unwrap().is_none());
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap();
        assert!(PassedOn::receive(theirs.as_fd()).unwrap().is_none(), "an empty one");
        rustix::io::write(&ours, b"hello").unwrap();
        assert!(PassedOn::receive(theirs.as_fd()).unwrap().is_none());
        let other = send(vec![bound()], None, std::process::id() + 1).unwrap();
        assert!(PassedOn::receive(other.as_fd()).unwrap().is_none());
    }
}
