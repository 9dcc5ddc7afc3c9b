//! One-time passwords (RFC 6238), as the apps on telephones show them: six digits that change each half minute.
//!
//! A code is good once. What was used is remembered in memory; after a start no code is taken that may have been used
//! before it, which costs whoever pushes at that very moment half a minute.
//!
//! Wrong codes are counted for each client that showed a right one lately, and for all others together: whoever stole a
//! token and guesses shuts out other strangers, and not its owner.

use super::credentials::hash;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use client::Secret;
use data_encoding::BASE32_NOPAD;
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use store::Digest;
use subtle::ConstantTimeEq;
use telemetry::Millis;

/// How long a code is shown, in seconds.
const STEP: i64 = 30;
/// Clocks may differ by as many steps, either way.
const DRIFT: i64 = 1;
/// How many wrong codes are looked at within [`WINDOW`], of each known client, and of all strangers together: who guesses
/// has one chance in 500 in a day.
const TRIES: u32 = 5;
/// Clients of one key that are known: those that showed right codes last.
const CLIENTS: usize = 8;
/// In milliseconds.
const WINDOW: i64 = 600_000;
/// Bytes of a key (RFC 4226 section 4 recommends 20).
const KEY: usize = 20;

/// Why a code is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// None was shown.
    Missing,
    /// It is not the code of this time, or was used.
    Wrong,
    /// Too many were wrong lately; the seconds until another is looked at.
    TooMany(u64),
}

/// A new key, as records hold it.
pub(super) fn new_key() -> Result<String, getrandom::Error> {
    let mut bytes = [0; KEY];
    getrandom::fill(&mut bytes)?;
    Ok(STANDARD.encode(bytes))
}

/// What an app is told once, to show the codes of `key` under this label.
pub(super) fn uri(key: &str, label: &str) -> Secret {
    // Without padding: people may have to type it.
    let key = BASE32_NOPAD.encode(&STANDARD.decode(key).unwrap_or_default());
    Secret::new(format!("otpauth://totp/Daylight:{}?secret={key}&issuer=Daylight", format::percent::segment(label)))
}

/// What was shown for the keys lately. As many entries as there are keys, which admins make.
#[derive(Debug)]
pub(super) struct Codes {
    lately: Mutex<HashMap<Digest, Lately>>,
    began: Millis,
}

#[derive(Debug, Default)]
struct Lately {
    /// The last step whose code was used.
    used: Option<i64>,
    /// The clients that showed right codes, the last one last, and the wrong ones of each.
    known: Vec<(IpAddr, Wrong)>,
    /// The wrong codes of all other clients.
    strangers: Wrong,
}

/// Wrong codes since a window began.
#[derive(Debug, Default)]
struct Wrong {
    count: u32,
    window: Millis,
}

impl Wrong {
    /// Refuses another try where there were too many.
    fn admit(&mut self, now: Millis) -> Result<(), Refused> {
        if now.0.saturating_sub(self.window.0) >= WINDOW {
            *self = Self { count: 0, window: now };
        }
        if self.count < TRIES {
            return Ok(());
        }
        let left = self.window.0 + WINDOW - now.0;
        Err(Refused::TooMany(u64::try_from(left).unwrap_or_default().div_ceil(1000)))
    }
}

impl Lately {
    /// The count that a client's wrong codes go to.
    fn of(&mut self, client: IpAddr) -> &mut Wrong {
        match self.known.iter().position(|(known, _)| *known == client) {
            Some(at) => &mut self.known[at].1,
            None => &mut self.strangers,
        }
    }

    /// Knows a client that showed a right code.
    fn know(&mut self, client: IpAddr) {
        let at = self.known.iter().position(|(known, _)| *known == client);
        let known = at.map_or_else(|| (client, Wrong::default()), |at| self.known.remove(at));
        if self.known.len() >= CLIENTS {
            self.known.remove(0);
        }
        self.known.push(known);
    }
}

impl Codes {
    /// Knows of no code since `began`.
    pub(super) fn new(began: Millis) -> Self {
        Self { lately: Mutex::default(), began }
    }

    /// Takes a code of `key`, which was made at `made`, from a client, and never again.
    pub(super) fn take(
        &self,
        key: &str,
        made: Millis,
        shown: Option<&[u8]>,
        client: IpAddr,
        now: Millis,
    ) -> Result<(), Refused> {
        let shown = shown.ok_or(Refused::Missing)?;
        let mut lately = self.lately.lock().unwrap_or_else(PoisonError::into_inner);
        let lately = lately.entry(hash(key.as_bytes())).or_default();
        lately.of(client).admit(now)?;
        let step = now.seconds().div_euclid(STEP);
        // A key that is younger than this process has no codes from before it.
        let before = (made < self.began).then(|| self.began.seconds().div_euclid(STEP));
        let floor = lately.used.max(before).unwrap_or(i64::MIN);
        let key = STANDARD.decode(key).unwrap_or_default();
        let found = (step - DRIFT..=step + DRIFT)
            .filter(|step| *step > floor)
            .find(|step| code(&key, *step).is_some_and(|code| bool::from(code.as_bytes().ct_eq(shown.trim_ascii()))));
        match found {
            Some(step) => {
                lately.used = Some(step);
                lately.know(client);
            }
            None => lately.of(client).count += 1,
        }
        found.map(drop).ok_or(Refused::Wrong)
    }
}

