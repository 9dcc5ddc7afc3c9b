//! Reads the trace of a client from `traceparent` (W3C Trace Context, section 3.2).

use http::{HeaderMap, HeaderName};
use telemetry::Trace;

static TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
/// The length of the parts that every version has: `00-<32 digits>-<16 digits>-<2 digits>`.
const LEN: usize = 55;
/// The flag of a trace that the client records.
const SAMPLED: u8 = 1;

/// The trace of a request, if the client records it. A request with several of the headers has none.
pub(crate) fn of(headers: &HeaderMap) -> Option<Trace> {
    let mut lines = headers.get_all(&TRACEPARENT).iter();
    let line = lines.next()?;
    if lines.next().is_some() { None } else { read(line.as_bytes()) }
}

/// Whether the value may name a trace that the client records. Cheap, for requests whose header is not read otherwise.
pub(crate) fn may_be_sampled(value: &[u8]) -> bool {
    value.get(LEN - 1).is_some_and(|last| digit(*last).is_some_and(|flags| flags & SAMPLED != 0))
}

/// Reads the value. Later versions may have more parts after those of this one.
fn read(value: &[u8]) -> Option<Trace> {
    let (parts, rest) = value.split_at_checked(LEN)?;
    let [version @ .., _] = *parts.first_chunk::<3>()?;
    let ends = if version == *b"00" { rest.is_empty() } else { rest.is_empty() || rest[0] == b'-' };
    let dashes = [2, 35, 52].iter().all(|at| parts[*at] == b'-');
    if !ends || !dashes || version == *b"ff" {
        return None;
    }
    number(&version)?;
    let (id, parent) = (number(&parts[3..35])?, number(&parts[36..52])?);
    let sampled = number(&parts[53..])? & u128::from(SAMPLED) != 0;
    (sampled && id != 0 && parent != 0).then_some(Trace { id, parent: parent as u64 })
}

/// Only small letters are digits.
fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

fn number(digits: &[u8]) -> Option<u128> {
    digits.iter().try_fold(0, |number, byte| Some(number << 4 | u128::from(digit(*byte)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    const ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const PARENT: &str = "00f067aa0ba902b7";

    fn trace(lines: &[&str]) -> Option<Trace> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(&TRACEPARENT, HeaderValue::from_str(line).unwrap());
        }
        of(&headers)
    }

    #[test]
    fn a_sampled_trace_is_read_and_others_are_not() {
        let sampled = Trace { id: 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736, parent: 0x00f0_67aa_0ba9_02b7 };
        for line in [
            format!("00-{ID}-{PARENT}-01"),
            format!("00-{ID}-{PARENT}-03"),
            format!("cc-{ID}-{PARENT}-01"),
            format!("cc-{ID}-{PARENT}-01-what-the-future-will-be-like"),
        ] {
            assert_eq!(trace(&[&line]), Some(sampled), "{line}");
            assert!(may_be_sampled(line.as_bytes()), "{line}");
        }
        let zeros = "0".repeat(32);
        for line in [
            String::new(),
            format!("00-{ID}-{PARENT}-00"),
            format!("00-{ID}-{PARENT}-02"),
            format!("ff-{ID}-{PARENT}-01"),
            format!("0x-{ID}-{PARENT}-01"),
            format!("00-{zeros}-{PARENT}-01"),
            format!("00-{ID}-{}-01", &zeros[..16]),
            format!("00-{}-{PARENT}-01", ID.to_uppercase()),
            format!("00-{ID}-{PARENT}-01-more"),
            format!("00-{ID}-{PARENT}-01-"),
            format!("cc-{ID}-{PARENT}-01.more"),
            format!("00-{ID}-{PARENT}-1"),
            format!("00-{ID}_{PARENT}-01"),
            format!("00-{}-{PARENT}-01", &ID[1..]),
            format!("00-{ID}-{PARENT}-0é"),
        ] {
            assert_eq!(trace(&[&line]), None, "{line}");
        }
        let line = format!("00-{ID}-{PARENT}-01");
        assert_eq!(trace(&[&line, &line]), None, "of two headers it is unclear which holds");
        assert_eq!(trace(&[]), None);
    }

    #[test]
    fn a_trace_that_is_not_sampled_is_told_by_one_digit() {
        assert!(!may_be_sampled(format!("00-{ID}-{PARENT}-00").as_bytes()));
        assert!(!may_be_sampled(b"00-"));
    }
}
