#!/usr/bin/env bash
# Clients of memcached with the same list of three servers look for a key on the same one only by chance: pymemcache 4.0.0 weighs each server
# against the key, python-memcached 1.62 takes the rest of a division, and memcached 2.2.2 of npm has a ring. So a page that one of them
# writes is found by a reader with another rule in a third of the cases.
set -euo pipefail

pymemcache=4.0.0 python_memcached=1.62 npm_memcached=2.2.2
work=$(mktemp -d)
servers=
trap '[ -z "$servers" ] || kill "$servers" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check "pymemcache==$pymemcache" "python-memcached==$python_memcached"
npm install --silent --no-audit --no-fund --no-save "memcached@$npm_memcached"

# Three servers that only note which of them gets a key. Each line on the standard input is a file for the notes since the line before.
cat >servers.py <<'END'
import json, socketserver, sys, threading
placed = {}
class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        while words := self.rfile.readline().split():
            if words[0] == b"set":
                self.rfile.read(int(words[4]) + 2)
                placed[words[1].decode()] = self.server.server_address[1]
            self.wfile.write(b"STORED\r\n" if words[0] == b"set" else b"VERSION 1.6.18\r\n")
servers = [Server(("127.0.0.1", 0), Handler) for _ in range(3)]
for server in servers:
    threading.Thread(target=server.serve_forever, daemon=True).start()
print(" ".join(str(server.server_address[1]) for server in servers), flush=True)
for line in sys.stdin:
    with open(line.strip(), "w") as file:
        json.dump(placed, file)
    placed.clear()
    print("noted", flush=True)
END
mkfifo commands answers
python3 servers.py <commands >answers &
servers=$!
exec 3>commands 4<answers
read -r ports <&4
export PORTS=$ports
noted() { echo "$1" >&3; read -r _ <&4; }

python/bin/python - <<'END'
import os
from pymemcache.client.hash import HashClient
client = HashClient([("127.0.0.1", int(port)) for port in os.environ["PORTS"].split()])
for page in range(300):
    client.set(f"page-{page}", "x", noreply=False)
END
noted pymemcache
python/bin/python - <<'END'
import memcache, os
client = memcache.Client([f"127.0.0.1:{port}" for port in os.environ["PORTS"].split()])
for page in range(300):
    client.set(f"page-{page}", "x")
END
noted python-memcached
node -e '
const client = new (require("memcached"))(process.env.PORTS.split(" ").map((port) => "127.0.0.1:" + port));
let left = 300;
for (let page = 0; page < 300; page++) client.set("page-" + page, "x", 10, () => { if (--left === 0) client.end(); });
'
noted npm-memcached
exec 3>&-

python3 - <<'END'
import itertools, json
clients = {name: json.load(open(name)) for name in ["pymemcache", "python-memcached", "npm-memcached"]}
assert all(len(placed) == 300 for placed in clients.values()), "a client did not write all keys"
shares = []
for (one, mine), (other, theirs) in itertools.combinations(clients.items(), 2):
    same = sum(mine[key] == theirs[key] for key in mine)
    shares.append(same)
    print(f"{one} and {other}: the same server for {same} of 300 keys")
raise SystemExit(0 if all(60 <= same <= 140 for same in shares) else "the clients agree more, or less, than by chance")
END
echo "seen with pymemcache $pymemcache, python-memcached $python_memcached, memcached $npm_memcached of npm"
