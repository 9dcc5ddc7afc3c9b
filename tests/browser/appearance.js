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

/** The headings and the title that show marks of a text in place of its meaning. */
function marks(page) {
  return page.evaluate(() => [document.title, ...[...document.querySelectorAll('h1, h2, h3')].map((one) => one.textContent)]
    .filter((text) => text.includes('`')).map((text) => `a backtick in a heading: ${text}`));
}

/** The texts that other elements cover or that are cut off without a way to scroll to them. */
function covered(page) {
  return page.evaluate(() => {
    const wrong = [];
    for (const one of document.querySelectorAll('pre, h1, h2, h3, td, th, dd, button, label')) {
      if (one.closest('.hidden, [hidden], dialog')) continue;
      const style = getComputedStyle(one);
      if (one.scrollWidth > one.clientWidth + 1 && ['hidden', 'clip'].includes(style.overflowX)) wrong.push(`cut off: ${one.outerHTML.slice(0, 160)}`);
    }
    // A button that lies over a block covers none of its lines.
    for (const button of document.querySelectorAll('copy-button button')) {
      const block = button.closest('copy-button').nextElementSibling;
      const text = document.createRange();
      text.selectNodeContents(block);
      const over = button.getBoundingClientRect();
      const frame = block.getBoundingClientRect();
      for (const line of text.getClientRects()) {
        const [right, left] = [Math.min(line.right, frame.right), Math.max(line.left, frame.left)];
        if (right > over.left && left < over.right && line.bottom > over.top && line.top < over.bottom) {
          wrong.push(`covered by a button: ${block.textContent.slice(0, 80)}`);
          break;
        }
      }
    }
    return wrong;
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
      for (const look of [tooWide, marks, covered]) wrong.push(...(await look(page)).map((what) => `${path}, ${width} px: ${what}`));
    }
    wrong.push(...seen.map((what) => `${path}: ${what}`));
    await page.context().close();
  }
  return { looks, wrong };
});
