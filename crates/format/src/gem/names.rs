//! `/names` of the compact index: the names of all gems, in byte order. Mirrors request it; official clients do not.
//! Without names it ends in an empty line, as clients expect.

/// The beginning of the file.
pub fn opening(names: usize) -> &'static str {
    if names == 0 { "---\n\n" } else { "---\n" }
}

/// The line of a name.
pub fn line(name: &str) -> String {
    format!("{name}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_a_line_and_no_name_is_an_empty_one() {
        assert_eq!([opening(2), &line("a"), &line("b-c")].concat(), "---\na\nb-c\n");
        assert_eq!(opening(0), "---\n\n");
    }
}
