//! Writes Ruby's Marshal 4.8, as far as RubyGems and Bundler read it.
//!
//! Values are written in sequence; an array is written as its length and its items. A symbol is written in full once
//! and as a link afterwards, as Ruby does. Objects are never linked: each is written in full, which `Marshal.load` and
//! the stricter reader of RubyGems 3.5 (`Gem::SafeMarshal`) accept.

/// The first bytes of every stream: the version of the format.
pub const OPENING: [u8; 2] = [4, 8];

/// Appends values to a stream.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
    /// Symbols that the stream already contains, in the order of their numbers.
    before: &'static [&'static str],
    /// Symbols that this writer has written. Their numbers continue those of `before`.
    defined: Vec<&'static str>,
}

impl<'a> Writer<'a> {
    /// Writes the first value of a stream.
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        Self::after(&[], out)
    }

    /// Writes values of a stream that already contains exactly these symbols.
    pub fn after(before: &'static [&'static str], out: &'a mut Vec<u8>) -> Self {
        Self { out, before, defined: Vec::new() }
    }

    /// `nil`.
    pub fn nil(&mut self) {
        self.out.push(b'0');
    }

    /// `true` or `false`.
    pub fn bool(&mut self, value: bool) {
        self.out.push(if value { b'T' } else { b'F' });
    }

    /// A small number.
    pub fn int(&mut self, value: u32) {
        self.out.push(b'i');
        number(self.out, value as usize);
    }

    /// A symbol.
    pub fn symbol(&mut self, name: &'static str) {
        let known = self.before.iter().chain(&self.defined).position(|known| *known == name);
        if let Some(at) = known {
            self.out.push(b';');
            number(self.out, at);
        } else {
            self.out.push(b':');
            bytes(self.out, name.as_bytes());
            self.defined.push(name);
        }
    }

    /// A String, in UTF-8.
    pub fn string(&mut self, text: &str) {
        self.encoded(text, true);
    }

    /// A String in UTF-8 or US-ASCII. Ruby uses US-ASCII for the names of its time zones.
    fn encoded(&mut self, text: &str, utf8: bool) {
        self.out.extend_from_slice(b"I\"");
        bytes(self.out, text.as_bytes());
        number(self.out, 1);
        self.symbol("E");
        self.bool(utf8);
    }

    /// A String, or `nil`.
    pub fn string_or_nil(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.string(text),
            None => self.nil(),
        }
    }

    /// Starts an Array; its items follow.
    pub fn array(&mut self, items: usize) {
        self.out.push(b'[');
        number(self.out, items);
    }

    /// An Array of Strings.
    pub fn strings<T: AsRef<str>>(&mut self, texts: &[T]) {
        self.array(texts.len());
        texts.iter().for_each(|text| self.string(text.as_ref()));
    }

    /// Starts a Hash; keys and values follow in turn.
    pub fn hash(&mut self, pairs: usize) {
        self.out.push(b'{');
        number(self.out, pairs);
    }

    /// Starts an object; the names of its instance variables and their values follow in turn.
    pub fn object(&mut self, class: &'static str, variables: usize) {
        self.out.push(b'o');
        self.symbol(class);
        number(self.out, variables);
    }

    /// Starts an object that `marshal_load` creates from the next value.
    pub fn loaded(&mut self, class: &'static str) {
        self.out.push(b'U');
        self.symbol(class);
    }

    /// An object that `_load` creates from bytes.
    pub fn dumped(&mut self, class: &'static str, body: &[u8]) {
        self.out.push(b'u');
        self.symbol(class);
        bytes(self.out, body);
    }

    /// A Time: midnight of a day, in UTC. Ruby packs it into eight bytes (`time_mdump` of its `time.c`), which have 16
    /// bits for the years since 1900; earlier days become the first day of 1900.
    pub fn day(&mut self, day: jiff::civil::Date) {
        let years = i32::from(day.year()) - 1900;
        let (years, month, day) =
            if years < 0 { (0, 0, 1) } else { (years as u32, day.month() as u32 - 1, day.day() as u32) };
        let packed = 1 << 31 | 1 << 30 | years << 14 | month << 10 | day << 5;
        let mut body = packed.to_le_bytes().to_vec();
        body.extend_from_slice(&[0; 4]);
        self.out.push(b'I');
        self.dumped("Time", &body);
        number(self.out, 1);
        self.symbol("zone");
        self.encoded("UTC", false);
    }
}

fn bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    number(out, bytes.len());
    out.extend_from_slice(bytes);
}

/// A number without its type: a length, or the index of a symbol. At most four bytes, least significant first; a
/// small number is one byte, increased by five.
fn number(out: &mut Vec<u8>, value: usize) {
    let value = u32::try_from(value).unwrap_or(u32::MAX);
    match value {
        0 => out.push(0),
        1..=122 => out.push(value as u8 + 5),
        _ => {
            let length = 4 - value.leading_zeros() as usize / 8;
            out.push(length as u8);
            out.extend_from_slice(&value.to_le_bytes()[..length]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut Writer::new(&mut out));
        out
    }

    #[test]
    fn numbers_are_as_short_as_ruby_writes_them() {
        for (value, expected) in [
            (0, &[0][..]),
            (1, &[6]),
            (122, &[127]),
            (123, &[1, 123]),
            (255, &[1, 255]),
            (256, &[2, 0, 1]),
            (65_536, &[3, 0, 0, 1]),
            (1_500_000, &[3, 0x60, 0xe3, 0x16]),
            (1 << 24, &[4, 0, 0, 0, 1]),
        ] {
            let mut out = Vec::new();
            number(&mut out, value);
            assert_eq!(out, expected, "{value}");
        }
    }

    #[test]
    fn a_symbol_is_written_once_and_linked_afterwards() {
        assert_eq!(
            written(|to| {
                to.string("a");
                to.symbol("name");
                to.string("ü");
                to.symbol("name");
            }),
            [b"I\"\x06a\x06:\x06ET:\x09nameI\"\x07\xc3\xbc\x06;\x00T;\x06".as_slice()].concat()
        );
        let mut out = Vec::new();
        Writer::after(&["E", "name"], &mut out).symbol("name");
        assert_eq!(out, b";\x06");
    }

    #[test]
    fn a_day_is_packed_as_ruby_packs_a_time() {
        let day = |text: &str| written(|to| to.day(text.parse().unwrap()));
        assert_eq!(day("2024-07-09"), b"Iu:\x09Time\x0d\x20\x19\x1f\xc0\0\0\0\0\x06:\x09zoneI\"\x08UTC\x06:\x06EF");
        assert_eq!(day("1600-07-09"), day("1900-01-01"));
    }

    #[test]
    fn composite_values_say_how_much_follows() {
        assert_eq!(
            written(|to| {
                to.array(2);
                to.nil();
                to.int(4);
            }),
            b"[\x070i\x09"
        );
        assert_eq!(written(|to| to.hash(1)), b"{\x06");
        assert_eq!(written(|to| to.object("A", 3)), b"o:\x06A\x08");
        assert_eq!(written(|to| to.loaded("A")), b"U:\x06A");
        assert_eq!(written(|to| to.dumped("A", b"xy")), b"u:\x06A\x07xy");
        assert_eq!(written(|to| to.strings(&["a"; 0])), b"[\0");
        assert_eq!(written(|to| to.bool(true)), b"T");
    }
}
