//! Checks one-time passwords (RFC 6238): six digits that change every 30 seconds.
//!
//! Each code is accepted once. The codes that were used and the wrong ones are in a note of the store for each key, which is durable and
//! which all processes share: so a code is good once in all of them, also after a restart, and guesses count in all of them.
//!
//! Wrong codes are counted for each client that sent a right one recently, and for all other clients together. A thief who guesses
//! locks out other unknown clients, but not the owner of the token.

use super::credentials::hash;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use client::Secret;
use data_encoding::BASE32_NOPAD;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha1::Sha1;
use std::net::IpAddr;
use subtle::ConstantTimeEq;
use telemetry::Millis;

/// How long a code is valid, in seconds.
const STEP: i64 = 30;
/// The clocks may differ by this number of steps, in either direction.
const DRIFT: i64 = 1;
/// Most wrong codes within [`WINDOW`], of each known client, and of all unknown clients together. A guess within a day succeeds
/// with a probability of 1 in 500.
const TRIES: u32 = 5;
/// Most known clients of a key: the last that sent right codes.
const CLIENTS: usize = 8;
/// The window for wrong codes, in milliseconds.
const WINDOW: i64 = 600_000;
/// Length of a key in bytes (RFC 4226 section 4 recommends 20).
const KEY: usize = 20;

/// Why a one-time password is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtpError {
    /// None was sent.
    Missing,
    /// The code is not the current one, or was used before.
    Wrong,
    /// Too many were wrong recently; the seconds until the next is checked.
    TooMany(u64),
}

/// A new key, as it is stored.
pub(super) fn new_key() -> Result<String, getrandom::Error> {
    let mut bytes = [0; KEY];
    getrandom::fill(&mut bytes)?;
    Ok(STANDARD.encode(bytes))
}

/// The URI with which an app shows the codes of `key` under this label.
pub(super) fn uri(key: &str, label: &str) -> Secret {
    // Without padding: people may have to type it.
    let key = BASE32_NOPAD.encode(&STANDARD.decode(key).unwrap_or_default());
    Secret::new(format!("otpauth://totp/Daylight:{}?secret={key}&issuer=Daylight", format::percent::segment(label)))
}

/// The name of the note with the recent codes of a key. It does not tell the key.
pub(super) fn note(key: &str) -> String {
    format!("otp/{}", hash(key.as_bytes()))
}

/// The note of a new key.
pub(super) fn unused() -> String {
    RecentCodes::default().note().unwrap_or_default()
}

/// A code that somebody sent for a key.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    /// The key, as it is stored.
    pub(super) key: String,
    /// The code.
    pub(super) code: Vec<u8>,
    /// The sender.
    pub(super) client: IpAddr,
    /// The present moment.
    pub(super) now: Millis,
    /// Codes up to this moment may have been used although no note tells so, because an earlier program checked them, or the notes are
    /// lost. `None`: the key was made since.
    pub(super) untold: Option<Millis>,
}

/// The recent codes of one key.
#[derive(Debug, Default, Serialize, Deserialize)]
struct RecentCodes {
    /// The step of the last code that was used.
    used: Option<i64>,
    /// The clients that sent right codes, the most recent last, each with its wrong codes.
    known: Vec<(IpAddr, WrongCodes)>,
    /// The wrong codes of all other clients.
    unknown: WrongCodes,
}

/// Wrong codes since a window began.
#[derive(Debug, Default, Serialize, Deserialize)]
struct WrongCodes {
    count: u32,
    window: Millis,
}

impl WrongCodes {
    /// Refuses another attempt after too many wrong codes.
    fn admit(&mut self, now: Millis) -> Result<(), OtpError> {
        if now.0.saturating_sub(self.window.0) >= WINDOW {
            *self = Self { count: 0, window: now };
        }
        if self.count < TRIES {
            return Ok(());
        }
        let left = self.window.0 + WINDOW - now.0;
        Err(OtpError::TooMany(u64::try_from(left).unwrap_or_default().div_ceil(1000)))
    }
}

impl RecentCodes {
    /// The codes of a note. `untold`: those up to then were used if there is no note. If nobody can read it, all codes that may be shown
    /// by now were.
    fn read(note: Option<&str>, untold: Option<Millis>, now: Millis) -> Self {
        let used = |at: Millis| Self { used: Some(step_of(at)), ..Self::default() };
        match note {
            Some(note) => serde_json::from_str(note).unwrap_or_else(|_| used(Millis(now.0 + DRIFT * STEP * 1000))),
            None => untold.map_or_else(Self::default, used),
        }
    }

    /// `None`: it cannot be written, which does not happen.
    fn note(&self) -> Option<String> {
        serde_json::to_string(self).ok()
    }

    /// The wrong codes that a client's are counted with.
    fn wrong(&mut self, client: IpAddr) -> &mut WrongCodes {
        match self.known.iter().position(|(known, _)| *known == client) {
            Some(at) => &mut self.known[at].1,
            None => &mut self.unknown,
        }
    }

