'use strict';
// Looks at each page in each appearance and at two widths, and prints what is wrong: rules of axe that it breaks, messages, requests to
// other hosts, and content that is wider than the screen.

const fs = require('fs');
const { given, run, tab, watch, open } = require('./session');

const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const APPEARANCES = [
  ['light', { colorScheme: 'light', forcedColors: 'none' }],
  ['dark', { colorScheme: 'dark', forcedColors: 'none' }],
  ['forced colours', { colorScheme: 'dark', forcedColors: 'active' }],
];

/** The rules that the page breaks, each with the first elements that break it. */
async function violations(page) {
  await page.evaluate(axe);
  const broken = await page.evaluate(() => globalThis.axe.run(document).then((found) => found.violations.map((rule) => {
    const where = rule.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} (${node.any.map((one) => one.message).join(' ')})`);
    return `axe ${rule.id}: ${where.join(' | ')}`;
  })));
  return broken;
}

/** The elements that make the page wider than the screen. */
function tooWide(page) {
  return page.evaluate(() => {
    const [wide, screen] = [document.scrollingElement.scrollWidth, window.innerWidth];
    if (wide <= screen) return [];
    const out = [...document.body.querySelectorAll('*')].filter((one) => one.getBoundingClientRect().right > screen + 1);
    return [`${wide} px wide on a screen of ${screen} px: ${out.slice(-1).map((one) => one.outerHTML.slice(0, 160))}`];
  });
}

run(async (browser) => {
  const wrong = [];
  let looks = 0;
  for (const { path, secret, status = 200, spoil } of given.pages) {
    const page = await tab(browser, { secret });
    const seen = watch(page);
    const found = await open(page, path);
    if (found !== status) wrong.push(`${path}: status ${found}, not ${status}`);
    if (spoil) await page.evaluate(spoil);
    for (const width of [360, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      for (const [name, media] of APPEARANCES) {
        await page.emulateMedia(media);
        const here = (what) => `${path}, ${name}, ${width} px: ${what}`;
        wrong.push(...(await violations(page)).map(here));
        looks += 1;
      }
      wrong.push(...(await tooWide(page)).map((what) => `${path}: ${what}`));
    }
    wrong.push(...seen.map((what) => `${path}: ${what}`));
    await page.context().close();
  }
  return { looks, wrong };
});
