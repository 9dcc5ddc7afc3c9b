#!/usr/bin/env bash
# pebble-challtestsrv 2.4 turns each of its servers off by an empty address, except the one that takes orders without a password: with
# `-management ""` it listens on port 80 of every address. A test of ACME that wants no orders gives it an address of loopback.
set -euo pipefail

version=2.4.0+ds1-2+b4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && apt-get -qq -o APT::Sandbox::User= download "pebble=$version")
dpkg-deb --fsys-tarfile "$work"/pebble_*.deb | tar -x --no-same-owner -C "$work" ./usr/bin/pebble-challtestsrv
export program="$work/usr/bin/pebble-challtestsrv"
help=$("$program" -h 2>&1 || true)
[ "$(grep -c 'Set empty to disable' <<<"$help")" = 4 ] || { echo "changed: another help" >&2; exit 1; }

# A network of its own: nobody else can reach port 80 there.
heard=$(unshare --user --map-root-user --net bash -euc '
  ip link set lo up
  "$program" -dns01 127.0.0.1:8053 -http01 "" -https01 "" -tlsalpn01 "" -management "" >/dev/null 2>&1 &
  server=$!
  trap "kill $server; wait $server || true" EXIT
  # The server of names begins last of those that it was asked for, and the one of orders after it.
  for _ in $(seq 100); do
    kill -0 "$server"
    listening=$(ss --no-header --listening --tcp --numeric | tr -s " " | cut -d" " -f4 | sort | tr "\n" " ")
    case $listening in *:80\ *) break ;; esac
    sleep 0.1
  done
  echo "$listening"
  curl -sS --max-time 10 -o /dev/null -w "%{http_code}\n" -d "{\"host\":\"a.example\",\"addresses\":[\"192.0.2.1\"]}" http://127.0.0.1:80/add-a
')
[ "$heard" = "$(printf '*:80 127.0.0.1:8053 \n200')" ] || { echo "changed: it listens on, and answers: $heard" >&2; exit 1; }
echo "pebble-challtestsrv $version with an empty address of management listens on, and answers an order with:"
echo "$heard"
