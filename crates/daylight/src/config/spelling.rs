//! Suggestions for names that are misspelled.

/// The known name that is most similar to `name`, if one is similar.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let scored = known.map(|known| (strsim::damerau_levenshtein(name, known), known));
    let (distance, known) = scored.min_by_key(|(distance, _)| *distance)?;
    (distance <= 1 + name.len() / 3).then(|| known.to_owned())
}