    /// Remembers a client that sent a right code.
    fn remember(&mut self, client: IpAddr) {
        let at = self.known.iter().position(|(known, _)| *known == client);
        let known = at.map_or_else(|| (client, WrongCodes::default()), |at| self.known.remove(at));
        if self.known.len() >= CLIENTS {
            self.known.remove(0);
        }
        self.known.push(known);
    }
}

impl Shown {
    /// Uses up the code. Returns the new note, or `None` if it stays, and whether the code is accepted.
    pub(super) fn take(&self, note: Option<&str>) -> (Option<String>, Result<(), OtpError>) {
        let mut recent = RecentCodes::read(note, self.untold, self.now);
        if let Err(refused) = recent.wrong(self.client).admit(self.now) {
            return (None, Err(refused));
        }
        let (step, floor) = (step_of(self.now), recent.used.unwrap_or(i64::MIN));
        let key = STANDARD.decode(&self.key).unwrap_or_default();
        let found = (step - DRIFT..=step + DRIFT).filter(|step| *step > floor).find(|step| {
            code_of(&key, *step).is_some_and(|right| bool::from(right.as_bytes().ct_eq(self.code.trim_ascii())))
        });
        match found {
            Some(step) => {
                recent.used = Some(step);
                recent.remember(self.client);
            }
            None => recent.wrong(self.client).count += 1,
        }
        match (recent.note(), found) {
            // Nothing is accepted that is not noted.
            (note @ Some(_), Some(_)) => (note, Ok(())),
            (note, _) => (note, Err(OtpError::Wrong)),
        }
    }
}

/// The number of the 30 seconds in which a moment is.
fn step_of(moment: Millis) -> i64 {
    moment.seconds().div_euclid(STEP)
}

