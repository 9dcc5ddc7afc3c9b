'use strict';
// Takes a screenshot of each page into a folder, and prints their sizes in bytes.

const fs = require('fs');
const path = require('path');
const { given, run, tab, open } = require('./session');

run(async (browser) => {
  const sizes = {};
  for (const { name, path: url, secret, width = 1000, height = 640, dark = false, whole = false, act } of given.pages) {
    const page = await tab(browser, { width, secret });
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' });
    await open(page, url);
    if (act) await page.evaluate(act);
    const file = path.join(given.folder, `${name}.png`);
    await page.screenshot({ path: file, fullPage: whole });
    sizes[name] = fs.statSync(file).size;
    await page.context().close();
  }
  return sizes;
});