/// The code of a step (RFC 4226 section 5.3).
fn code(key: &[u8], step: i64) -> Option<String> {
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
    fn codes_are_those_of_the_rfc() {
        // RFC 6238 appendix B, the last six of eight digits.
        for (seconds, expected) in
            [(59, "287082"), (1_111_111_109, "081804"), (1_234_567_890, "005924"), (20_000_000_000, "353130")]
        {
            assert_eq!(code(RFC, seconds / STEP).unwrap(), expected);
        }
    }

    #[test]
    fn keys_are_written_as_apps_read_them() {
        let uri = uri(&STANDARD.encode(RFC), "ci/1 x");
        let expected = "otpauth://totp/Daylight:ci%2F1%20x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Daylight";
        assert_eq!(uri.expose(), expected);
        assert!(!format!("{uri:?}").contains("GEZD"));
    }

    #[test]
    fn a_code_is_good_once_and_around_its_time() {
        let (key, made) = (STANDARD.encode(RFC), Millis(1_000_000));
        let codes = Codes::new(Millis(0));
        let now = |step: i64| Millis(step * STEP * 1000);
        let shown = |step| code(RFC, step).unwrap().into_bytes();
        let take = |step, at| codes.take(&key, made, Some(&shown(step)), HOME, now(at));
        assert_eq!(codes.take(&key, made, None, HOME, now(100)), Err(Refused::Missing));
        assert_eq!(take(100, 100), Ok(()));
        assert_eq!(take(100, 100), Err(Refused::Wrong), "used");
        assert_eq!(take(99, 100), Err(Refused::Wrong), "older than the one that was used");
        assert_eq!(take(101, 100), Ok(()), "a clock that is ahead");
        assert_eq!(take(104, 102), Err(Refused::Wrong), "too far ahead");
        assert_eq!(take(102, 103), Ok(()), "a slow typist");
    }

    #[test]
    fn after_a_start_no_code_is_taken_that_may_have_been_used_before() {
        let key = STANDARD.encode(RFC);
        let shown = |step| code(RFC, step).unwrap().into_bytes();
        let codes = Codes::new(Millis(100 * STEP * 1000 + 7));
        let now = Millis(100 * STEP * 1000 + 8);
        assert_eq!(codes.take(&key, Millis(5), Some(&shown(100)), HOME, now), Err(Refused::Wrong));
        assert_eq!(codes.take(&key, now, Some(&shown(100)), HOME, now), Ok(()), "a key that was made since");
    }

    #[test]
    fn who_guesses_is_stopped_and_the_owner_goes_on_later() {
        let key = STANDARD.encode(RFC);
        let codes = Codes::new(Millis(0));
        let at = |seconds: i64| Millis(3_000_000 + seconds * 1000);
        for _ in 0..TRIES {
            assert_eq!(codes.take(&key, at(0), Some(b"nonsense"), HOME, at(0)), Err(Refused::Wrong));
        }
        let right = |seconds| code(RFC, at(seconds).seconds() / STEP).unwrap().into_bytes();
        assert_eq!(codes.take(&key, at(0), Some(&right(1)), HOME, at(1)), Err(Refused::TooMany(599)));
        assert_eq!(codes.take(&key, at(0), Some(&right(600)), HOME, at(600)), Ok(()));
    }

    #[test]
    fn who_guesses_elsewhere_shuts_out_strangers_and_nobody_who_is_known() {
        let key = STANDARD.encode(RFC);
        let codes = Codes::new(Millis(0));
        let at = |seconds: i64| Millis(3_000_000 + seconds * 1000);
        let right = |seconds| code(RFC, at(seconds).seconds() / STEP).unwrap().into_bytes();
        let client = |number: u8| IpAddr::from([192, 0, 2, number]);
        let take = |shown: &[u8], number, seconds| codes.take(&key, at(0), Some(shown), client(number), at(seconds));
        assert_eq!(take(&right(0), 1, 0), Ok(()));
        for thief in 0..20 {
            // From a new address each time: one chance in all for all of them.
            let expected = if thief < 5 { Err(Refused::Wrong) } else { Err(Refused::TooMany(599)) };
            assert_eq!(take(b"000000", 100 + thief, 1), expected);
        }
        assert_eq!(take(&right(30), 100, 30), Err(Refused::TooMany(570)));
        assert_eq!(take(&right(30), 1, 30), Ok(()));
        for _ in 0..TRIES {
            assert_eq!(take(b"000000", 1, 31), Err(Refused::Wrong));
        }
        assert!(
            matches!(take(&right(60), 1, 60), Err(Refused::TooMany(_))),
            "at its own client it is one of many, too"
        );
        assert_eq!(take(&right(700), 2, 700), Ok(()));
        // Many clients with right codes: the oldest are strangers again, and the table stays small.
        for number in 3..20 {
            let seconds = 700 + 30 * i64::from(number);
            assert_eq!(take(&right(seconds), number, seconds), Ok(()));
        }
        assert_eq!(codes.lately.lock().unwrap().values().next().unwrap().known.len(), CLIENTS);
    }
}
