#!/usr/bin/env bash
# Maven has a number of repeats for requests (3), and Resolver can ask for the rest of a file. A download whose connection ends in the middle of the
# body is neither repeated nor continued: the build fails at once, and the next one fetches the whole file again.
set -euo pipefail

maven=3.10.0
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT

mvn -q -B "-Dmaven.repo.local=$work/m2" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
  "-Dartifact=org.apache.maven:apache-maven:$maven:tar.gz:bin" "-DoutputDirectory=$work"
tar -xzf "$work/apache-maven-$maven-bin.tar.gz" -C "$work"

cat >"$work/server.py" <<'PYTHON'
"""Serves a POM and a jar of 3 MB. The first download of the jar by each release of Maven ends in its middle."""
import hashlib, http.server, sys

pom = sys.argv[1].encode()
jar = bytes(range(256)) * 12_000
broken = set()

class Site(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        file = jar if ".jar" in self.path else pom if ".pom" in self.path else None
        if self.path.endswith(".sha1") and file:
            file = hashlib.sha1(file).hexdigest().encode()
        print(self.headers["User-Agent"].split(" ")[0], self.path, "part" if self.headers["Range"] else "whole", file=sys.stderr, flush=True)
        self.send_response(200 if file else 404)
        self.send_header("Content-Length", str(len(file or b"")))
        self.end_headers()
        if self.path.endswith(".jar") and self.headers["User-Agent"] not in broken:
            broken.add(self.headers["User-Agent"])
            self.wfile.write(file[: len(file) // 2])
            self.close_connection = True
        elif file:
            self.wfile.write(file)

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
print(server.server_address[1], flush=True)
server.serve_forever()
PYTHON
lamp='<groupId>example</groupId><artifactId>lamp</artifactId><version>1.0</version>'
project() { echo "<project><modelVersion>4.0.0</modelVersion>$1</project>"; }
python3 "$work/server.py" "$(project "$lamp")" >"$work/port" 2>"$work/requests" &
server=$!
until [ -s "$work/port" ]; do kill -0 "$server"; done
mkdir "$work/app"
project "<groupId>example</groupId><artifactId>app</artifactId><version>1.0</version>
  <dependencies><dependency>$lamp</dependency></dependencies>
  <repositories><repository><id>ours</id><url>http://127.0.0.1:$(cat "$work/port")/</url></repository></repositories>" >"$work/app/pom.xml"

resolve() { # MVN LOCAL
  "$1" -B -f "$work/app/pom.xml" "-Dmaven.repo.local=$work/$2" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:resolve >"$work/said" 2>&1
}
for mvn in "$(command -v mvn)" "$work/apache-maven-$maven/bin/mvn"; do
  release=$("$mvn" -v 2>/dev/null | grep -om 1 'Maven [0-9.]*')
  if resolve "$mvn" "of-$release"; then echo "changed: $release repeats or continues a download that breaks off" >&2; exit 1; fi
  grep -m 1 -o 'Premature end.*)' "$work/said"
  resolve "$mvn" "of-$release" || { cat "$work/said"; exit 1; }
  asked=$(grep "/${release#Maven } .*lamp-1.0.jar " "$work/requests" | cut -d' ' -f3 | tr '\n' ' ')
  [ "$asked" = "whole whole " ] || { echo "changed: $release asked for: $asked" >&2; exit 1; }
  echo "$release: the build failed when the download of a jar broke off; the next build fetched the whole jar again"
done
