'use strict';
// A person at Redmine over a slow line: signs in, attaches a large file to an issue, and downloads it, while others read pages over a quick
// line. `scripts/redmine-front` runs it. Prints lines of text.

const fs = require('node:fs');
const https = require('node:https');
const net = require('node:net');
const { chromium } = require('playwright-core');

const given = JSON.parse(process.argv[2]);
const target = new URL(given.base);
/** How often the line passes on bytes. */
const TICK_MS = 20;

/** The most bytes that pass at once. */
const EACH = Math.round((given.rate * 1048576 * TICK_MS) / 1000);
/** More than that is kept by the line, so that it is always busy. */
const KEPT = { highWaterMark: 4 * EACH };

/** Passes on what one side says at the rate of the line. */
function slowly(from, to) {
  const timer = setInterval(() => {
    const piece = from.read(Math.min(EACH, from.readableLength || EACH));
    if (piece !== null) to.write(piece);
  }, TICK_MS);
  const end = () => {
    clearInterval(timer);
    to.end();
  };
  from.on('end', end).on('error', end).on('close', end);
}

/** A line to the front. Resolves to its port. */
function line() {
  const server = net.createServer(KEPT, (client) => {
    const front = net.connect({ port: Number(target.port), host: '127.0.0.1', ...KEPT });
    slowly(client, front);
    slowly(front, client);
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)));
}

/** Reads a page over a quick line. Resolves to the time in milliseconds. */
function quick(path) {
  const began = process.hrtime.bigint();
  return new Promise((resolve, reject) => {
    https.get(given.base + path, { rejectUnauthorized: false }, (response) => {
      response.resume();
      response.on('end', () => (response.statusCode < 400 ? resolve(Number(process.hrtime.bigint() - began) / 1e6) : reject(response.statusCode)));
    }).on('error', reject);
  });
}

/** Runs a step while another reader reads a page again and again. Prints how long both took. */
async function step(title, work) {
  let over = false;
  const waits = [];
  const reader = (async () => {
    while (!over) {
      waits.push(await quick('/login'));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  const began = Date.now();
  const result = await work();
  over = true;
  await reader;
  waits.sort((a, b) => a - b);
  const at = (part) => waits[Math.floor((waits.length - 1) * part)].toFixed(0);
  console.log(`${title}: ${((Date.now() - began) / 1000).toFixed(1)} s; ${waits.length} pages of others meanwhile: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms`);
  return result;
}

async function main() {
  const port = await line();
  const base = `https://localhost:${port}`;
  const args = ['--ignore-certificate-errors'];
  if (process.getuid() === 0) args.push('--no-sandbox');
  const browser = await chromium.launch({ executablePath: given.chromium, args });
  try {
    const context = await browser.newContext({ ignoreHTTPSErrors: true, acceptDownloads: true });
    context.setDefaultTimeout(given.limit_ms);
    const page = await context.newPage();
    await step('sign in', async () => {
      await page.goto(`${base}/login`);
      await page.fill('#username', 'admin');
      await page.fill('#password', 'correct horse');
      await page.click('#login-submit');
      await page.locator('#loggedas').waitFor();
    });
    console.log(`protocol: ${await page.evaluate(() => performance.getEntriesByType('navigation')[0].nextHopProtocol)}`);
    await step('attach the file', async () => {
      await page.goto(`${base}/issues/${given.issue}/edit`);
      await page.setInputFiles('input[type=file].file_selector', given.file);
      // Redmine uploads at once, and names the attachment in the form afterwards.
      await page.waitForFunction(() => document.querySelector('input.token')?.value);
      await page.click('#issue-form input[type=submit]');
      await page.locator('#flash_notice').waitFor();
    });
    const link = page.locator('div.attachments a.icon-attachment').first();
    const path = (await link.getAttribute('href')).replace('/attachments/', '/attachments/download/').replace('/download/download/', '/download/');
    console.log(`path: ${path}`);
    await step('download the file', async () => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.evaluate((href) => {
          const anchor = document.createElement('a');
          anchor.href = href;
          anchor.download = '';
          document.body.append(anchor);
          anchor.click();
        }, path),
      ]);
      await download.saveAs(given.saved);
    });
    const part = await step('read a part of it', () => page.evaluate(async (href) => {
      const response = await fetch(href, { headers: { Range: 'bytes=5000000-5999999' } });
      return { status: response.status, length: (await response.arrayBuffer()).byteLength };
    }, path));
    if (part.status !== 206 || part.length !== 1000000) throw new Error(`a part: ${JSON.stringify(part)}`);
    if (fs.statSync(given.saved).size !== fs.statSync(given.file).size) throw new Error('the download has another length');
  } finally {
    await browser.close();
  }
}

main().then(() => process.exit(0), (error) => {
  console.error(error);
  process.exit(1);
});
