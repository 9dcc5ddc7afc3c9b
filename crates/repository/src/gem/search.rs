//! Searches names in `/names`, which is in memory, so no row is read for names that are not shown.

use bytes::Bytes;

/// The names that contain all of `words` (in lower case), ignoring case: first an equal name, then names that begin
/// with the first word, then the others, each in the order of `/names`.
pub(crate) fn containing(pieces: &[Bytes], words: &[String], skip: usize, limit: usize) -> Vec<String> {
    let Some(first) = words.first().filter(|word| !word.is_empty()) else { return Vec::new() };
    let (names, lower) = text(pieces);
    let mut ranked: [Vec<&str>; 3] = Default::default();
    let mut from = 0;
    while let Some(at) = lower[from..].find(first.as_str()).map(|at| from + at) {
        let (begin, end) = line(&lower, at);
        from = end;
        let name = &lower[begin..end];
        // The first line is a header.
        if begin > 0 && words.iter().all(|word| name.contains(word.as_str())) {
            let rank = if name == first { 0 } else { 2 - usize::from(name.starts_with(first.as_str())) };
            ranked[rank].push(&names[begin..end]);
        }
    }
    ranked.into_iter().flatten().skip(skip).take(limit).map(str::to_owned).collect()
}

/// The first names with this prefix, ignoring case.
pub(crate) fn beginning(pieces: &[Bytes], beginning: &str, limit: usize) -> Vec<String> {
    let (names, lower) = text(pieces);
    let beginning = format!("\n{}", beginning.to_ascii_lowercase());
    let found = lower.match_indices(&beginning).map(|(at, _)| line(&lower, at + 1)).filter(|(begin, end)| begin < end);
    found.take(limit).map(|(begin, end)| names[begin..end].to_owned()).collect()
}

/// The names unchanged and in lower case, at the same offsets.
fn text(pieces: &[Bytes]) -> (String, String) {
    // Names are ASCII, so nothing is ever replaced.
    let names = String::from_utf8_lossy(&pieces.concat()).into_owned();
    let lower = names.to_ascii_lowercase();
    (names, lower)
}

/// The beginning and the end of the line around `at`.
fn line(text: &str, at: usize) -> (usize, usize) {
    let begin = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
    (begin, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: &str = "---\nRedLamp\ngas-lamp\nlamp\nlamp-oil\nlampion\noil\n";

    fn pieces() -> Vec<Bytes> {
        let (first, second) = NAMES.split_at(14);
        vec![Bytes::from(first), Bytes::from(second)]
    }

    #[test]
    fn what_is_called_so_comes_before_what_begins_so_and_what_contains_it() {
        let find = |words: &[&str], skip, limit| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            containing(&pieces(), &words, skip, limit)
        };
        assert_eq!(find(&["lamp"], 0, 9), ["lamp", "lamp-oil", "lampion", "RedLamp", "gas-lamp"]);
        assert_eq!(find(&["lamp"], 3, 1), ["RedLamp"]);
        assert_eq!(find(&["oil", "lamp"], 0, 9), ["lamp-oil"]);
        assert!(find(&["---"], 0, 9).is_empty() && find(&[""], 0, 9).is_empty() && find(&[], 0, 9).is_empty());
    }

    #[test]
    fn names_are_completed() {
        assert_eq!(beginning(&pieces(), "LAMP", 2), ["lamp", "lamp-oil"]);
        assert_eq!(beginning(&pieces(), "redl", 9), ["RedLamp"]);
        assert_eq!(beginning(&pieces(), "", 9).len(), 6);
        assert!(beginning(&[Bytes::from("---\n\n")], "", 9).is_empty());
    }
}
