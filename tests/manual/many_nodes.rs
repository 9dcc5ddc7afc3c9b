//! The stage of the page about many nodes: a server alone, and the balancers that read their configurations. `tests/cluster/balanced.rs` runs
//! these in front of three nodes.

use super::pages;
use super::stage::Stage;
use crate::world::{BalancerProduct, free_port};

pub(super) fn stage() -> Stage {
    pages::plain().reads("haproxy", |_, text| BalancerProduct::HaProxy.reads(text)).reads("nginx", |_, text| {
        // nginx opens its sockets before it says that a configuration is good.
        let here = format!("127.0.0.1:{}", free_port());
        BalancerProduct::Nginx.reads(&text.replace("10.0.0.10:8080", &here))
    })
}
