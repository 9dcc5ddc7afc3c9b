//! Reads a `specs.4.8` of another server: an array of `[name, Gem::Version, platform]` in Ruby's Marshal. Anything
//! else, including links to objects, is refused.

use super::listing::Malformed;
use flate2::bufread::GzDecoder;
use std::io::Read;

/// An element: the name, the number and the platform.
pub type Tuple = (String, String, String);

/// Reads the compressed file. `limit_bytes` limits the decompressed size.
pub fn specs(compressed: &[u8], limit_bytes: u64) -> Result<Vec<Tuple>, Malformed> {
    let wrong = |why| Malformed { file: "the older index", line: 1, why };
    let mut stream = Vec::new();
    let read = GzDecoder::new(compressed).take(limit_bytes.saturating_add(1)).read_to_end(&mut stream);
    read.map_err(|_| wrong("it is not gzip"))?;
    if stream.len() as u64 > limit_bytes {
        return Err(wrong("it is too large"));
    }
    Reader { rest: &stream, symbols: Vec::new() }
        .tuples()
        .ok_or_else(|| wrong("it is not a list of versions in Marshal"))
}

struct Reader<'a> {
    rest: &'a [u8],
    symbols: Vec<&'a [u8]>,
}

impl<'a> Reader<'a> {
    fn tuples(mut self) -> Option<Vec<Tuple>> {
        self.expect(b"\x04\x08[")?;
        // No memory is reserved for the length in the stream: each element must arrive first.
        let (count, mut all) = (self.number()?, Vec::new());
        for _ in 0..count {
            self.expect(b"[")?;
            (self.number()? == 3).then_some(())?;
            all.push((self.string()?, self.version()?, self.string()?));
        }
        self.rest.is_empty().then_some(all)
    }

    fn version(&mut self) -> Option<String> {
        self.expect(b"U")?;
        (self.symbol()? == b"Gem::Version").then_some(())?;
        self.expect(b"[")?;
        (self.number()? == 1).then_some(())?;
        self.string()
    }

    /// With its encoding, which is UTF-8 or ASCII, or without.
    fn string(&mut self) -> Option<String> {
        let kind = self.byte()?;
        if kind == b'I' {
            self.expect(b"\"")?;
        } else if kind != b'"' {
            return None;
        }
        let text = self.bytes()?;
        if kind == b'I' {
            (self.number()? == 1 && self.symbol()? == b"E").then_some(())?;
            matches!(self.byte()?, b'T' | b'F').then_some(())?;
        }
        String::from_utf8(text.to_vec()).ok()
    }

    /// In full, or as a link to an earlier one.
    fn symbol(&mut self) -> Option<&'a [u8]> {
        match self.byte()? {
            b':' => {
                let name = self.bytes()?;
                self.symbols.push(name);
                Some(name)
            }
            b';' => {
                let at = self.number()?;
                self.symbols.get(at).copied()
            }
            _ => None,
        }
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let count = self.number()?;
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<usize> {
        match self.byte()? {
            0 => Some(0),
            count @ 1..=4 => {
                let (digits, rest) = self.rest.split_at_checked(usize::from(count))?;
                self.rest = rest;
                Some(digits.iter().rev().fold(0, |number, digit| number << 8 | usize::from(*digit)))
            }
            small @ 6..=127 => Some(usize::from(small) - 5),
            _ => None,
        }
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn expect(&mut self, these: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(these)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use crate::gem::specs;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write as _;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(bytes).unwrap();
        packer.finish().unwrap()
    }

    fn written(count: usize) -> Vec<u8> {
        let mut out = specs::opening(count);
        for at in 0..count {
            specs::tuple(&mut out, &format!("lamp{at}"), "1.0", if at % 2 == 0 { "ruby" } else { "java" }, at == 0);
        }
        out
    }

    #[test]
    fn what_is_written_is_read_again() {
        for count in [0, 1, 2, 1000] {
            let tuples = super::specs(&packed(&written(count)), 1 << 20).unwrap();
            assert_eq!(tuples.len(), count);
            assert!(tuples.get(1).is_none_or(|(name, number, platform)| (
                name.as_str(),
                number.as_str(),
                platform.as_str()
            ) == ("lamp1", "1.0", "java")));
        }
    }

    #[test]
    fn what_is_cut_off_or_goes_on_or_is_too_large_is_refused() {
        let whole = written(3);
        for end in 0..whole.len() {
            assert!(super::specs(&packed(&whole[..end]), 1 << 20).is_err(), "{end}");
        }
        assert!(super::specs(&packed(&[whole.as_slice(), b"0"].concat()), 1 << 20).is_err());
        assert!(super::specs(&packed(&whole), whole.len() as u64 - 1).is_err());
        assert!(super::specs(b"plain", 1 << 20).is_err());
        assert!(super::specs(&packed(b"\x04\x08[\x04\xff\xff\xff\x7f"), 1 << 20).is_err());
    }
}
