#!/usr/bin/env bash
# cargo-deb says that it makes no copyright file where the package has one. It makes one all the same where a pattern such as `documents/*`
# brings it, and the package has the made one alone. Without authors in Cargo.toml it says "Copyright information missing". It ends with 0.
set -euo pipefail

cargo_deb=3.8.0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Building it takes minutes, so one that is there is taken.
PATH="$PATH:${XDG_CACHE_HOME:-$HOME/.cache}/daylight/tools/bin"
if [ "$(cargo-deb --version 2>/dev/null)" != "cargo-deb $cargo_deb" ]; then
  cargo install --quiet --locked --version "$cargo_deb" --root "$work/tools" cargo-deb
  PATH="$work/tools/bin:$PATH"
fi

mkdir -p "$work/lamp/src" "$work/lamp/documents"
echo 'fn main() {}' >"$work/lamp/src/main.rs"
cat >"$work/lamp/documents/copyright" <<'END'
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
Copyright: 2026 The authors of Lamp
License: Apache-2.0
 On Debian systems its text is in /usr/share/common-licenses/Apache-2.0.
END

copyright() { # SOURCE DEST: prints the line of the package's copyright file that speaks of copyright
  cat >"$work/lamp/Cargo.toml" <<END
[package]
name = "lamp"
version = "1.0.0"
edition = "2021"
license = "Apache-2.0"
description = "A lamp"

[package.metadata.deb]
maintainer = "The authors of Lamp <lamp@packages.example>"
depends = ""
assets = [["target/release/lamp", "usr/bin/", "755"], ["$1", "$2", "644"]]
END
  (cd "$work/lamp" && env -u CARGO_TARGET_DIR cargo deb --quiet --output "$work/lamp.deb") >"$work/said" 2>&1
  dpkg-deb --fsys-tarfile "$work/lamp.deb" | tar -x --to-stdout ./usr/share/doc/lamp/copyright | grep '^Co.*: .*authors'
}
named=$(copyright documents/copyright usr/share/doc/lamp/copyright)
pattern=$(copyright 'documents/*' usr/share/doc/lamp/)
printf 'cargo-deb %s, the file named: %s\nby a pattern: %s\n' "$cargo_deb" "$named" "$pattern"
case "$named; $pattern" in
  'Copyright: 2026 The authors of Lamp; Comment: Copyright information missing'*) ;;
  *) cat "$work/said"; echo "changed: by a pattern, cargo-deb put a made file in the place of the package's own" >&2; exit 1 ;;
esac
