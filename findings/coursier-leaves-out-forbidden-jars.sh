#!/usr/bin/env bash
# Coursier gets the POM of a module, and 403 for its jar: it ends with 0 and leaves the jar out of its result. With 401 it fails.
set -euo pipefail

coursier=2.1.24
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT

cat >"$work/pom.xml" <<END
<project><modelVersion>4.0.0</modelVersion><groupId>tools</groupId><artifactId>tools</artifactId><version>1</version>
<dependencies><dependency><groupId>io.get-coursier</groupId><artifactId>coursier-cli_2.13</artifactId><version>$coursier</version></dependency></dependencies></project>
END
mvn -q -B "-Dmaven.repo.local=$work/m2" -f "$work/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
  "-DoutputDirectory=$work/jars"

# A repository with a module, whose jar is answered with the status that the path begins with.
cat >"$work/server.py" <<'END'
import http.server
POM = b"<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId><artifactId>lamp</artifactId><version>1.0</version></project>"
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        kind = self.path.rsplit(".", 1)[-1]
        body = POM if kind == "pom" else b""
        self.send_response({"pom": 200, "jar": int(self.path.split("/")[1])}.get(kind, 404))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)
    do_HEAD = do_GET
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
END
python3 "$work/server.py" >"$work/port" &
server=$!
until [ -s "$work/port" ]; do kill -0 "$server"; done
port=$(cat "$work/port")

fetch() { # STATUS: prints the exit code and the number of files that Coursier names
  local code=0
  java "-Duser.home=$work/home-$1" -cp "$work/jars/*" coursier.cli.Coursier fetch --no-default --quiet --cache "$work/cache-$1" \
    --repository "http://127.0.0.1:$port/$1/" org.example:lamp:1.0 >"$work/files" 2>"$work/said" || code=$?
  echo "exit $code, $(wc -l <"$work/files") files"
}
forbidden=$(fetch 403) unauthorized=$(fetch 401)
echo "Coursier $coursier, the jar answered 403: $forbidden; answered 401: $unauthorized"
[ "$forbidden; $unauthorized" = "exit 0, 0 files; exit 1, 0 files" ] ||
  { cat "$work/said"; echo "changed: with 403 Coursier ended with 0 and named no file, and with 401 it failed" >&2; exit 1; }
