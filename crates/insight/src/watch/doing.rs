//! What everybody was doing: the oldest open requests, one line each.

use telemetry::{OldestRequests, Op, OpenRequestView, OpenRequests, Tick};

/// The most lines.
pub(super) const LINES_MAX: usize = 64;
/// The longest path in a line, in bytes.
const PATH_MAX: usize = 200;

/// The oldest open requests, without waiting.
pub(super) fn oldest(table: &OpenRequests) -> OldestRequests {
    table.oldest_without_waiting(Tick::now(), LINES_MAX)
}

/// One line: the id of the event, its age, what the request waits for, what it is, and the bytes so far.
pub(super) fn line(request: &OpenRequestView) -> String {
    let OpenRequestView { id, age, method, path, bytes_in, bytes_out, .. } = request;
    let mut end = path.len().min(PATH_MAX);
    while !path.is_char_boundary(end) {
        end -= 1;
    }
    let op = request.ops.first().map_or("none", |op| op.as_str());
    format!("{id} {:.1} s {op} {method} {} in {bytes_in} out {bytes_out}", *age as f64 / 1e9, &path[..end])
}

/// The operation that most of them wait for.
pub(super) fn op_of_most(requests: &[OpenRequestView]) -> Option<Op> {
    let first = |request: &OpenRequestView| request.ops.first().copied();
    let count = |op: Op| requests.iter().filter(|request| first(request) == Some(op)).count();
    requests.iter().filter_map(first).max_by_key(|op| count(*op))
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::{EventId, Millis};

    #[test]
    fn a_line_has_what_the_request_waits_for_and_its_path_is_cut() {
        let view = |op| OpenRequestView {
            id: EventId(7),
            at: Millis(1),
            age: 1_250_000_000,
            method: "GET",
            path: format!("/{}", "\u{e9}".repeat(200)),
            ops: vec![op],
            bytes_in: 1,
            bytes_out: 2,
        };
        let text = line(&view(Op::TruthRead));
        assert!(text.contains(" 1.2 s truth.read GET /") && text.ends_with(" in 1 out 2"), "{text}");
        assert!(text.len() < 280, "{text}");
        let all = [Op::BodySend, Op::TruthRead, Op::TruthRead].map(view);
        assert_eq!(op_of_most(&all), Some(Op::TruthRead));
    }
}
