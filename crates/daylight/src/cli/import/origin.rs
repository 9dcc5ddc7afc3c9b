//! When files were published on the server from which they are imported, as far as that is known.

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::UNIX_EPOCH;
use telemetry::Millis;

/// The header that claims it.
const PUBLISHED: HeaderName = HeaderName::from_static("daylight-published");
/// 1990: before this no package of today was published. Tools that leave out dates write 0 or 1980.
const EARLIEST: Millis = Millis(631_152_000_000);

/// What became of the origin of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OriginOutcome {
    /// The server took it.
    Set,
    /// The server's date is no later already.
    There,
    /// It is not known here, or the server says that it cannot be.
    Unknown,
    /// The token may not claim it.
    NotAllowed,
}

/// Whether the token may claim origins. All threads of an import share it.
#[derive(Debug)]
pub(super) struct Claims(AtomicBool);

impl Claims {
    /// The token may, until the server says otherwise.
    pub(super) fn new() -> Self {
        Self(AtomicBool::new(true))
    }

    /// Whether the token may claim origins, as far as that is known.
    pub(super) fn allowed(&self) -> bool {
        self.0.load(Relaxed)
    }

    /// Sends a file with `send`: first with the headers of its origin, and without them where the server refuses them. Returns its
    /// answer.
    pub(super) fn send<A>(
        &self,
        published: Option<Millis>,
        mut send: impl FnMut(HeaderMap) -> anyhow::Result<A>,
        status: impl Fn(&A) -> StatusCode,
    ) -> anyhow::Result<(A, OriginOutcome)> {
        let Some(headers) = published.and_then(headers) else {
            return Ok((send(HeaderMap::new())?, OriginOutcome::Unknown));
        };
        if !self.allowed() {
            return Ok((send(HeaderMap::new())?, OriginOutcome::NotAllowed));
        }
        let answer = send(headers)?;
        let refused = status(&answer);
        if !matches!(refused, StatusCode::FORBIDDEN | StatusCode::BAD_REQUEST) {
            return Ok((answer, OriginOutcome::Set));
        }
        // Refused for the claim, or for the file.
        let again = send(HeaderMap::new())?;
        match status(&again).is_success() {
            true if refused == StatusCode::FORBIDDEN => {
                self.0.store(false, Relaxed);
                Ok((again, OriginOutcome::NotAllowed))
            }
            true => Ok((again, OriginOutcome::Unknown)),
            // Of a file that is refused without the claim, too, that is the reason.
            false => Ok((again, OriginOutcome::Unknown)),
        }
    }
}

/// Whether the server's date has to be corrected: it is later than that of the source. An origin only ever makes a version older, so a
/// copy of a folder, whose files have later dates, spoils nothing that an earlier import set.
pub(super) fn is_later(shown: Millis, published: Millis) -> bool {
    shown.seconds() > published.seconds()
}

/// The date of a file, if it can be that of a publication.
pub(super) fn modified(file: &Path) -> Option<Millis> {
    let modified = file.metadata().ok()?.modified().ok()?;
    let since = modified.duration_since(UNIX_EPOCH).ok()?;
    credible(Millis(i64::try_from(since.as_millis()).ok()?))
}

/// A date, if it can be that of a publication.
pub(super) fn credible(at: Millis) -> Option<Millis> {
    (at >= EARLIEST).then_some(at)
}

fn headers(published: Millis) -> Option<HeaderMap> {
    let value = HeaderValue::try_from(published.to_string()).ok()?;
    Some(HeaderMap::from_iter([(PUBLISHED, value)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send(claims: &Claims, published: Option<i64>, statuses: &[u16]) -> (usize, OriginOutcome, u16) {
        let mut sent = Vec::new();
        let answer = claims.send(
            published.map(Millis),
            |headers| {
                sent.push(headers.contains_key(PUBLISHED));
                Ok(StatusCode::from_u16(statuses[sent.len() - 1]).unwrap())
            },
            |status| *status,
        );
        let (status, outcome) = answer.unwrap();
        assert!(sent[1..].iter().all(|with| !with), "only the first attempt claims an origin");
        (sent.len(), outcome, status.as_u16())
    }

    #[test]
    fn a_file_is_sent_again_without_an_origin_that_the_server_refuses() {
        let claims = Claims::new();
        assert_eq!(send(&claims, Some(1), &[200]), (1, OriginOutcome::Set, 200));
        assert_eq!(send(&claims, None, &[200]), (1, OriginOutcome::Unknown, 200));
        assert_eq!(send(&claims, Some(1), &[400, 200]), (2, OriginOutcome::Unknown, 200), "its clock is behind");
        assert_eq!(send(&claims, Some(1), &[403, 403]), (2, OriginOutcome::Unknown, 403), "the file is refused");
        assert_eq!(send(&claims, Some(1), &[403, 409]), (2, OriginOutcome::Unknown, 409), "the reason of the file");
        assert_eq!(send(&claims, Some(1), &[403, 201]), (2, OriginOutcome::NotAllowed, 201));
        assert_eq!(send(&claims, Some(1), &[201]), (1, OriginOutcome::NotAllowed, 201), "it is not tried any more");
    }

    #[test]
    fn dates_before_1990_are_none() {
        assert_eq!(credible(Millis(0)), None);
        assert_eq!(credible(Millis(315_532_800_000)), None);
        assert_eq!(credible(Millis(1_714_564_800_000)), Some(Millis(1_714_564_800_000)));
        assert!(is_later(Millis(2_000), Millis(1_999)) && !is_later(Millis(1_999), Millis(1_000)));
    }
}
