//! Reads the text files of the kernel, and finds numbers in them by name.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The most bytes that are read of a file.
const MAX: u64 = 64 << 10;

/// The beginning of a file. `None`: the kernel does not have it, or refuses it.
pub(crate) fn read(path: &Path) -> Option<String> {
    read_up_to(path, MAX)
}

/// The first `max` bytes of a file.
pub(crate) fn read_up_to(path: &Path, max: u64) -> Option<String> {
    // With room from the beginning most files take one read.
    let mut bytes = Vec::with_capacity(4096);
    File::open(path).ok()?.take(max).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// The number in a file that has nothing else. `None` also for `max`, which stands for no limit.
pub(crate) fn single(path: &Path) -> Option<u64> {
    read(path)?.trim().parse().ok()
}

/// The number after a name at the beginning of a line: `name 1`, `name: 1`, `name:\t1 kB`.
pub(crate) fn number(text: &str, name: &str) -> Option<u64> {
    let mut values = text.lines().filter_map(|line| line.strip_prefix(name));
    let value = values.find(|rest| rest.starts_with([' ', '\t', ':']))?;
    value.trim_start_matches(':').split_whitespace().next()?.parse().ok()
}

/// The amount in KiB with this name, in bytes.
pub(crate) fn kib(text: &str, name: &str) -> Option<u64> {
    number(text, name)?.checked_mul(1 << 10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_number_is_found_by_its_whole_name_at_the_begin_of_a_line() {
        let text = "Name:\tdaylight\nVmRSS:\t  12 kB\nnr_throttled 7\nnr_throttled_more 8\nrchar: 6976\n x 1\n";
        let found = ["Name", "VmRSS", "nr_throttled", "rchar", "x", "VmSize"].map(|name| number(text, name));
        assert_eq!(found, [None, Some(12), Some(7), Some(6976), None, None]);
        assert_eq!([kib(text, "VmRSS"), kib("a: 18446744073709551615 kB", "a")], [Some(12 << 10), None]);
    }

    #[test]
    fn at_most_the_given_bytes_of_a_file_are_read_and_a_missing_file_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        crate::machine::tests::put(&path, "caf\u{e9} 12\n");
        assert_eq!(read(&path).as_deref(), Some("caf\u{e9} 12\n"));
        assert_eq!(read_up_to(&path, 4).as_deref(), Some("caf\u{fffd}"));
        assert_eq!((single(&path), read(folder.path())), (None, None));
        assert_eq!(read(&folder.path().join("missing")), None);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(a|[a-z_]{0,3})?[ \t:]{0,3}[0-9]{0,25}.*") {
            number(&text, "a");
            kib(&text, "a");
        }
    }
}
