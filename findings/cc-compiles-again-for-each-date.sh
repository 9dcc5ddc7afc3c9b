#!/usr/bin/env bash
# SOURCE_DATE_EPOCH is for reproducible results: the date of the commit, by convention. Crate cc, with which ring, SQLite and zstd are compiled, lets
# their build scripts run again when the variable changes. So each commit compiles all C again, and every crate above it.
set -euo pipefail

version=1.11.1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir -p below/src above/src
cat > Cargo.toml <<'TOML'
[workspace]
members = ["below", "above"]
resolver = "2"
TOML
cat > below/Cargo.toml <<TOML
[package]
name = "below"
version = "0.1.0"
edition = "2021"
[build-dependencies]
cc = "=$version"
TOML
cat > below/build.rs <<'RUST'
fn main() {
    cc::Build::new().file("src/one.c").compile("one");
    println!("cargo:rerun-if-changed=src/one.c");
}
RUST
echo 'int one(void) { return 1; }' > below/src/one.c
echo 'extern "C" { pub fn one() -> i32; }' > below/src/lib.rs
cat > above/Cargo.toml <<'TOML'
[package]
name = "above"
version = "0.1.0"
edition = "2021"
[dependencies]
below = { path = "../below" }
TOML
echo 'fn main() { assert_eq!(unsafe { below::one() }, 1); }' > above/src/main.rs

unset CARGO_TARGET_DIR
# Prints the crates that are compiled at a date, and the digest of the archive of C.
build() {
  SOURCE_DATE_EPOCH=$1 cargo build 2> log || { cat log >&2; exit 1; }
  sed -n 's/^ *Compiling \([a-z]*\) .*/\1/p' log | grep -E 'above|below' | sort | paste -sd' ' || true
}
digest() { sha256sum target/debug/build/below-*/out/libone.a | cut -d' ' -f1; }
build 1700000000 > first
before=$(digest)
build 1700000000 > same
build 1700000001 > second
echo "cc $version: first $(cat first); the same date: $(cat same); a second later: $(cat second)"
[ "$before" = "$(digest)" ] && echo "the archive of C is the same, byte for byte"
if [ -z "$(tr -d '[:space:]' < same)" ] && [ "$(cat second)" = "above below" ] && [ "$before" = "$(digest)" ]; then
  echo "another date compiles the C again, and all above it, to the same bytes"
else
  echo "cc $version behaves differently now" >&2
  exit 1
fi
