#!/usr/bin/env bash
# Alertmanager 0.25 answers 200 to an alert and to its end, and tells nobody of either if the end comes within `group_wait`: no "firing", no
# "resolved". A test that sends both at once proves only that Alertmanager takes them.
set -euo pipefail

version=0.25.0
work=$(mktemp -d)
manager= hook=
trap '[ -z "$manager" ] || kill "$manager" 2>/dev/null || true; [ -z "$hook" ] || kill "$hook" 2>/dev/null || true; wait; rm -rf "$work"' EXIT

(cd "$work" && apt-get -qq -o APT::Sandbox::User= download prometheus-alertmanager)
dpkg-deb --fsys-tarfile "$work"/prometheus-alertmanager_*.deb | tar -x --no-same-owner -C "$work" ./usr/bin/prometheus-alertmanager ./usr/share/prometheus
program="$work/usr/bin/prometheus-alertmanager"
"$program" --version 2>&1 | grep -q "version $version" || { echo "this is another version than $version" >&2; exit 1; }

# Writes the status and the names of each notification as a line.
cat >"$work/hook.py" <<'END'
import http.server, json, sys
class Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        for alert in told["alerts"]:
            print(alert["status"], alert["labels"]["alertname"], file=sys.stderr, flush=True)
        self.send_response(200)
        self.end_headers()
    def log_message(self, *_):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Hook)
print(server.server_port, flush=True)
server.serve_forever()
END
python3 "$work/hook.py" >"$work/port" 2>"$work/told" &
hook=$!
until [ -s "$work/port" ]; do kill -0 "$hook"; done

cat >"$work/alertmanager.yml" <<END
route: { receiver: us, group_by: [alertname], group_wait: 2s, group_interval: 2s }
receivers:
  - name: us
    webhook_configs: [{ url: "http://127.0.0.1:$(cat "$work/port")/", send_resolved: true }]
END
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
# Debian's program reads its templates from a fixed place, which is there for this process alone.
unshare --user --map-root-user --mount bash -euc \
  'mount -t tmpfs none /usr/share; cp -r "$1/usr/share/prometheus" /usr/share; shift; exec "$@"' bash "$work" \
  "$program" --config.file="$work/alertmanager.yml" --storage.path="$work" --web.listen-address="127.0.0.1:$port" \
  --cluster.listen-address= >"$work/log" 2>&1 &
manager=$!
until curl -fsS "http://127.0.0.1:$port/-/ready" >/dev/null 2>&1; do kill -0 "$manager"; done

post() { # NAME [MORE]: prints the status
  curl -sS -o /dev/null -w '%{http_code}\n' -H 'Content-Type: application/json' "http://127.0.0.1:$port/api/v2/alerts" \
    -d "[{\"labels\": {\"alertname\": \"$1\"}${2:-}}]"
}
end() { printf ', "endsAt": "%s"' "$(date -u +%Y-%m-%dT%H:%M:%S.%3NZ)"; }
short="$(post short) $(post short "$(end)")"
post long >/dev/null
# The long one is told after two seconds, and by then the short one is over.
until grep -q 'firing long' "$work/told"; do kill -0 "$manager"; done
post long "$(end)" >/dev/null
until grep -q 'resolved long' "$work/told"; do kill -0 "$manager"; done
[ "$short" = "200 200" ] || { echo "changed: the short alert and its end were answered $short" >&2; exit 1; }
if grep -q short "$work/told"; then echo "changed: somebody was told of the short alert" >&2; exit 1; fi
echo "Alertmanager $version answered 200 to an alert and to its end within group_wait, and told nobody of it. It told:"
cat "$work/told"
