//! Every operation and every bound that is declared is recorded or filled by shipped code. A name that nothing records would
//! promise a figure that never moves.

use super::{Source, code, nothing_wrong};
use telemetry::{BoundName, Op};

/// Whether code names `path` as a value. Patterns of a `match` record nothing, and neither do tests and comments, which are left out.
fn recorded(path: &str, declared_in: &str, code: &[Source]) -> bool {
    let value = |rest: &str| {
        let whole = !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
        let after = rest.trim_start();
        whole && !after.starts_with("=>") && !after.starts_with('|')
    };
    let others = code.iter().filter(|source| source.path != declared_in);
    others
        .into_iter()
        .any(|source| source.text.match_indices(path).any(|(at, _)| value(&source.text[at + path.len()..])))
}

fn unrecorded<T: std::fmt::Debug>(kind: &str, all: &[T], declared_in: &str, code: &[Source]) -> Vec<String> {
    let names = all.iter().map(|each| format!("{kind}::{each:?}"));
    let missing = names.filter(|name| !recorded(name, declared_in, code));
    missing.map(|name| format!("{name} is declared and no shipped code records it")).collect()
}

#[test]
fn every_operation_and_every_bound_is_recorded_by_shipped_code() {
    let code = code();
    let mut wrong = unrecorded("Op", Op::ALL, "crates/telemetry/src/op.rs", &code);
    wrong.extend(unrecorded("BoundName", BoundName::ALL, "crates/telemetry/src/bound.rs", &code));
    nothing_wrong(wrong);
}

#[test]
fn a_name_in_a_pattern_or_in_part_of_another_name_is_not_recorded() {
    let code = |text: &str| [Source { path: "a.rs".into(), text: text.into() }];
    for text in ["event.add(Op::Hash, 1)", "(Op::Hash)", "Op::Hash;"] {
        assert!(recorded("Op::Hash", "op.rs", &code(text)), "{text}");
    }
    for text in ["Op::Hash => 1", "Op::Hash | Op::Route => 1", "Op::Hashed", "Op::Route"] {
        assert!(!recorded("Op::Hash", "op.rs", &code(text)), "{text}");
    }
}
