//! `FUZZ_TARGET=name fuzz ...`: libFuzzer around one of the targets. `scripts/fuzz` builds and runs it.
#![no_main]

mod targets;

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static TARGET: LazyLock<targets::Target> = LazyLock::new(|| {
    let wanted = std::env::var("FUZZ_TARGET").unwrap_or_default();
    let found = targets::ALL.iter().find(|(name, _)| *name == wanted);
    found.unwrap_or_else(|| panic!("FUZZ_TARGET is not a target: {wanted:?}")).1
});

fuzz_target!(|bytes: &[u8]| TARGET(bytes));
