//! One-time passwords: when a code is accepted, and when guesses are refused.

use super::*;
use crate::access::{Access, Error, NewToken};
use crate::instance::first_start::tests::two_stores::two_stores;
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
        self.0 = note.or_else(|| self.0.take());
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
