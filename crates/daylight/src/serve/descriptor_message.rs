//! A message that a program leaves for its next one: a text and open descriptors, on a pair of sockets of which the next program has one end
//! as its standard input.
//!
//! The kernel keeps the descriptors inside the message, so no other program that is started gets them, and nothing of it is in the
//! environment.

use anyhow::ensure;
use rustix::net::sockopt::{socket_domain, socket_type};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};

/// The most descriptors of a message; the kernel takes 253.
const DESCRIPTORS_MAX: usize = 250;
/// The most bytes of a message.
const BYTES_MAX: usize = 16 << 10;

/// Reads the message. `None`: it is another input, or another kind of message. Whether it is for this process, the text tells.
pub(crate) fn receive<T: DeserializeOwned>(input: BorrowedFd<'_>) -> Option<(T, Vec<OwnedFd>)> {
    let ours = socket_domain(input).is_ok_and(|domain| domain == AddressFamily::UNIX)
        && socket_type(input).is_ok_and(|kind| kind == SocketType::SEQPACKET);
    if !ours {
        return None;
    }
    let mut space = vec![MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let (mut control, mut text) = (RecvAncillaryBuffer::new(&mut space), vec![0; BYTES_MAX]);
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    let received = recvmsg(input, &mut [IoSliceMut::new(&mut text)], &mut control, flags).ok()?;
    let message = serde_json::from_slice(text.get(..received.bytes).unwrap_or_default()).ok()?;
    let mut descriptors: Vec<OwnedFd> = Vec::new();
    for part in control.drain() {
        if let RecvAncillaryMessage::ScmRights(all) = part {
            descriptors.extend(all);
        }
    }
    Some((message, descriptors))
}

/// Sends the message. Returns the end that has it.
pub(crate) fn send(message: &impl Serialize, descriptors: &[BorrowedFd<'_>]) -> anyhow::Result<OwnedFd> {
    let text = serde_json::to_vec(message)?;
    ensure!(
        descriptors.len() <= DESCRIPTORS_MAX && text.len() <= BYTES_MAX,
        "there are too many listening sockets to pass them on"
    );
    let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    let mut space = vec![MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    ensure!(control.push(SendAncillaryMessage::ScmRights(descriptors)), "the sockets do not fit");
    sendmsg(ours, &[IoSlice::new(&text)], &mut control, SendFlags::empty())?;
    Ok(theirs)
}
