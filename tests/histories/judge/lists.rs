//! Judges the `/versions` that nodes sent: each is the beginning of every longer one, and its lines are the changes of gems in their order.

use super::{History, Listing, Moment, must_see};
use std::collections::BTreeMap;

/// Fails with the first list that is wrong.
pub(super) fn judge(history: &History, rows: &[Option<u64>]) -> Result<(), String> {
    let mut by_length: Vec<&Listing> = history.listings.iter().collect();
    by_length.sort_by_key(|listing| listing.text.len());
    for pair in by_length.windows(2) {
        if !pair[1].text.starts_with(&pair[0].text) {
            let [one, other] =
                [pair[0], pair[1]].map(|one| format!("node {} at {:?}:\n{}", one.node, one.sent, one.text));
            return Err(format!("/versions of {one}\nis not the beginning of that of {other}"));
        }
    }
    let gems: Vec<(u64, String)> = history
        .rows
        .iter()
        .filter_map(|row| {
            let (key, value) = row.change.as_ref()?;
            let sign = if value.is_none() { "-" } else { "" };
            let (name, version) = key.strip_prefix("gem ")?.split_once(' ')?;
            Some((row.seq, format!("{name} {sign}{version}")))
        })
        .collect();
    // What each node had sent: when, and how many lines.
    let mut told: BTreeMap<usize, Vec<(Moment, usize)>> = BTreeMap::new();
    let mut in_time = by_length;
    in_time.sort_by_key(|listing| listing.sent);
    for Listing { node, sent, answered, is_fresh, text } in in_time {
        let lines: Vec<&str> = lines(text)?;
        let at = format!("/versions of node {node} at {sent:?}");
        for (number, line) in lines.iter().enumerate() {
            match gems.get(number) {
                Some((_, wanted)) if wanted == line => {}
                wanted => return Err(format!("{at}: line {number} is `{line}`, and the journal has {wanted:?}")),
            }
        }
        let of_gems = history.writes.iter().zip(rows).filter(|(write, _)| write.key.starts_with("gem "));
        let of_gems = of_gems.filter_map(|(write, seq)| Some((write, (*seq)?)));
        let due = if *is_fresh { must_see(of_gems.clone(), *sent, history.grace) } else { 0 };
        let last = lines.len().checked_sub(1).map_or(0, |last| gems[last].0);
        if due > last {
            return Err(format!("stale: {at} ends with row {last}; row {due} was acknowledged before"));
        }
        if let Some((early, _)) = of_gems.clone().find(|(write, seq)| *seq == last && write.sent > *answered) {
            return Err(format!("{at} ends with {}, which was sent later", early.key));
        }
        let earlier = told.entry(*node).or_default();
        if let Some((_, had)) = earlier.iter().find(|(at, had)| at < sent && *had > lines.len()) {
            return Err(format!("back in time: {at} has {} lines; it had {had} before", lines.len()));
        }
        earlier.push((*answered, lines.len()));
    }
    Ok(())
}

/// Each line without its MD5.
fn lines(text: &str) -> Result<Vec<&str>, String> {
    let (_, lines) = text.split_once("---\n").ok_or_else(|| format!("no /versions: {text:?}"))?;
    let without = |line| str::rsplit_once(line, ' ').map(|(change, _)| change);
    lines.lines().map(|line| without(line).ok_or_else(|| format!("no line of /versions: {line:?}"))).collect()
}
