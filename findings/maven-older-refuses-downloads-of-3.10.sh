#!/usr/bin/env bash
# A local repository that Maven 3.10.0 filled is incomplete for Maven 3.8 and 3.9: `_remote.repositories` names the source of a file by the id of the
# repository and a digest, and older releases look for the id alone. Offline they say that the file was never downloaded. The reverse works.
set -euo pipefail

maven=3.10.0
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT

mvn -q -B "-Dmaven.repo.local=$work/m2" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
  "-Dartifact=org.apache.maven:apache-maven:$maven:tar.gz:bin" "-DoutputDirectory=$work"
tar -xzf "$work/apache-maven-$maven-bin.tar.gz" -C "$work"
new="$work/apache-maven-$maven/bin/mvn"
old=$(command -v mvn)

pom() { echo "<project><modelVersion>4.0.0</modelVersion>$1<packaging>pom</packaging></project>"; }
folder="$work/site/example/house/1.0"
mkdir -p "$folder" "$work/app"
pom '<groupId>example</groupId><artifactId>house</artifactId><version>1.0</version>' >"$folder/house-1.0.pom"
sha1sum <"$folder/house-1.0.pom" | cut -d' ' -f1 >"$folder/house-1.0.pom.sha1"
python3 -u -m http.server --bind 127.0.0.1 --directory "$work/site" 0 >"$work/port" 2>/dev/null &
server=$!
until grep -q 'port' "$work/port"; do kill -0 "$server"; done
port=$(sed -n 's/.* port \([0-9]*\).*/\1/p' "$work/port")
pom "<parent><groupId>example</groupId><artifactId>house</artifactId><version>1.0</version><relativePath/></parent><artifactId>app</artifactId>
  <repositories><repository><id>ours</id><url>http://127.0.0.1:$port/</url></repository></repositories>" >"$work/app/pom.xml"

validate() { # MVN LOCAL [FLAG]: 0 if it gets the parent
  "$1" -B -f "$work/app/pom.xml" "-Dmaven.repo.local=$work/$2" "${@:3}" validate >"$work/said" 2>&1
}
must() { validate "$@" || { cat "$work/said"; exit 1; }; }
must "$new" by-new
must "$new" by-new -o
must "$old" by-old
must "$old" by-old -o
must "$new" by-old -o
cat "$work/by-new/example/house/1.0/_remote.repositories"
if validate "$old" by-new -o; then echo "changed: the older Maven takes what Maven $maven downloaded" >&2; exit 1; fi
grep -m 1 -i 'offline' "$work/said" | cut -c1-300
release=$("$old" -v 2>/dev/null | grep -om 1 'Maven [0-9.]*')
echo "$release does not take, offline, what Maven $maven downloaded; Maven $maven takes what $release downloaded"
