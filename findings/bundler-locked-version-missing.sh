#!/usr/bin/env bash
# A server leaves a version out of its index, for example because it is quarantined. Bundler, whose lock names that version, tells the user
# that the author has removed it. The server cannot tell the reason: if it answers /info/NAME with an error, Bundler asks for the older
# indexes and prints no body of any answer, only the reason phrase of the last one, which is about all gems.
set -euo pipefail

jruby=9.4.15.0 # it has RubyGems 3.6.3 and Bundler 2.6.3
work=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
server=

mvn -q -B "-Dmaven.repo.local=$work/m2" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
  "-Dartifact=org.jruby:jruby-complete:$jruby" "-DoutputDirectory=$work"

# Answers /info/lamp with the status in the file `status`: 200 lists 1.0 alone, and an error says why in its body.
cat >"$work/server.py" <<'END'
import hashlib, http.server, sys
INFO = b"---\n1.0 |checksum:" + b"a" * 64 + b"\n"
VERSIONS = b"created_at: 2026-01-01T00:00:00Z\n---\nlamp 1.0 " + hashlib.md5(INFO).hexdigest().encode() + b"\n"
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        wanted = int(open(sys.argv[1]).read())
        print(self.path, file=open(sys.argv[2], "a"))
        if self.path == "/versions": status, body = 200, VERSIONS
        elif self.path == "/info/lamp" and wanted == 200: status, body = 200, INFO
        else: status, body = wanted if wanted != 200 else 404, b"BODY: 1.1 is in quarantine\n"
        self.send_response(status, "PHRASE" if status != 200 else "OK")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
while True:  # Bundler looks for "401" and "403" in the whole message, and the URL in it has the port
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if "401" not in str(server.server_port) and "403" not in str(server.server_port): break
print(server.server_port, flush=True)
server.serve_forever()
END
echo 200 >"$work/status"
python3 "$work/server.py" "$work/status" "$work/requests" >"$work/port" &
server=$!
until [ -s "$work/port" ]; do kill -0 "$server"; done
url=http://127.0.0.1:$(cat "$work/port")/

bundle() { # STATUS: what Bundler says on an empty machine with a lock that names 1.1
  rm -rf "$work/home" "$work/app" "$work/requests"
  mkdir -p "$work/home" "$work/app"
  echo "$1" >"$work/status"
  printf 'source "%s"\ngem "lamp"\n' "$url" >"$work/app/Gemfile"
  printf 'GEM\n  remote: %s\n  specs:\n    lamp (1.1)\n\nPLATFORMS\n  java\n\nDEPENDENCIES\n  lamp\n' "$url" >"$work/app/Gemfile.lock"
  (cd "$work/app" && HOME="$work/home" BUNDLE_PATH=vendor BUNDLE_RETRY=0 BUNDLE_SILENCE_ROOT_WARNING=1 java -jar "$work/jruby-complete-$jruby.jar" --dev -S bundle install 2>&1 || true) |
    tr '\n' ' '
}

changed() { echo "changed: $1" >&2; exit 1; }
listed=$(bundle 200)
echo "the index lacks 1.1: $listed"
case $listed in *"author of lamp (1.1) has removed it"*) ;; *) changed "Bundler says something else of a locked version that the index lacks" ;; esac
for status in 404 409 410 451 503; do
  refused=$(bundle "$status")
  echo "/info/lamp is $status: $refused ($(tr '\n' ' ' <"$work/requests"))"
  case $refused in *BODY:*) changed "Bundler shows the body of a $status" ;; esac
  case $refused in *PHRASE*specs.4.8.gz*) ;; *) changed "Bundler does not end with the reason phrase of the older index" ;; esac
done
