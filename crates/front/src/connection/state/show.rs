//! Shows the table of open requests how far the replies of a connection are.

use super::ConnectionState;
use crate::body::delivery::Delivery;
use std::rc::Rc;

impl ConnectionState {
    /// A turn of the connection ends. Replies that are not sent are in the table of open requests.
    pub(crate) fn end_turn(&self) {
        if !self.pending.borrow().is_empty() {
            self.pending.borrow_mut().iter_mut().for_each(|one| one.show(self.recorder.open_requests()));
        }
    }

    /// The reply of this `delivery` waits, and not in a turn of the connection.
    pub(crate) fn show_reply(&self, delivery: &Rc<Delivery>) {
        let mut pending = self.pending.borrow_mut();
        if let Some(one) = pending.iter_mut().rev().find(|one| Rc::ptr_eq(&one.delivery, delivery)) {
            one.show(self.recorder.open_requests());
        }
    }
}
