'use strict';
// A session of a real browser with one server, and the watch on it: which messages, errors and requests to other hosts it saw.

const { chromium } = require('playwright-core');

/** The JSON that the test gave as the first argument. */
const given = JSON.parse(process.argv[2]);

/** How long the browser may take for anything, on a machine that is busy with other tests. */
const PATIENCE_MS = 120000;

/** Starts the browser of Debian with these flags, calls `work` with it, and prints what `work` returns, as JSON. */
function run(work, flags = []) {
  const args = process.getuid() === 0 ? ['--no-sandbox', ...flags] : flags;
  chromium.launch({ executablePath: given.chromium, args, timeout: PATIENCE_MS })
    .then(async (browser) => {
      try {
        process.stdout.write(JSON.stringify(await work(browser)));
      } finally {
        await browser.close();
      }
    })
    .catch((error) => {
      console.error(error);
      process.exit(1);
    });
}

/** A tab of its own session, as wide as `width`. `secret`: the token that it sends with each request. */
async function tab(browser, { width = 1440, secret, scripts = true } = {}) {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    javaScriptEnabled: scripts,
    reducedMotion: 'reduce',
    extraHTTPHeaders: secret ? { authorization: secret } : {},
  });
  context.setDefaultTimeout(PATIENCE_MS);
  return context.newPage();
}

/** Watches a tab from now on. The list grows by a line for each message, error, dialog and request to another host. */
function watch(page) {
  const seen = [];
  const origin = new URL(given.base).origin;
  page.on('console', (message) => {
    // A browser reports the status of the page itself as well.
    const own = message.location().url === page.url() && /^Failed to load resource/.test(message.text());
    if (!own) seen.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => seen.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    seen.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol !== 'data:' && url.origin !== origin) seen.push(`request to another host: ${request.url()}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400 && response.frame() === page.mainFrame() && !response.request().isNavigationRequest()) {
      seen.push(`status ${response.status()}: ${response.url()}`);
    }
  });
  return seen;
}

/** Opens a path of the server, and waits until it has loaded. */
async function open(page, path) {
  const response = await page.goto(given.base + path, { waitUntil: 'load' });
  return response.status();
}

module.exports = { PATIENCE_MS, given, run, tab, watch, open };
