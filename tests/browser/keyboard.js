'use strict';
// Does tasks with the keyboard alone. Each step names what gets the focus; the walk fails where it cannot be reached, or is not visible.

const { PATIENCE_MS, given, run, tab, watch, open } = require('./session');

/** Where the focus is: its text, its kind, its place in the page, and whether it can be seen there. */
function focus(page) {
  return page.evaluate(() => {
    const one = document.activeElement;
    const style = getComputedStyle(one);
    const label = one.labels && one.labels[0] ? one.labels[0].textContent : one.getAttribute('aria-label');
    const box = one.getBoundingClientRect();
    return {
      kind: one.tagName.toLowerCase(),
      text: (label || one.textContent || one.value || '').trim().replace(/\s+/g, ' '),
      href: one.getAttribute('href') || '',
      ring: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0,
      shown: box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < window.innerHeight,
    };
  });
}

/** Presses Tab until the focus is on an element of this kind with this text or URL. */
async function reach(page, kind, wanted) {
  const passed = [];
  for (let presses = 0; presses < 400; presses += 1) {
    await page.keyboard.press('Tab');
    const at = await focus(page);
    if (at.kind === kind && (at.text.includes(wanted) || at.href.includes(wanted))) {
      if (!at.ring || !at.shown) throw new Error(`the focus on ${kind} "${wanted}" of ${page.url()} is not visible: ${JSON.stringify(at)}`);
      return;
    }
    passed.push(`${at.kind} "${at.text.slice(0, 40)}"`);
    if (at.kind === 'body' && presses > 0) break;
  }
  throw new Error(`the keyboard does not reach ${kind} "${wanted}" of ${page.url()}; it passes ${passed.join(', ')}`);
}

/** Looks until a page is as it should be: what a key does may end after the browser has reported the key as pressed. */
async function until(look) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      await look();
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((later) => setTimeout(later, 20));
    }
  }
}

/** The steps of a task that do something. */
const ACTS = {
  open: (page, path) => open(page, path),
  tab: (page, [kind, wanted]) => reach(page, kind, wanted),
  type: (page, text) => page.keyboard.type(text),
  press: (page, key) => page.keyboard.press(key),
  // A key that leads to another page.
  follow: async (page, key) => {
    await Promise.all([page.waitForNavigation({ waitUntil: 'load' }), page.keyboard.press(key)]);
  },
  back: (page) => page.goBack({ waitUntil: 'load' }),
  // From here on time stands still in the pages, and only `pass_ms` moves it.
  stop_time: async (page, iso) => {
    await page.clock.install({ time: iso });
    await page.clock.pauseAt(Date.parse(iso) + 1000);
  },
  pass_ms: (page, ms) => page.clock.runFor(ms),
};

/** The steps of a task that look at the page, and throw where it is not as it should be. */
const LOOKS = {
  at: (page, path) => {
    const at = new URL(page.url());
    if (at.pathname + at.search + at.hash !== path) throw new Error(`at ${at.pathname}${at.search}${at.hash}, not ${path}`);
  },
  reads: async (page, text) => {
    const all = await page.locator('body').innerText();
    if (!all.includes(text)) throw new Error(`${page.url()} does not tell "${text}":\n${all}`);
  },
  reads_not: async (page, text) => {
    const all = await page.locator('body').innerText();
    if (all.includes(text)) throw new Error(`${page.url()} tells "${text}"`);
  },
  focused: async (page, kind) => {
    const at = await focus(page);
    if (at.kind !== kind) throw new Error(`the focus is on ${at.kind}, not ${kind}`);
  },
  // All text of the element with the focus, as Control+A and Control+C would copy it.
  holds: async (page, text) => {
    const held = await page.evaluate(() => document.activeElement.textContent);
    if (!held.includes(text)) throw new Error(`the element with the focus does not hold "${text}": ${held}`);
  },
  clipboard: async (page, text) => {
    const held = await page.evaluate(() => navigator.clipboard.readText());
    if (held.trim() !== text) throw new Error(`the clipboard has "${held}", not "${text}"`);
  },
};

run(async (browser) => {
  const done = [];
  for (const { task, scripts = true, steps } of given.tasks) {
    const page = await tab(browser, { scripts });
    if (scripts) await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const seen = watch(page);
    let wrong = null;
    for (const [step, value] of steps) {
      try {
        await (ACTS[step] ? ACTS[step](page, value) : until(() => LOOKS[step](page, value)));
      } catch (error) {
        wrong = `${step} ${JSON.stringify(value)}: ${error.message}`;
        break;
      }
    }
    done.push({ task, wrong, seen });
    await page.context().close();
  }
  return done;
});