/// The code of a step (RFC 4226 section 5.3).
fn code_of(key: &[u8], step: i64) -> Option<String> {
    let mut mac = Hmac::<Sha1>::new_from_slice(key).ok()?;
    mac.update(&step.to_be_bytes());
    let digest = mac.finalize().into_bytes();
    let at = usize::from(digest[19] & 15);
    let four: [u8; 4] = digest.get(at..at + 4)?.try_into().ok()?;
    Some(format!("{:06}", (u32::from_be_bytes(four) & 0x7fff_ffff) % 1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{Access, Error, NewToken};
    use crate::instance::two_stores::two_stores;
    use front::Request;
    use repository::{Author, Scope};
    use telemetry::{Clock, Event};

    const RFC: &[u8] = b"12345678901234567890";
    const HOME: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

    #[test]
    fn codes_match_the_rfc() {
        // RFC 6238 appendix B, the last six of eight digits.
        for (seconds, expected) in
            [(59, "287082"), (1_111_111_109, "081804"), (1_234_567_890, "005924"), (20_000_000_000, "353130")]
        {
            assert_eq!(code_of(RFC, seconds / STEP).unwrap(), expected);
        }
    }

    #[test]
    fn the_uri_has_the_form_that_apps_read() {
        let uri = uri(&STANDARD.encode(RFC), "ci/1 x");
        let expected = "otpauth://totp/Daylight:ci%2F1%20x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Daylight";
        assert_eq!(uri.expose(), expected);
        assert!(!format!("{uri:?}").contains("GEZD"));
    }

    /// The notes of all keys, which is one here.
    #[derive(Default)]
    struct Kept(Option<String>);

    impl Kept {
        fn take(&mut self, code: &[u8], client: IpAddr, now: Millis, untold: Option<Millis>) -> Result<(), OtpError> {
            let shown = Shown { key: STANDARD.encode(RFC), code: code.to_vec(), client, now, untold };
            let (note, taken) = shown.take(self.0.as_deref());
            self.0 = note.or(self.0.take());
            taken
        }
    }

    #[test]
    fn a_code_is_accepted_once_and_near_its_time() {
        let mut kept = Kept(Some(unused()));
        let now = |step: i64| Millis(step * STEP * 1000);
        let shown = |step| code_of(RFC, step).unwrap().into_bytes();
        let mut take = |step, at| kept.take(&shown(step), HOME, now(at), Some(now(500)));
        assert_eq!(take(100, 100), Ok(()));
        assert_eq!(take(100, 100), Err(OtpError::Wrong), "used");
        assert_eq!(take(99, 100), Err(OtpError::Wrong), "older than the one that was used");
        assert_eq!(take(101, 100), Ok(()), "a clock that is ahead");
        assert_eq!(take(104, 102), Err(OtpError::Wrong), "too far ahead");
        assert_eq!(take(102, 103), Ok(()), "a slow typist");
    }

    #[test]
    fn without_a_note_no_code_is_accepted_that_may_have_been_used_before() {
        let shown = |step| code_of(RFC, step).unwrap().into_bytes();
        let (started, now) = (Millis(100 * STEP * 1000 + 7), Millis(100 * STEP * 1000 + 8));
        let mut kept = Kept::default();
        assert_eq!(kept.take(&shown(100), HOME, now, Some(started)), Err(OtpError::Wrong));
        assert_eq!(kept.take(&shown(101), HOME, now, Some(started)), Ok(()));
        assert_eq!(Kept::default().take(&shown(100), HOME, now, None), Ok(()), "a key that was made since");
        let mut damaged = Kept(Some("{".to_owned()));
        assert_eq!(damaged.take(&shown(101), HOME, now, None), Err(OtpError::Wrong), "a note that nobody can read");
        let later = Millis(102 * STEP * 1000);
        assert_eq!(damaged.take(&shown(102), HOME, later, None), Ok(()));
    }

    fn request() -> Request {
        Request::new(http::Method::POST, http::Uri::from_static("/"), http::HeaderMap::new(), HOME)
    }

    #[tokio::test]
    async fn a_code_is_good_once_and_guesses_count_in_all_processes_with_one_truth_also_after_a_restart() {
        let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::at(Millis(100 * STEP * 1000)));
        let (mut event, request) = (Event::job("test", Millis(0)), request());
        let new = NewToken { name: "mira".into(), scopes: vec![Scope::Write], otp: true, ..NewToken::default() };
        let made = {
            let [(store, _), _] = two_stores(&folder, &clock);
            let access = Access::open(store, clock.clone(), &mut event).await.unwrap();
            access.create(new, None, Author::SERVER, &mut event).await.unwrap()
        };
        let key = STANDARD.decode(made.record.otp.unwrap()).unwrap();
        let shown = |step| code_of(&key, step).unwrap().into_bytes();
        // Each time both programs are new: none of them waits, and each knows what the other has accepted.
        for step in 100..103 {
            clock.set(Some(Millis(step * STEP * 1000)));
            let [one, other] = two_stores(&folder, &clock).map(|(store, _)| store);
            for (store, accepts) in [(&one, true), (&one, false), (&other, false)] {
                let access = Access::open(store.clone(), clock.clone(), &mut event).await.unwrap();
                let token = access.table(&mut event).await.unwrap().of_secret(&made.secret, clock.now()).unwrap();
                let checked = access.check_code(&token, Some(&shown(step)), &request, &mut event).await;
                assert_eq!(checked.is_ok(), accepts, "{checked:?}");
            }
            one.close();
            other.close();
        }
        let [one, other] = two_stores(&folder, &clock).map(|(store, _)| store);
        // This client has sent five wrong ones since its first right one.
        for store in [one, other] {
            let access = Access::open(store, clock.clone(), &mut event).await.unwrap();
            let token = access.table(&mut event).await.unwrap().of_secret(&made.secret, clock.now()).unwrap();
            let refused = access.check_code(&token, Some(&shown(103)), &request, &mut event).await;
            assert!(matches!(refused, Err(Error::Password { why: OtpError::TooMany(_), .. })), "{refused:?}");
        }
    }

    #[test]
    fn guessing_is_stopped_for_a_while() {
        let mut kept = Kept::default();
        let at = |seconds: i64| Millis(3_000_000 + seconds * 1000);
        for _ in 0..TRIES {
            assert_eq!(kept.take(b"nonsense", HOME, at(0), None), Err(OtpError::Wrong));
        }
        let right = |seconds| code_of(RFC, at(seconds).seconds() / STEP).unwrap().into_bytes();
        let before = kept.0.clone();
        assert_eq!(kept.take(&right(1), HOME, at(1), None), Err(OtpError::TooMany(599)));
        assert_eq!(kept.0, before, "a refusal writes nothing");
        assert_eq!(kept.take(&right(600), HOME, at(600), None), Ok(()));
    }

    #[test]
    fn guessing_by_unknown_clients_does_not_lock_out_known_ones() {
        let mut kept = Kept::default();
        let at = |seconds: i64| Millis(3_000_000 + seconds * 1000);
        let right = |seconds| code_of(RFC, at(seconds).seconds() / STEP).unwrap().into_bytes();
        let client = |number: u8| IpAddr::from([192, 0, 2, number]);
        let mut take = |shown: &[u8], number, seconds| kept.take(shown, client(number), at(seconds), None);
        assert_eq!(take(&right(0), 1, 0), Ok(()));
        for thief in 0..20 {
            // From a new address each time: one chance in all for all of them.
            let expected = if thief < 5 { Err(OtpError::Wrong) } else { Err(OtpError::TooMany(599)) };
            assert_eq!(take(b"000000", 100 + thief, 1), expected);
        }
        assert_eq!(take(&right(30), 100, 30), Err(OtpError::TooMany(570)));
        assert_eq!(take(&right(30), 1, 30), Ok(()));
        for _ in 0..TRIES {
            assert_eq!(take(b"000000", 1, 31), Err(OtpError::Wrong));
        }
        assert!(matches!(take(&right(60), 1, 60), Err(OtpError::TooMany(_))), "a known client is limited, too");
        assert_eq!(take(&right(700), 2, 700), Ok(()));
        // With many clients the oldest are unknown again, and the note stays small.
        for number in 3..20 {
            let seconds = 700 + 30 * i64::from(number);
            assert_eq!(take(&right(seconds), number, seconds), Ok(()));
        }
        let recent: RecentCodes = serde_json::from_str(&kept.0.unwrap()).unwrap();
        assert_eq!(recent.known.len(), CLIENTS);
    }
}
