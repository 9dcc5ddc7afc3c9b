#!/usr/bin/env bash
# PostgreSQL 15: `statement_timeout` does not end the wait for a synchronous standby. With a limit of a second an INSERT whose standby is away
# waits until somebody cancels it. Then it is answered with success and a warning, although no standby has it.
set -euo pipefail

version=15
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill -INT "$server" 2>/dev/null || true; wait; rm -rf "$work"' EXIT

(cd "$work" && apt-get -qq -o APT::Sandbox::User= download postgresql-$version postgresql-client-$version libpq5)
for package in "$work"/*.deb; do dpkg-deb --fsys-tarfile "$package" | tar -x --no-same-owner -C "$work" ./usr; done
# PostgreSQL refuses to run as root. In a namespace of its own, root has another number, and the same files.
run=(env "LD_LIBRARY_PATH=$(dirname "$(find "$work/usr/lib" -name libpq.so.5)")" "PATH=$work/usr/lib/postgresql/$version/bin:$PATH" LC_ALL=C)
[ "$(id -u)" != 0 ] || run=(unshare --user --map-user=1000 --map-group=1000 "${run[@]}")
"${run[@]}" postgres --version | grep -q "^postgres (PostgreSQL) $version\." || { echo "this is another version than $version" >&2; exit 1; }

"${run[@]}" initdb -D "$work/data" --username=postgres --auth=trust --locale=C >"$work/log"
"${run[@]}" postgres -D "$work/data" -c listen_addresses= -c "unix_socket_directories=$work" >>"$work/log" 2>&1 &
server=$!
sql() { "${run[@]}" psql -XqAt -v ON_ERROR_STOP=1 -h "$work" -U postgres -c "$1"; } # STATEMENT
until sql "SELECT 1" >/dev/null 2>&1; do kill -0 "$server"; done
sql "CREATE TABLE kept (number int)"
# The standby is away.
sql "ALTER SYSTEM SET synchronous_standby_names = 'standby'"
sql "SELECT pg_reload_conf()" >/dev/null
until [ "$(sql "SHOW synchronous_standby_names")" = standby ]; do kill -0 "$server"; done

PGOPTIONS="-c statement_timeout=1s" "${run[@]}" psql -X -h "$work" -U postgres -c "INSERT INTO kept VALUES (1)" >"$work/told" 2>&1 &
client=$!
waiting="FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
until [ "$(sql "SELECT count(*) $waiting")" = 1 ]; do kill -0 "$client" || { echo "changed: it does not wait" >&2; cat "$work/told" >&2; exit 1; }; done
# Five times the limit. A limit that counts has ended it by then.
until [ "$(sql "SELECT count(*) $waiting AND clock_timestamp() - query_start > interval '5 seconds'")" = 1 ]; do
  [ "$(sql "SELECT count(*) $waiting")" = 1 ] || { echo "changed: statement_timeout ended the wait" >&2; cat "$work/told" >&2; exit 1; }
done
waited=$(sql "SELECT extract(epoch FROM clock_timestamp() - query_start)::int $waiting")
sql "SELECT pg_cancel_backend(pid) $waiting" >/dev/null
wait "$client" || { echo "changed: the cancelled INSERT failed" >&2; cat "$work/told" >&2; exit 1; }
grep -q "^INSERT 0 1" "$work/told" && grep -q "WARNING:  canceling wait for synchronous replication" "$work/told" || { echo "changed: it was told" >&2; cat "$work/told" >&2; exit 1; }
[ "$(sql "SELECT count(*) FROM kept")" = 1 ]
"${run[@]}" postgres --version
echo "An INSERT with a statement_timeout of 1 s waited for a standby that was away for $waited s, until it was cancelled. Its client was told:"
cat "$work/told"
