import type { Locator } from 'playwright-core';

/** One row of a list or tree of the workbench. */
export interface Row<Part extends string = never> {
  index: number;
  /** Depth in a tree, from 1. */
  level: number;
  /** `undefined` where there is nothing to expand. */
  expanded?: boolean;
  checked?: boolean;
  /** What a screen reader would say. */
  label: string;
  /** The text of each part asked for; `undefined` where the row has no such part. */
  parts: Partial<Record<Part, string>>;
}

/**
 * Reads all rows of a list, also those that are not on screen: the workbench only renders what fits, so this
 * scrolls through the list and back to the top. Sees nothing in a list that has no height.
 * @param list a `.monaco-list`
 * @param parts CSS selectors inside a row whose text is wanted
 */
export async function readRows<Part extends string = never>(
  list: Locator,
  parts: Record<Part, string> = {} as Record<Part, string>,
): Promise<Row<Part>[]> {
  return list.evaluate(
    async (element, selectors) => {
      const area = element.querySelector('.monaco-scrollable-element') as HTMLElement;
      const rendered = () => [
        ...area.querySelectorAll<HTMLElement>(':scope > .monaco-list-rows > .monaco-list-row'),
      ];
      const scroll = async (deltaY: number) => {
        // The list reads wheelDeltaY, which an event made with deltaY alone has with the wrong sign.
        const wheel = { wheelDeltaY: -2 * deltaY, bubbles: true, cancelable: true };
        area.dispatchEvent(new WheelEvent('wheel', wheel));
        await new Promise((painted) => requestAnimationFrame(painted));
      };
      const flag = (value: string | null) => (value === null ? undefined : value === 'true');
      const rows = new Map<number, Row<Part>>();
      const collect = () => {
        for (const row of rendered()) {
          const texts: Partial<Record<Part, string>> = {};
          for (const [name, selector] of Object.entries(selectors)) {
            const part = row.querySelector(selector)?.textContent;
            if (typeof part === 'string') {
              texts[name as Part] = part.replaceAll('\u00a0', ' ').trim();
            }
          }
          const index = Number(row.dataset['index']);
          rows.set(index, {
            index,
            level: Number(row.getAttribute('aria-level') ?? 1),
            expanded: flag(row.getAttribute('aria-expanded')),
            checked: flag(row.getAttribute('aria-checked')),
            label: row.getAttribute('aria-label') ?? '',
            parts: texts,
          });
        }
      };
      const FAR = 1_000_000;
      const bottom = (row: HTMLElement) =>
        Number.parseFloat(row.style.top) + Number.parseFloat(row.style.height);
      const lastShown = () => {
        const height = area.querySelector<HTMLElement>(':scope > .monaco-list-rows')?.style.height ?? '';
        return rendered().some((row) => bottom(row) >= Number.parseFloat(height) - 1);
      };
      collect();
      const atTop = rows.has(0);
      if (rows.size > 0 && !(atTop && lastShown())) {
        await scroll(-FAR);
        rows.clear();
        collect();
        for (let stuck = 0; !lastShown() && stuck < 3; ) {
          const before = rows.size;
          await scroll(Math.max(20, area.clientHeight / 2));
          collect();
          stuck = rows.size === before ? stuck + 1 : 0;
        }
        await scroll(atTop ? -FAR : FAR); // a console stays at its end
      }
      return [...rows.values()].sort((a, b) => a.index - b.index);
    },
    parts as Record<string, string>,
  );
}

/** Scrolls a list until the row is fully on screen, and gives it. */
export async function revealRow(list: Locator, index: number): Promise<Locator> {
  await list.evaluate(async (element, wanted) => {
    const area = element.querySelector('.monaco-scrollable-element') as HTMLElement;
    for (let tries = 0; tries < 500; tries++) {
      const rows = [...area.querySelectorAll<HTMLElement>(':scope > .monaco-list-rows > .monaco-list-row')];
      const box = area.getBoundingClientRect();
      const sticky = area.querySelector('.monaco-tree-sticky-container')?.clientHeight ?? 0; // covers rows
      const row = rows.find((candidate) => candidate.dataset['index'] === String(wanted));
      const place = row?.getBoundingClientRect();
      if (place && place.top >= box.top + sticky - 1 && place.bottom <= box.bottom + 1) {
        return;
      }
      const above = place ? place.top < box.top + sticky : wanted < Number(rows[0]?.dataset['index'] ?? 0);
      const wheel = { wheelDeltaY: above ? 40 : -40, bubbles: true, cancelable: true };
      area.dispatchEvent(new WheelEvent('wheel', wheel));
      await new Promise((painted) => requestAnimationFrame(painted));
    }
    throw new Error(`Row ${wanted} of the list cannot be brought on screen.`);
  }, index);
  return list.locator(`> .monaco-scrollable-element > .monaco-list-rows > [data-index="${index}"]`);
}
