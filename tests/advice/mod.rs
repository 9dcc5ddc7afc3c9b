//! Advice that is taken: for each incident of `findings` that has a change to make, the change is made, the server starts again where that is
//! needed, and the same load comes once more. What was lost is gone, and as much as was promised.
//!
//! Those whose cost is made by upstreams that wait run always; the others, whose cost is real work, with `DAYLIGHT_ADVICE=1`.

mod caches;
mod groups;
mod pools;
mod stage;

/// Whether the long ones run, too.
fn widely() -> bool {
    std::env::var_os("DAYLIGHT_ADVICE").is_some()
}
