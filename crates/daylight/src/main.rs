//! daylight
fn main() {}
