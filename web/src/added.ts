// Elements that scripts add. The mark lets tests compare the rest of a page with the page without scripts.

/** An element that is marked as added, with this text. */
export function added<K extends keyof HTMLElementTagNameMap>(name: K, text = ""): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  element.dataset["added"] = "";
  element.textContent = text;
  return element;
}
