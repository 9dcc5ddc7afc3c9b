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
mod tests;
