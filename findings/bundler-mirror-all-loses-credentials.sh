#!/usr/bin/env bash
# Bundler with `mirror.all` and a token for the mirror's host (BUNDLE_HOST or `bundle config HOST`): the requests for the index carry the
# token, and the request for the package does not. With a mirror of one source, both carry it.
set -euo pipefail

jruby=9.4.15.0 # it has RubyGems 3.6.3 and Bundler 2.6.3
work=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
server=

mvn -q -B "-Dmaven.repo.local=$work/m2" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
  "-Dartifact=org.jruby:jruby-complete:$jruby" "-DoutputDirectory=$work"
ruby() { java -jar "$work/jruby-complete-$jruby.jar" --dev "$@"; }

# A gem, and the compact index that lists it.
mkdir -p "$work/gem/lib" "$work/site/gems" "$work/site/info"
cd "$work/gem"
echo 'LAMP = 1' >lib/lamp.rb
cat >lamp.gemspec <<'END'
Gem::Specification.new("lamp", "1.0") { |s| s.summary, s.authors, s.files = "Gives light", ["You"], ["lib/lamp.rb"] }
END
ruby -S gem build -q lamp.gemspec >/dev/null
mv lamp-1.0.gem ../site/gems/
cd "$work/site"
printf -- '---\n1.0 |checksum:%s\n' "$(sha256sum gems/lamp-1.0.gem | cut -d' ' -f1)" >info/lamp
printf -- '---\nlamp\n' >names
printf 'created_at: 2026-01-01T00:00:00Z\n---\nlamp 1.0 %s\n' "$(md5sum info/lamp | cut -d' ' -f1)" >versions

# Writes whether each request has the token, and answers all of them.
cat >"$work/server.py" <<'END'
import base64, functools, http.server, sys
class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        sent = self.headers.get("Authorization", "").removeprefix("Basic ")
        has = b"token" in base64.b64decode(sent)
        print(self.path, "with" if has else "without", file=open(sys.argv[2], "a"))
        super().do_GET()
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=sys.argv[1]))
print(server.server_port, flush=True)
server.serve_forever()
END
python3 "$work/server.py" "$work/site" "$work/requests" >"$work/port" &
server=$!
until [ -s "$work/port" ]; do kill -0 "$server"; done
port=$(cat "$work/port")

seen() { # MIRROR PATH: installs on an empty machine, and says how the path was asked
  rm -rf "$work/home" "$work/app" "$work/requests"
  mkdir -p "$work/home" "$work/app"
  printf 'source "http://gems.example.org"\ngem "lamp"\n' >"$work/app/Gemfile"
  (cd "$work/app" && HOME="$work/home" BUNDLE_PATH=vendor BUNDLE_127__0__0__1=token env "$1=http://127.0.0.1:$port/" \
    java -jar "$work/jruby-complete-$jruby.jar" --dev -S bundle install >"$work/said" 2>&1) || { cat "$work/said"; exit 1; }
  grep -F "$2 " "$work/requests" | sort -u | tr '\n' ';'
}

version=$(ruby -S bundle --version | tail -n 1)
all_index=$(seen BUNDLE_MIRROR__ALL /info/lamp) all_gem=$(grep -F /gems/lamp "$work/requests" | sort -u)
one_gem=$(seen BUNDLE_MIRROR__HTTP://GEMS__EXAMPLE__ORG/ /gems/lamp-1.0.gem)
echo "$version, mirror.all: $all_index $all_gem"
echo "$version, mirror of the source: $one_gem"
[ "$all_index $all_gem $one_gem" = "/info/lamp with; /gems/lamp-1.0.gem without /gems/lamp-1.0.gem with;" ] ||
  { echo "changed: with mirror.all the package was asked for without the token, and with a mirror of the source with it" >&2; exit 1; }
