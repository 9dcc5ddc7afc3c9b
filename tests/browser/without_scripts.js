'use strict';
// Reads each page with scripts and without, and prints the lines that only one of them has. What scripts add to a page is marked with
// `data-added`, and may say how to use it, but no fact.

const { given, run, tab, open } = require('./session');

async function lines(browser, path, secret, scripts) {
  const page = await tab(browser, { secret, scripts });
  await open(page, path);
  if (scripts) {
    await page.evaluate(() => document.querySelectorAll('[data-added]').forEach((one) => one.remove()));
  }
  const text = await page.locator('body').innerText();
  const titles = await page.title();
  await page.context().close();
  return [titles, ...text.split('\n').map((line) => line.trim().replace(/\bevent [0-9a-f]{16}$/, 'event ID').replace(/^\d{4}-[-0-9]{5}T[0-9:.]+Z$/, 'MOMENT')).filter((line) => line)];
}

run(async (browser) => {
  const pages = [];
  for (const { path, secret } of given.pages) {
    const [on, off] = [await lines(browser, path, secret, true), await lines(browser, path, secret, false)];
    const only = (one, other) => one.filter((line) => !other.includes(line));
    pages.push({ path, lines: off.length, onlyWith: only(on, off), onlyWithout: only(off, on) });
  }
  return pages;
});
