// A backend of statsd that appends each flush to a file, as a line of JSON.
const fs = require('node:fs');

exports.init = (_started, config, events) => {
  events.on('flush', (_at, { counters, timer_counters }) => {
    fs.appendFileSync(config.lines, JSON.stringify({ counters, times: timer_counters }) + '\n');
  });
  return true;
};
