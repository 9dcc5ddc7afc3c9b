// A button at each block of lines that copies them.

import { added } from "./added";

/** Copies the block right after it. */
class CopyButton extends HTMLElement {
  connectedCallback(): void {
    const button = added("button", "Copy");
    button.type = "button";
    // Tells a screen reader that it happened, without moving the focus.
    const said = added("span");
    said.setAttribute("role", "status");
    said.className = "hidden";
    button.addEventListener("click", () => {
      const block = this.nextElementSibling;
      if (!block) return;
      void copy(block).then((done) => {
        button.textContent = done ? "Copied" : "Not copied";
        said.textContent = button.textContent;
      });
    });
    button.addEventListener("blur", () => {
      button.textContent = "Copy";
    });
    this.append(button, said);
  }
}

/** Copies the text of an element. Browsers have a clipboard for scripts only where a page came over TLS or from loopback. */
async function copy(element: Element): Promise<boolean> {
  const text = (element.textContent ?? "").trimEnd();
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const selection = document.getSelection();
    selection?.selectAllChildren(element);
    return document.execCommand("copy");
  }
}

/** Adds a button to each block of lines. */
export function addCopyButtons(): void {
  customElements.define("copy-button", CopyButton);
  for (const block of document.querySelectorAll("main pre")) {
    const button = document.createElement("copy-button");
    button.dataset["added"] = "";
    block.before(button);
  }
}
