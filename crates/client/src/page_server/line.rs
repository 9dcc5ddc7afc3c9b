//! The first line of a reply of memcached (`doc/protocol.txt` of 1.6.18) or of Redis (RESP, version 2).

use super::command::{Dialect, opaque};

/// The longest value that either server can hold is far below this.
const LEN_MAX: u64 = 1 << 31;
/// The most bytes of a refusal that are kept.
const REFUSAL_MAX_BYTES: usize = 200;

/// A line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    /// There is no item.
    Missing,
    /// The item is there, without its bytes.
    Present(Marks),
    /// So many bytes of a value follow, and a line break.
    Value { len: usize, marks: Marks },
    /// The command was carried out.
    Done,
    /// A line of a reply to `stats`: more follow.
    Figure(Figure),
    /// The server refuses the command. `ends`: the commands after it may not be what the client sent.
    Refused { why: String, ends: bool },
}

/// A figure of memcached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Figure {
    /// The number of its process.
    Process(u64),
    /// The seconds since its start.
    Uptime(u64),
    /// Its time of day, in seconds since 1970.
    Time(u64),
    /// The size of its pointers: it is memcached itself, and no proxy in front of it.
    Pointers,
    /// Any other.
    Other,
}

/// What a line tells of its item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Marks {
    pub(super) flags: u32,
    pub(super) version: Option<u64>,
    pub(super) won: bool,
    pub(super) stale: bool,
}

/// Why a line cannot be read.
pub(super) const NOT_READ: &str = "it is not a reply of its protocol";
const OUT_OF_TURN: &str = "it belongs to another command";

/// Reads a line without its line break. `turn` counts the replies of the connection.
pub(super) fn read(line: &[u8], dialect: Dialect, turn: u8) -> Result<Line, &'static str> {
    match dialect {
        Dialect::Meta | Dialect::Gets => memcached(line, turn),
        Dialect::Resp => resp(line),
    }
}

fn memcached(line: &[u8], turn: u8) -> Result<Line, &'static str> {
    let mut words = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    match words.next() {
        Some(b"HD") => Ok(Line::Present(marks(words, turn, true)?)),
        // 1.6.18 repeats the opaque of a command that found nothing, others do not.
        Some(b"EN") => marks(words, turn, false).map(|_| Line::Missing),
        Some(b"VA") => {
            let len = len(words.next())?;
            Ok(Line::Value { len, marks: marks(words, turn, true)? })
        }
        Some(b"VALUE") => {
            let (_key, flags) = (words.next(), words.next());
            let flags = flags.and_then(number).and_then(|flags| u32::try_from(flags).ok()).ok_or(NOT_READ)?;
            let len = len(words.next())?;
            let version = words.next().and_then(number).ok_or(NOT_READ).map(counted)?;
            Ok(Line::Value { len, marks: Marks { flags, version, ..Marks::default() } })
        }
        Some(b"END") => Ok(Line::Missing),
        Some(b"MN" | b"STORED") => Ok(Line::Done),
        Some(b"STAT") => Ok(Line::Figure(figure(words.next(), words.next()))),
        Some(b"SERVER_ERROR") => Ok(refused(line, false)),
        Some(b"ERROR" | b"CLIENT_ERROR") => Ok(refused(line, true)),
        _ => Err(NOT_READ),
    }
}

fn figure(name: Option<&[u8]>, value: Option<&[u8]>) -> Figure {
    match (name, value.and_then(number)) {
        (Some(b"pid"), Some(value)) => Figure::Process(value),
        (Some(b"uptime"), Some(value)) => Figure::Uptime(value),
        (Some(b"time"), Some(value)) => Figure::Time(value),
        (Some(b"pointer_size"), Some(_)) => Figure::Pointers,
        _ => Figure::Other,
    }
}

/// A version. Without CAS (`memcached -C`), all items have version 0, which tells nothing.
fn counted(version: u64) -> Option<u64> {
    (version != 0).then_some(version)
}

/// The flags of a meta reply, which come in any order.
fn marks<'a>(words: impl Iterator<Item = &'a [u8]>, turn: u8, whole: bool) -> Result<Marks, &'static str> {
    let (mut marks, mut is_ours) = (Marks::default(), !whole);
    for word in words {
        match word {
            b"W" => marks.won = true,
            b"X" => marks.stale = true,
            [b'c', version @ ..] => marks.version = counted(number(version).ok_or(NOT_READ)?),
            [b'f', flags @ ..] => {
                let flags = number(flags).and_then(|flags| u32::try_from(flags).ok());
                marks.flags = flags.ok_or(NOT_READ)?;
            }
            [b'O', ours @ ..] if ours == [opaque(turn)] => is_ours = true,
            [b'O', ..] => return Err(OUT_OF_TURN),
            // `Z`: somebody else is to write it again. Others are not asked for.
            _ => {}
        }
    }
    if is_ours { Ok(marks) } else { Err(OUT_OF_TURN) }
}

