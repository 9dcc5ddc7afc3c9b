#!/usr/bin/env bash
# Maven 3.10.0 reads `.meta/prefixes.txt` of a repository once a day. A group that is published after that is "not allowed" from the repository,
# although the repository's list has it by then; `-U` reads the list again.
set -euo pipefail

maven=3.10.0
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT

copy() { # ARTIFACT: with the Maven of this machine
  mvn -q -B "-Dmaven.repo.local=$work/m2" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
    "-Dartifact=$1" "-DoutputDirectory=$work"
}
copy "org.apache.maven:apache-maven:$maven:tar.gz:bin"
tar -xzf "$work/apache-maven-$maven-bin.tar.gz" -C "$work"

publish() { # GROUP: lamp 1.0, as a POM and a jar, and its prefix
  local folder="$work/site/$1/lamp/1.0"
  mkdir -p "$folder"
  echo "<project><modelVersion>4.0.0</modelVersion><groupId>$1</groupId><artifactId>lamp</artifactId><version>1.0</version></project>" >"$folder/lamp-1.0.pom"
  echo jar >"$folder/lamp-1.0.jar"
  for file in "$folder"/*; do sha1sum <"$file" | cut -d' ' -f1 >"$file.sha1"; done
  echo "/$1" >>"$work/site/.meta/prefixes.txt"
}
mkdir -p "$work/site/.meta"
echo '## repository-prefixes/2.0' >"$work/site/.meta/prefixes.txt"
publish early

python3 -u -m http.server --bind 127.0.0.1 --directory "$work/site" 0 >"$work/port" 2>/dev/null &
server=$!
until grep -q 'port' "$work/port"; do kill -0 "$server"; done
port=$(sed -n 's/.* port \([0-9]*\).*/\1/p' "$work/port")

cat >"$work/pom.xml" <<END
<project><modelVersion>4.0.0</modelVersion><groupId>app</groupId><artifactId>app</artifactId><version>1</version><packaging>pom</packaging>
<repositories><repository><id>ours</id><url>http://127.0.0.1:$port/</url></repository></repositories>
<dependencies><dependency><groupId>\${group}</groupId><artifactId>lamp</artifactId><version>1.0</version></dependency></dependencies></project>
END
resolve() { # GROUP [FLAG]: 0 if Maven gets its lamp
  "$work/apache-maven-$maven/bin/mvn" -B -f "$work/pom.xml" "-Dmaven.repo.local=$work/local" "-Dgroup=$1" "${@:2}" \
    org.apache.maven.plugins:maven-dependency-plugin:3.8.1:resolve >"$work/said" 2>&1
}
resolve early || { cat "$work/said"; exit 1; }
publish late
if resolve late; then echo "changed: Maven $maven resolved a group that was published after it had read the list" >&2; exit 1; fi
grep -m 1 -iE "not allowed|ould not (find|resolve).*lamp" "$work/said" | cut -c1-300
resolve late -U || { cat "$work/said"; exit 1; }
echo "Maven $maven: a group that was published after the list of prefixes was read is not resolved; with -U it is"
