// The up and down arrows move through the rows of a table, from link to link.

/** The first link of each row that is shown. */
function links(table: Element): HTMLElement[] {
  const rows = [...table.querySelectorAll<HTMLTableRowElement>("tbody tr:not([hidden])")];
  return rows.flatMap((row) => row.querySelector<HTMLElement>("a[href]") ?? []);
}

/** Listens for the arrows. */
export function moveInTables(): void {
  document.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = document.activeElement?.closest("main tbody tr");
    const table = row?.closest("table");
    if (!step || !row || !table || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    const all = links(table);
    const at = all.findIndex((link) => row.contains(link));
    const next = all[at + step];
    if (at < 0 || !next) return;
    event.preventDefault();
    next.focus();
  });
}