fn resp(line: &[u8]) -> Result<Line, &'static str> {
    match line {
        b"$-1" => Ok(Line::Missing),
        [b'$', rest @ ..] => Ok(Line::Value { len: len(Some(rest))?, marks: Marks::default() }),
        [b'+' | b':', ..] => Ok(Line::Done),
        [b'-', why @ ..] => Ok(refused(why, false)),
        _ => Err(NOT_READ),
    }
}

fn refused(why: &[u8], ends: bool) -> Line {
    let why = &why[..why.len().min(REFUSAL_MAX_BYTES)];
    let why = String::from_utf8_lossy(why).chars().filter(|letter| !letter.is_control()).collect();
    Line::Refused { why, ends }
}

fn len(word: Option<&[u8]>) -> Result<usize, &'static str> {
    let len = word.and_then(number).filter(|len| *len <= LEN_MAX).and_then(|len| usize::try_from(len).ok());
    len.ok_or("it has a value of no possible length")
}

/// A number of digits alone.
fn number(word: &[u8]) -> Option<u64> {
    let add = |sum: u64, digit: &u8| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    };
    if word.is_empty() { None } else { word.iter().try_fold(0, add) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_of_a_meta_reply_come_in_any_order() {
        let marks = Marks { flags: 4, version: Some(12), won: true, stale: true };
        for line in ["VA 5 f4 c12 OA X W", "VA 5 W OA c12 Z X f4 t-1 s5", "VA  5 c12 f4 X W OA"] {
            assert_eq!(read(line.as_bytes(), Dialect::Meta, 26), Ok(Line::Value { len: 5, marks }), "{line}");
        }
        let present = |version, won| Ok(Line::Present(Marks { version, won, ..Marks::default() }));
        assert_eq!(read(b"HD c7 OB", Dialect::Meta, 1), present(Some(7), false));
        assert_eq!(read(b"HD OB W", Dialect::Meta, 1), present(None, true));
        assert_eq!(read(b"HD c0 OB", Dialect::Meta, 1), present(None, false));
        for line in ["EN", "EN ", "EN OB", "END"] {
            assert_eq!(read(line.as_bytes(), Dialect::Meta, 1), Ok(Line::Missing), "{line}");
        }
    }

    #[test]
    fn a_reply_to_another_command_is_refused() {
        for line in ["HD c7 OA", "HD c7", "VA 5 f0 c7 OC", "VA 5", "EN OC", "HD OBB", "HD O"] {
            assert_eq!(read(line.as_bytes(), Dialect::Meta, 1), Err(OUT_OF_TURN), "{line}");
        }
    }

    #[test]
    fn older_servers_and_redis_tell_the_same_in_their_words() {
        let marks = Marks { flags: 4, version: Some(9), ..Marks::default() };
        assert_eq!(read(b"VALUE k 4 5 9", Dialect::Gets, 0), Ok(Line::Value { len: 5, marks }));
        assert_eq!(read(b"$5", Dialect::Resp, 0), Ok(Line::Value { len: 5, marks: Marks::default() }));
        assert_eq!(read(b"$-1", Dialect::Resp, 0), Ok(Line::Missing));
        assert_eq!(read(b"+OK", Dialect::Resp, 0), Ok(Line::Done));
        let refused = |why: &str, ends| Ok(Line::Refused { why: why.to_owned(), ends });
        assert_eq!(read(b"-NOAUTH x\x1b", Dialect::Resp, 0), refused("NOAUTH x", false));
        assert_eq!(read(b"SERVER_ERROR x", Dialect::Meta, 0), refused("SERVER_ERROR x", false));
        assert_eq!(read(b"CLIENT_ERROR x", Dialect::Meta, 0), refused("CLIENT_ERROR x", true));
        assert_eq!(read(b"ERROR", Dialect::Gets, 0), refused("ERROR", true));
    }

    #[test]
    fn a_hostile_line_is_no_reply() {
        let long = format!("VA {} OA", "9".repeat(60));
        for line in [
            "",
            " ",
            "VA",
            "VA x OA",
            "VA -1 OA",
            "VA +5 OA",
            "VA 99999999999 OA",
            &long,
            "VA 5 c OA",
            "VA 5 cx OA",
            "VA 5 f4294967296 OA",
            "VALUE k 0 5",
            "VALUE k 0",
            "VALUE",
            "VALUE k -1 5 9",
            "NF",
            "HTTP/1.1 400 Bad Request",
            "va 5 OA",
            "+OK",
            "$5",
        ] {
            assert!(read(line.as_bytes(), Dialect::Meta, 0).is_err(), "{line}");
        }
        for line in ["", "$", "$-2", "$x", "$99999999999", "*1", "VA 5", "HTTP/1.1 400 Bad Request"] {
            assert!(read(line.as_bytes(), Dialect::Resp, 0).is_err(), "{line}");
        }
    }
}
