//! What upstreams do to their indexes, and what becomes of it.

mod look;

fn body(lines: &[&str]) -> Vec<u8> {
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    format!("created_at: 2026-11-01T00:00:00Z\n---\n{lines}").into()
}
