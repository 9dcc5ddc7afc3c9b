//! What is declared as an operation or a bound is also timed or filled somewhere. A name nobody uses would
//! promise a figure that never moves.

use super::{Source, nothing_wrong, sources};
use telemetry::{BoundName, Op};

fn unused<T: std::fmt::Debug>(kind: &str, all: &[T], declared_in: &str, sources: &[Source]) -> Vec<String> {
    let used = |name: &str| {
        let path = format!("{kind}::{name}");
        let whole_word = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
        sources
            .iter()
            .filter(|source| source.path != declared_in)
            .any(|source| source.text.match_indices(&path).any(|(at, _)| whole_word(&source.text[at + path.len()..])))
    };
    let names = all.iter().map(|each| format!("{each:?}"));
    names.filter(|name| !used(name)).map(|name| format!("{kind}::{name} is declared but nobody notes it")).collect()
}

#[test]
fn every_operation_and_every_bound_is_noted_somewhere() {
    let sources = sources(&["crates"], "rs");
    let mut wrong = unused("Op", Op::ALL, "crates/telemetry/src/op.rs", &sources);
    wrong.extend(unused("BoundName", BoundName::ALL, "crates/telemetry/src/bound.rs", &sources));
    nothing_wrong(wrong);
}
