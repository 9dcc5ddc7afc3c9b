'use strict';
// Reads the live page of an application behind the front, and the page of the front itself. Prints what both say.

const { given, run, watch } = require('./session.js');

run(async (browser) => {
  // The certificate is the test's own.
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  context.setDefaultTimeout(given.limit_ms);
  const page = await context.newPage();
  const seen = watch(page);
  await page.goto(`${given.base}/live`, { waitUntil: 'load' });
  await page.getByText('done', { exact: true }).waitFor();
  const told = await page.evaluate(() => window.told);
  const admin = await context.newPage();
  given.base = given.admin;
  const others = watch(admin);
  await admin.goto(`${given.admin}/`, { waitUntil: 'load' });
  const text = await admin.locator('body').innerText();
  return { ...told, page: text, seen: [...seen, ...others] };
}, ['--ignore-certificate-errors']);
