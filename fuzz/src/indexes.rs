//! The compact index of an upstream.

use super::text;
use format::gem::info::md5_hex;
use format::gem::upstream::{
    Begun, Info, Kept, Look, Outcome, Response, Versions, append, difference, full_name::candidates,
};

/// A log and a file of `/versions`, separated by a zero byte: the log gains the file's changes, and a second run finds none.
pub(crate) fn versions(bytes: &[u8]) {
    let mut parts = bytes.splitn(2, |byte| *byte == 0);
    let log = parts.next().unwrap_or_default();
    let file = read(parts.next().unwrap_or_default(), 5);
    let mut log = read(log, 1 << 10);
    let gained = difference(&log, &file, |_, _| false);
    assert!(gained.vanished <= gained.names && gained.changes.iter().all(|change| !change.name.is_empty()));
    let mut lines = Versions::appended();
    lines.push(gained.lines.clone().into()).expect("it is short");
    assert!(lines.is_clean() && lines.lines() == gained.changes.len());
    assert_eq!(append(&log, &lines).expect("it is clean").changes.len(), gained.changes.len());
    log.push(b"\n".as_slice().into()).expect("it is short");
    log.push(gained.lines.into()).expect("it is short");
    assert_eq!(difference(&log, &file, |_, _| false).lines, b"");
    for line in file.sums() {
        let [name, versions, md5] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line:?}") };
        let said = log.said(name).expect("the line was appended before");
        assert_eq!(said.md5, md5);
        for version in versions.split(',').filter(|version| !version.starts_with('-')) {
            assert!(said.tokens.iter().any(|token| token == version));
            let found = candidates(&log, &format!("{name}-{version}"));
            let begins = version.starts_with(|first: char| first.is_ascii_digit());
            assert!(!begins || found.iter().any(|found| found.name == name && found.token == version));
        }
    }
}

/// Reads a file in pieces. Adds a header if it has none.
fn read(bytes: &[u8], piece: usize) -> Versions {
    let mut versions = if bytes.starts_with(b"---") { Versions::new() } else { Versions::appended() };
    for piece in bytes.chunks(piece) {
        versions.push(piece.to_vec().into()).expect("it is short");
    }
    versions
}

/// A body of `/info`: the relayed body is parsed to the same lines, and hides the hidden ones.
pub(crate) fn info(bytes: &[u8]) {
    let Ok(info) = Info::read(bytes.to_vec().into()) else { return };
    let again = Info::read(info.body().clone()).expect("it was parsed before");
    assert_eq!((again.body(), again.unreadable()), (info.body(), 0));
    assert_eq!(info.visible(|_| false), info.body());
    let visible = Info::read(info.visible(|line| line.checksum().is_none())).expect("a part of it");
    assert!(visible.lines().all(|line| line.checksum().is_some()));
    assert_eq!(visible.lines().count(), info.lines().filter(|line| line.checksum().is_some()).count());
    for line in info.lines() {
        assert!(line.text.starts_with(line.token) && !line.number().contains('-') && !line.platform().is_empty());
        let _ = (line.created_at(), line.brief());
    }
}

/// The known part, a status, headers and a body, separated by zero bytes: an accepted response has the digests in its
/// headers.
pub(crate) fn look(bytes: &[u8]) {
    let mut parts = bytes.splitn(4, |byte| *byte == 0);
    let mut next = || parts.next().unwrap_or_default();
    let (before, status, headers, body) = (next(), next(), next(), next());
    let (Some(status), Some(headers)) = (text(status).and_then(|status| status.parse().ok()), text(headers)) else {
        return;
    };
    let header = |at: usize| headers.split('\n').nth(at);
    let response = Response {
        status,
        content_range: header(0),
        etag: header(1),
        repr_digest: header(2),
        digest: header(3),
        encoded: header(4).is_some(),
    };
    let mut kept = Kept::default();
    kept.add(before);
    let Ok(Begun::Body(mut look)) = Look::begin(Some(&kept), &response, false) else { return };
    let (is_whole, mut came) = (look.is_whole(), Vec::new());
    for piece in body.chunks(3) {
        let Ok(added) = look.add(piece) else { return };
        came.extend_from_slice(added);
    }
    let Ok(seen) = look.end() else { return };
    let stays = match seen.outcome {
        _ if is_whole => 0,
        Outcome::Spliced { from } => usize::try_from(from).expect("within the known part"),
        _ => before.len(),
    };
    let file = [&before[..stays], &came].concat();
    assert!(file.ends_with(b"\n"));
    assert_eq!((seen.kept.md5_hex(), seen.kept.len()), (md5_hex(&file), file.len() as u64));
    match seen.outcome {
        Outcome::Unchanged => assert_eq!(file, before),
        Outcome::Appended { from } => assert!(from == before.len() as u64 && file.starts_with(before)),
        Outcome::Spliced { from } => assert_eq!(Some(from), kept.overlap()),
        Outcome::Replaced => assert!(before.is_empty() || !file.starts_with(before)),
    }
}
