// Single keys: `/` goes to the search, `g` and a letter to a page, `?` tells the keys. They can be switched off, because software for
// speech input types letters that nobody pressed.

import { added } from "./added";

/** Where the choice is stored. */
const OFF = "daylight-keys-off";
/** How long the letter after `g` may take, in milliseconds. */
const SECOND_MS = 2000;
/** The pages, by letter. The page has their URLs at its script, as `data-go-LETTER`. */
const PAGES: readonly (readonly [letter: string, page: string])[] = [
  ["h", "the first page"],
  ["s", "search"],
  ["e", "explain"],
  ["i", "sign in"],
];

const script = document.currentScript;
const url = (letter: string): string | null => script?.getAttribute(`data-go-${letter}`) ?? null;

function stored(): boolean {
  try {
    return localStorage.getItem(OFF) !== null;
  } catch {
    return false; // storage is switched off
  }
}

function store(off: boolean): void {
  try {
    if (off) localStorage.setItem(OFF, "1");
    else localStorage.removeItem(OFF);
  } catch {
    // The choice holds for this page.
  }
}

let off = stored();

/** Whether the person is typing text. */
function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null;
}

/** The dialog with the keys. */
function help(): void {
  document.querySelector("dialog[data-added]")?.remove();
  const dialog = added("dialog");
  const heading = added("h2", "Keys");
  heading.id = "keys";
  dialog.setAttribute("aria-labelledby", heading.id);
  const list = added("dl");
  const pages = PAGES.filter(([letter]) => url(letter)).map(([letter, page]) => [["g", letter], page] as const);
  for (const [keys, does] of [
    [["/"], "search"] as const,
    ...pages,
    [["↑", "↓"], "the row above or below, in a table"] as const,
    [["?"], "these keys"] as const,
  ]) {
    const term = added("dt");
    term.append(...keys.flatMap((key) => [added("kbd", key), " "]));
    list.append(term, added("dd", does));
  }
  const choice = added("label", " Use single keys");
  const box = added("input");
  box.type = "checkbox";
  box.checked = !off;
  box.addEventListener("change", () => {
    off = !box.checked;
    store(off);
  });
  choice.prepend(box);
  const close = added("button", "Close");
  close.type = "button";
  close.addEventListener("click", () => dialog.close());
  const last = added("p");
  last.append(close);
  const first = added("p");
  first.append(choice);
  dialog.append(heading, list, first, last);
  document.body.append(dialog);
  dialog.showModal();
}

/** Listens for the keys. `?` always works, as it leads to the switch. */
export function listenForKeys(): void {
  let since = -Infinity;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || typing(event.target)) return;
    if (document.querySelector("dialog[open]")) return;
    if (event.key === "?") {
      event.preventDefault();
      help();
      return;
    }
    if (off) return;
    const waited = event.timeStamp - since;
    since = -Infinity;
    const to = waited < SECOND_MS ? url(event.key) : null;
    if (to !== null) {
      event.preventDefault();
      location.assign(to);
    } else if (event.key === "g") {
      since = event.timeStamp;
    } else if (event.key === "/") {
      const field = document.querySelector<HTMLInputElement>("#q");
      if (!field) return;
      event.preventDefault();
      field.focus();
      field.select();
    }
  });
}
