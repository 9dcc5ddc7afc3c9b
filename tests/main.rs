//! The program from outside: the real binary, real clients, the contract on the wire, and the tree itself.
#![expect(clippy::unwrap_used, reason = "tests stop at the first surprise")]

mod tidy;
