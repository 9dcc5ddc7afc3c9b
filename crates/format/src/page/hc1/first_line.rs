//! The first line of an entry: `HC1 STATUS STORED FRESH STALE-WHILE STALE-ERROR BODY-BYTES CRC32`.

use super::super::Unusable;

/// The moment after the last one that an HTTP date can have, the end of the year 9999, in seconds since 1970 (RFC 9110, 5.6.7). A writer that
/// counts milliseconds is beyond it.
const MOMENTS_END: u64 = 253_402_300_800;
/// The most bytes of the line, with its end.
const LINE_MAX: usize = 128;

/// The first line of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FirstLine {
    /// 0: the entry names the headers of a request that the page depends on.
    pub(super) status: u16,
    /// In seconds since 1970.
    pub(super) stored_s: i64,
    pub(super) fresh_s: u32,
    pub(super) stale_while_s: u32,
    pub(super) stale_error_s: u32,
    pub(super) body_bytes: u64,
    /// Of all bytes after this line (RFC 1952, 8).
    pub(super) crc32: u32,
}

impl FirstLine {
    /// Reads it, and returns what follows it.
    pub(super) fn read(value: &[u8]) -> Result<(Self, &[u8]), Unusable> {
        let begin = value.get(..LINE_MAX).unwrap_or(value);
        let end = begin.windows(2).position(|two| two == b"\r\n").ok_or(Unusable::Unknown)?;
        let line = value.get(..end).and_then(|line| std::str::from_utf8(line).ok()).ok_or(Unusable::Unknown)?;
        let rest = value.get(end + 2..).unwrap_or_default();
        Self::parsed(line).map(|first| (first, rest)).ok_or(Unusable::Unknown)
    }

    fn parsed(line: &str) -> Option<Self> {
        let mut fields = line.strip_prefix("HC1 ")?.split(' ');
        let first = Self {
            status: number(fields.next()?).and_then(|status| u16::try_from(status).ok())?,
            stored_s: moment(fields.next()?)?,
            fresh_s: seconds(fields.next()?)?,
            stale_while_s: seconds(fields.next()?)?,
            stale_error_s: seconds(fields.next()?)?,
            body_bytes: number(fields.next()?)?,
            crc32: checksum(fields.next()?)?,
        };
        // A part of a page (206) and a confirmation (304) are no pages.
        let known = matches!(first.status, 0 | 200..=205 | 207..=303 | 305..=599);
        (known && fields.next().is_none()).then_some(first)
    }
}

/// A decimal number without a sign and without zeros at its beginning.
fn number(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    digits.then(|| text.parse().ok()).flatten()
}

fn moment(text: &str) -> Option<i64> {
    number(text).filter(|moment| *moment < MOMENTS_END).and_then(|moment| i64::try_from(moment).ok())
}

fn seconds(text: &str) -> Option<u32> {
    number(text).and_then(|seconds| u32::try_from(seconds).ok())
}

/// Eight hex digits in lower case.
fn checksum(text: &str) -> Option<u32> {
    let digits = text.len() == 8 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    digits.then(|| u32::from_str_radix(text, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_line_has_seven_fields() {
        let (first, rest) = FirstLine::read(b"HC1 200 1700000000 600 60 86400 5 0badcafe\r\nrest").unwrap();
        let wanted = FirstLine {
            status: 200,
            stored_s: 1_700_000_000,
            fresh_s: 600,
            stale_while_s: 60,
            stale_error_s: 86_400,
            body_bytes: 5,
            crc32: 0x0bad_cafe,
        };
        assert_eq!((first, rest), (wanted, &b"rest"[..]));
    }

    #[test]
    fn any_other_line_is_unknown() {
        for line in [
            "",
            "HC1",
            "HC2 200 1 2 3 4 5 0badcafe",
            "hc1 200 1 2 3 4 5 0badcafe",
            "HC1 200 1 2 3 4 5",
            "HC1 200 1 2 3 4 5 0badcafe 6",
            "HC1 200 1 2 3 4 5 0badcafe ",
            "HC1  200 1 2 3 4 5 0badcafe",
            "HC1 200 1 2 3 4 5 0BADCAFE",
            "HC1 200 1 2 3 4 5 badcafe",
            "HC1 200 1 2 3 4 5 00badcafe",
            "HC1 200 1 2 3 4 5 +badcafe",
            "HC1 +200 1 2 3 4 5 0badcafe",
            "HC1 0200 1 2 3 4 5 0badcafe",
            "HC1 200 -1 2 3 4 5 0badcafe",
            "HC1 200 1.5 2 3 4 5 0badcafe",
            "HC1 200 9223372036854775808 2 3 4 5 0badcafe",
            "HC1 200 253402300800 2 3 4 5 0badcafe",
            "HC1 200 1793534400000 2 3 4 5 0badcafe",
            "HC1 200 1 4294967296 3 4 5 0badcafe",
            "HC1 200 1 2  4 5 0badcafe",
            "HC1 200 1 2 3 4 18446744073709551616 0badcafe",
            "HC1 1 1 2 3 4 5 0badcafe",
            "HC1 100 1 2 3 4 5 0badcafe",
            "HC1 206 1 2 3 4 5 0badcafe",
            "HC1 304 1 2 3 4 5 0badcafe",
            "HC1 600 1 2 3 4 5 0badcafe",
            "HC1 65736 1 2 3 4 5 0badcafe",
        ] {
            assert_eq!(FirstLine::read(format!("{line}\r\n").as_bytes()), Err(Unusable::Unknown), "{line}");
        }
        for value in [&b"HC1 200 1 2 3 4 5 0badcafe"[..], b"HC1 200 1 2 3 4 5 0badcafe\n", b"HC1 200\xff1 2\r\n"] {
            assert_eq!(FirstLine::read(value), Err(Unusable::Unknown));
        }
    }

    #[test]
    fn a_first_line_has_at_most_128_bytes() {
        let longest = format!("HC1 200 {} {m} {m} {m} {} ffffffff\r\n", MOMENTS_END - 1, u64::MAX, m = u32::MAX);
        assert!(longest.len() <= LINE_MAX && FirstLine::read(longest.as_bytes()).is_ok(), "{}", longest.len());
        let later = format!("{}\r\n", " ".repeat(LINE_MAX));
        assert_eq!(FirstLine::read(later.as_bytes()), Err(Unusable::Unknown));
    }
}
