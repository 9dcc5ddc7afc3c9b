//! Checks one-time passwords (RFC 6238): six digits that change every 30 seconds.
//!
//! Each code is accepted once. The last code that was used is in memory only, so after a start no code is accepted that may have been
//! used before; a push at that moment waits half a minute.
//!
//! Wrong codes are counted for each client that sent a right one recently, and for all other clients together. A thief who guesses
//! locks out other unknown clients, but not the owner of the token.

use super::credentials::hash;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use client::Secret;
use data_encoding::BASE32_NOPAD;
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;
use store::Digest;
use subtle::ConstantTimeEq;
use telemetry::{Millis, lock};

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

/// The recent codes of every key. Only administrators make keys, so the number of entries is small.
#[derive(Debug)]
pub(super) struct OtpCodes {
    keys: Mutex<HashMap<Digest, RecentCodes>>,
    started: Millis,
}

/// The recent codes of one key.
#[derive(Debug, Default)]
struct RecentCodes {
    /// The step of the last code that was used.
    used: Option<i64>,
    /// The clients that sent right codes, the most recent last, each with its wrong codes.
    known: Vec<(IpAddr, WrongCodes)>,
    /// The wrong codes of all other clients.
    unknown: WrongCodes,
}

/// Wrong codes since a window began.
#[derive(Debug, Default)]
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

impl OtpCodes {
    /// No code was used since `started`.
    pub(super) fn new(started: Millis) -> Self {
        Self { keys: Mutex::default(), started }
    }

    /// Uses up a code of `key`, which was made at `made`.
    pub(super) fn take(
        &self,
        key: &str,
        made: Millis,
        code: Option<&[u8]>,
        client: IpAddr,
        now: Millis,
    ) -> Result<(), OtpError> {
        let code = code.ok_or(OtpError::Missing)?;
        let mut keys = lock(&self.keys);
        let recent = keys.entry(hash(key.as_bytes())).or_default();
        recent.wrong(client).admit(now)?;
        let step = now.seconds().div_euclid(STEP);
        // Codes of a key that was made after the start cannot have been used before it.
        let before = (made < self.started).then(|| self.started.seconds().div_euclid(STEP));
        let floor = recent.used.max(before).unwrap_or(i64::MIN);
        let key = STANDARD.decode(key).unwrap_or_default();
        let found = (step - DRIFT..=step + DRIFT).filter(|step| *step > floor).find(|step| {
            code_of(&key, *step).is_some_and(|right| bool::from(right.as_bytes().ct_eq(code.trim_ascii())))
        });
        match found {
            Some(step) => {
                recent.used = Some(step);
                recent.remember(client);
            }
            None => recent.wrong(client).count += 1,
        }
        found.map(drop).ok_or(OtpError::Wrong)
    }
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

    #[test]
    fn a_code_is_accepted_once_and_near_its_time() {
        let (key, made) = (STANDARD.encode(RFC), Millis(1_000_000));
        let codes = OtpCodes::new(Millis(0));
        let now = |step: i64| Millis(step * STEP * 1000);
        let shown = |step| code_of(RFC, step).unwrap().into_bytes();
        let take = |step, at| codes.take(&key, made, Some(&shown(step)), HOME, now(at));
        assert_eq!(codes.take(&key, made, None, HOME, now(100)), Err(OtpError::Missing));
        assert_eq!(take(100, 100), Ok(()));
        assert_eq!(take(100, 100), Err(OtpError::Wrong), "used");
        assert_eq!(take(99, 100), Err(OtpError::Wrong), "older than the one that was used");
        assert_eq!(take(101, 100), Ok(()), "a clock that is ahead");
        assert_eq!(take(104, 102), Err(OtpError::Wrong), "too far ahead");
        assert_eq!(take(102, 103), Ok(()), "a slow typist");
    }

    #[test]
    fn after_a_start_no_code_is_accepted_that_may_have_been_used_before() {
        let key = STANDARD.encode(RFC);
        let shown = |step| code_of(RFC, step).unwrap().into_bytes();
        let codes = OtpCodes::new(Millis(100 * STEP * 1000 + 7));
        let now = Millis(100 * STEP * 1000 + 8);
        assert_eq!(codes.take(&key, Millis(5), Some(&shown(100)), HOME, now), Err(OtpError::Wrong));
        assert_eq!(codes.take(&key, now, Some(&shown(100)), HOME, now), Ok(()), "a key that was made since");
    }

    #[test]
    fn guessing_is_stopped_for_a_while() {
        let key = STANDARD.encode(RFC);
        let codes = OtpCodes::new(Millis(0));
        let at = |seconds: i64| Millis(3_000_000 + seconds * 1000);
        for _ in 0..TRIES {
            assert_eq!(codes.take(&key, at(0), Some(b"nonsense"), HOME, at(0)), Err(OtpError::Wrong));
        }
        let right = |seconds| code_of(RFC, at(seconds).seconds() / STEP).unwrap().into_bytes();
        assert_eq!(codes.take(&key, at(0), Some(&right(1)), HOME, at(1)), Err(OtpError::TooMany(599)));
        assert_eq!(codes.take(&key, at(0), Some(&right(600)), HOME, at(600)), Ok(()));
    }

    #[test]
    fn guessing_by_unknown_clients_does_not_lock_out_known_ones() {
        let key = STANDARD.encode(RFC);
        let codes = OtpCodes::new(Millis(0));
        let at = |seconds: i64| Millis(3_000_000 + seconds * 1000);
        let right = |seconds| code_of(RFC, at(seconds).seconds() / STEP).unwrap().into_bytes();
        let client = |number: u8| IpAddr::from([192, 0, 2, number]);
        let take = |shown: &[u8], number, seconds| codes.take(&key, at(0), Some(shown), client(number), at(seconds));
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
        // With many clients the oldest are unknown again, and the table stays small.
        for number in 3..20 {
            let seconds = 700 + 30 * i64::from(number);
            assert_eq!(take(&right(seconds), number, seconds), Ok(()));
        }
        assert_eq!(codes.keys.lock().unwrap().values().next().unwrap().known.len(), CLIENTS);
    }
}
