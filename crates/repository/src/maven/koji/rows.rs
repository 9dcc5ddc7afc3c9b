//! The rows of the journal that a map is made of: one for each build, and one for each tagging or its end.
