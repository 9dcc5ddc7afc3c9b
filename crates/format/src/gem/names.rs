//! `/names` of the compact index: the names of all gems. No official client asks for it, but mirrors do.

/// The file; names come in byte order. Without a name it ends in an empty line, as clients know it.
pub fn render<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> Vec<u8> {
    let mut body = b"---\n".to_vec();
    for name in names {
        body.extend_from_slice(name.as_ref().as_bytes());
        body.push(b'\n');
    }
    if body.len() == 4 {
        body.push(b'\n');
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_a_line_and_no_name_is_an_empty_one() {
        assert_eq!(render(["a", "b-c"]), b"---\na\nb-c\n");
        assert_eq!(render([""; 0]), b"---\n\n");
    }
}
