#!/usr/bin/env bash
# A timer with a sample rate stands for several. statsd counts it so, and computes the mean and the percentiles as if each line were one.
# So a client that tells a histogram as one line for each bucket, with the rate of the bucket, gets a right count and a wrong mean.
set -euo pipefail

version=0.9.0
folder=$(mktemp -d)
trap '[ -z "${server:-}" ] || { kill "$server"; wait "$server" || true; } 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts --omit=optional "statsd@$version" >/dev/null

cat > lines.js <<'JS'
const fs = require('node:fs');
exports.init = (_started, config, events) => {
  events.on('flush', (_at, metrics) => fs.appendFileSync(config.lines, JSON.stringify(metrics.timer_data) + '\n'));
  return true;
};
JS
port=$((20000 + RANDOM % 20000))
cat > settings.js <<JS
{ address: '127.0.0.1', port: $port, mgmt_address: '127.0.0.1', mgmt_port: $((port + 1)), flushInterval: 500,
  backends: ['$folder/lines.js'], lines: '$folder/lines', deleteTimers: true }
JS
node node_modules/statsd/stats.js settings.js > log 2>&1 &
server=$!
for _ in $(seq 100); do [ -s lines ] && break; sleep 0.1; done

# Nine requests took 10 ms (one line, which stands for nine) and one took 100 ms: the mean is 19 ms.
node -e '
  const socket = require("node:dgram").createSocket("udp4");
  socket.send("t:10|ms|@0.1111111111111111\nt:100|ms", Number(process.argv[1]), "127.0.0.1", () => socket.close());
' "$port"
for _ in $(seq 100); do grep -q '"t"' lines && break; sleep 0.1; done
told=$(grep '"t"' lines | head -n 1)
read -r count mean < <(node -e 'const { t } = JSON.parse(process.argv[1]); console.log(Math.round(t.count), t.mean)' "$told")
echo "statsd $version: nine times 10 ms (one line with a rate) and 100 ms: count $count, mean $mean ms; the mean of these requests is 19 ms"
echo "$told"
if [ "$count" = 10 ] && [ "$mean" = 55 ]; then
  echo "the count heeds the rate, and the mean does not"
else
  echo "statsd $version behaves differently now" >&2
  exit 1
fi
