//! The links of each core: one to each server, whose task begins with the first read.

use super::Trouble;
use super::asked::{Asked, Call, Kind};
use super::driver::drive;
use super::host::Host;
use super::link::{Driven, Link};
use bytes::Bytes;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use telemetry::Tick;
use tokio::task::spawn_local;

thread_local!(static HERE: RefCell<Vec<Option<Rc<Link>>>> = const { RefCell::new(Vec::new()) });

/// Asks a server for the item of a key. Its answer goes to `call`.
pub(super) fn push(
    host: &Arc<Host>,
    call: &Rc<Call>,
    at: usize,
    key: &Bytes,
    kind: Kind,
    now: Tick,
) -> Result<(), Trouble> {
    let link = here(host.number()).ok_or(Trouble::Unreachable)?;
    if !link.is_driven.get() {
        let place = host.connections().enter().map_err(|_| Trouble::Busy)?;
        link.is_driven.set(true);
        spawn_local(drive(host.clone(), Driven(link.clone()), place));
    }
    let deadline = now.plus(host.timeout());
    let asked = Asked { call: Some(call.clone()), at, key: key.clone(), kind, deadline };
    link.waiting.borrow_mut().push(asked);
    let driver = link.driver.take();
    if let Some(waker) = driver {
        waker.wake();
    }
    Ok(())
}

/// The link of this core to the server with this number.
fn here(number: usize) -> Option<Rc<Link>> {
    let link = HERE.try_with(|here| {
        let mut here = here.borrow_mut();
        if here.len() <= number {
            here.resize(number + 1, None);
        }
        here.get_mut(number).map(|link| link.get_or_insert_default().clone())
    });
    link.ok().flatten()
}
