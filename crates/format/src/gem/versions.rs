//! `/versions` of the compact index: a header, then a line for each change, in the order in which they happened.

use super::facts::slug;
use super::info::seconds;

/// What happened to a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// It was published.
    Push,
    /// It was withdrawn.
    Yank,
}

/// Everything before the first line: when the file was begun, in seconds since the epoch. Ends in a newline.
pub fn header(created_at: i64) -> String {
    format!("created_at: {}\n---\n", seconds(created_at))
}

/// The line that a change appends, without a newline. `md5` is that of `/info/NAME` after the change, in hexadecimal.
pub fn line(name: &str, op: Op, number: &str, platform: &str, md5: &str) -> String {
    let sign = if op == Op::Yank { "-" } else { "" };
    format!("{name} {sign}{} {md5}", slug(number, platform))
}

/// The file: its header and lines.
pub fn render<T: AsRef<str>>(created_at: i64, lines: impl IntoIterator<Item = T>) -> Vec<u8> {
    lines.into_iter().fold(header(created_at).into_bytes(), |mut body, line| {
        body.extend_from_slice(line.as_ref().as_bytes());
        body.push(b'\n');
        body
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MD5: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn a_change_is_a_line() {
        assert_eq!(line("rack", Op::Push, "3.1.2", "ruby", MD5), format!("rack 3.1.2 {MD5}"));
        assert_eq!(line("rack", Op::Yank, "3.1.2", "java", MD5), format!("rack -3.1.2-java {MD5}"));
    }

    #[test]
    fn the_file_begins_with_the_moment_it_was_begun() {
        assert_eq!(header(1_780_017_037), "created_at: 2026-05-29T01:10:37Z\n---\n");
        assert_eq!(render(0, ["a 1 x", "b 2 y"]), b"created_at: 1970-01-01T00:00:00Z\n---\na 1 x\nb 2 y\n");
    }
}
