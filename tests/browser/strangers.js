'use strict';
// Opens each page, and prints the markup on it that a stranger wrote: elements and attributes of the corpus, event handlers, scripts and
// addresses that run one. Prints as well which texts of the corpus the page shows.

const { given, run, tab, watch, open } = require('./session');

function written(corpus) {
  const markup = [];
  for (const one of document.querySelectorAll('*')) {
    const attributes = [...one.attributes];
    const script = one.localName === 'script' && !new URL(one.src || 'none:').pathname.startsWith('/assets/script-');
    const runs = (attribute) => /^\s*(javascript|data|vbscript):/i.test(attribute.value) && !(one.localName === 'link' && attribute.value === 'data:,');
    if (script || one.localName === 'probe-me' || attributes.some((one) => /^on|^data-probe$|^style$/.test(one.name))
      || attributes.some((one) => /^(href|src|action|formaction)$/.test(one.name) && runs(one))) {
      markup.push(one.outerHTML.slice(0, 200));
    }
  }
  const text = document.documentElement.textContent + [...document.querySelectorAll('input')].map((one) => one.value).join('\n');
  return { markup, shown: corpus.filter((one) => text.includes(one)) };
}

run(async (browser) => {
  const pages = [];
  for (const { path, secret } of given.pages) {
    const page = await tab(browser, { secret });
    const seen = watch(page);
    const status = await open(page, path);
    const found = await page.evaluate(written, given.corpus);
    pages.push({ path, status, seen, ...found });
    await page.context().close();
  }
  return pages;
});
