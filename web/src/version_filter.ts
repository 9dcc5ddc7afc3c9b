// A field that filters the rows of a long list of versions.

import { added } from "./added";

/** Shorter lists are read faster than a field. */
const LONG = 20;

/** Shows the rows of the table after it that contain a text. */
class VersionFilter extends HTMLElement {
  connectedCallback(): void {
    const rows = [...(this.nextElementSibling?.querySelectorAll<HTMLTableRowElement>("tbody tr") ?? [])];
    const label = added("label", "Filter the versions on this page");
    const field = added("input");
    field.type = "search";
    field.id = "version-filter";
    field.autocomplete = "off";
    field.spellcheck = false;
    label.htmlFor = field.id;
    const said = added("span");
    said.setAttribute("role", "status");
    said.className = "quiet";
    field.addEventListener("input", () => {
      const wanted = field.value.trim().toLowerCase();
      for (const row of rows) row.hidden = !(row.textContent ?? "").toLowerCase().includes(wanted);
      const shown = rows.filter((row) => !row.hidden).length;
      said.textContent = wanted ? ` ${shown} of ${rows.length}` : "";
    });
    this.append(label, field, said);
  }
}

/** Adds the field to a long list of versions. */
export function addVersionFilter(): void {
  customElements.define("version-filter", VersionFilter);
  const list = document.querySelector('[aria-labelledby="versions"]');
  if (!list || list.querySelectorAll("tbody tr").length <= LONG) return;
  const filter = document.createElement("version-filter");
  filter.dataset["added"] = "";
  list.before(filter);
}
