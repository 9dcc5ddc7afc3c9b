//! What commands say about the bytes that a removal frees.

use store::Frees;

/// In the words of every command.
pub(crate) fn said_frees(frees: Frees) -> String {
    let Frees { size_bytes, on } = frees;
    on.map_or_else(|| format!("frees {size_bytes} bytes"), |on| format!("frees {size_bytes} bytes on {on}"))
}
