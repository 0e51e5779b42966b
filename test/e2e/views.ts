import type { Locator, Page } from 'playwright-core';
import { type Row, readRows, revealRow } from './listRows';
import { waitFor } from './waiting';

/** The title of a section of the side bar, such as `Call Stack`, and the section itself. */
export function sectionOf(page: Page, title: string): Locator {
  return page.locator('.part.sidebar .pane').filter({
    has: page.locator(`.pane-header[aria-label="${title} Section"]`),
  });
}

/** Opens a section of the side bar that is folded. */
export async function unfold(section: Locator): Promise<void> {
  const header = section.locator('.pane-header');
  if ((await header.getAttribute('aria-expanded')) === 'false') {
    await header.click();
  }
}

/** Right-clicks, then chooses one entry of the menu that opens. */
export async function chooseFromContextMenu(target: Locator, entry: string): Promise<void> {
  await target.click({ button: 'right' });
  await chooseFromMenu(target.page(), entry);
}

/** Clicks an entry of the menu that is open. */
export async function chooseFromMenu(page: Page, entry: string): Promise<void> {
  const label = page.locator('.monaco-menu .action-label', { hasText: exactly(entry) }).first();
  await label.waitFor();
  // A menu takes no click in its first moments, so that the click that opened it does not choose.
  await waitFor(`the menu to take "${entry}"`, async () => {
    await label.click({ timeout: 1_000 }).catch(() => {});
    return label.waitFor({ state: 'hidden', timeout: 300 }).then(
      () => true,
      () => false,
    );
  });
}

/** Matches the text and nothing around it. */
export function exactly(text: string): RegExp {
  return new RegExp(`^\\s*${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}\\s*$`);
}

const EXPRESSION = { scope: '.scope', name: '.expression .name', value: '.expression .value' };

/** One line of Variables or Watch. */
export interface Variable {
  name: string;
  /** Empty for a scope. */
  value: string;
  /** Names from the scope down to this one. */
  path: string[];
  /** `undefined` where there is nothing to expand. */
  expanded?: boolean;
}

/** A tree of names and values: the Variables view or the Watch view. */
export class VariablesView {
  private readonly section: Locator;
  private readonly list: Locator;

  constructor(page: Page, title: 'Variables' | 'Watch') {
    this.section = sectionOf(page, title);
    this.list = this.section.locator('.monaco-list');
  }

  /** All rows that are unfolded now, in order, scopes included. */
  async rows(): Promise<Variable[]> {
    return (await this.read()).map(({ variable }) => variable);
  }

  /** The value behind a name; the path starts at the scope, which must be unfolded (see `expand`). */
  async value(...path: string[]): Promise<string> {
    return (await this.find(path)).variable.value;
  }

  /** Unfolds one after the other along the path, such as `expand('Scan', 'delta')`, and gives the children. */
  async expand(...path: string[]): Promise<Variable[]> {
    for (let depth = 1; depth <= path.length; depth++) {
      const { row, variable } = await this.find(path.slice(0, depth));
      if (variable.expanded === undefined) {
        throw new Error(`"${path.slice(0, depth).join(' / ')}" cannot be expanded.`);
      }
      if (!variable.expanded) {
        await this.twistie(await revealRow(this.list, row.index)).click();
      }
      await waitFor(`the children of "${variable.path.join(' / ')}"`, async () => {
        const rows = await this.read();
        const at = rows.findIndex((one) => samePath(one.variable.path, variable.path));
        return at >= 0 && rows[at]?.variable.expanded && (rows[at + 1]?.row.level ?? 0) > rows[at].row.level;
      });
    }
    return (await this.rows()).filter(
      (one) => one.path.length === path.length + 1 && samePath(one.path.slice(0, -1), path),
    );
  }

  /** Folds one row. */
  async collapse(...path: string[]): Promise<void> {
    const { row, variable } = await this.find(path);
    if (variable.expanded) {
      await this.twistie(await revealRow(this.list, row.index)).click();
    }
  }

  /** Right-clicks a row and chooses an entry of its menu, such as `Break on Value Change`. */
  async choose(entry: string, ...path: string[]): Promise<void> {
    const { row } = await this.find(path);
    await chooseFromContextMenu(await revealRow(this.list, row.index), entry);
  }

  private twistie(row: Locator): Locator {
    return row.locator('.monaco-tl-twistie');
  }

  private async find(path: string[]): Promise<{ row: Row<string>; variable: Variable }> {
    return waitFor(`"${path.join(' / ')}" among the variables`, async () =>
      (await this.read()).find(({ variable }) => samePath(variable.path, path)),
    );
  }

  private async read(): Promise<{ row: Row<string>; variable: Variable }[]> {
    await unfold(this.section);
    const above: string[] = [];
    return (await readRows(this.list, EXPRESSION)).map((row) => {
      const name = row.parts.scope ?? (row.parts.name ?? '').replace(/\s*[:=]$/, '');
      above.length = row.level - 1;
      above.push(name);
      const variable = { name, value: row.parts.value ?? '', path: [...above], expanded: row.expanded };
      return { row, variable };
    });
  }
}

function samePath(a: string[], b: string[]): boolean {
  return a.length === b.length && a.every((name, index) => name === b[index]);
}

/** Where a frame of the Call Stack view says that it is. */
export interface Frame {
  name: string;
  file: string;
  /** `undefined` for a frame without a source. */
  line?: number;
}

/** The Call Stack view. */
export class CallStackView {
  private readonly section: Locator;
  private readonly list: Locator;

  constructor(page: Page) {
    this.section = sectionOf(page, 'Call Stack');
    this.list = this.section.locator('.monaco-list');
  }

  /** The frames, innermost first, of all threads that are unfolded. */
  async frames(): Promise<Frame[]> {
    await unfold(this.section);
    const rows = await readRows(this.list, {
      frame: '.stack-frame > .label',
      file: '.file-name',
      line: '.line-number',
    });
    return rows.flatMap(({ parts }) =>
      parts.frame === undefined
        ? []
        : [
            {
              name: parts.frame,
              file: parts.file ?? '',
              line: Number.parseInt(parts.line ?? '', 10) || undefined,
            },
          ],
    );
  }

  /** Threads and sessions with what they say of themselves; empty when there is one thread only. */
  async threads(): Promise<{ name: string; state: string }[]> {
    await unfold(this.section);
    const rows = await readRows(this.list, { name: '.thread > .name, .session > .name', state: '.state' });
    return rows.flatMap(({ parts }) => (parts.name ? [{ name: parts.name, state: parts.state ?? '' }] : []));
  }

  /** Clicks the frame of a name and file, which moves the editor and the Variables view there. */
  async select(name: string, file = ''): Promise<void> {
    const rows = await readRows(this.list, { frame: '.stack-frame > .label', file: '.stack-frame > .file' });
    const row = rows.find(({ parts }) => parts.frame === name && (parts.file ?? '').includes(file));
    if (!row) {
      throw new Error(
        `No frame "${name}" in the call stack: ${rows.map(({ parts }) => parts.frame).join(', ')}`,
      );
    }
    await (await revealRow(this.list, row.index)).click();
  }

  /** Why it stopped: the message in the view's header, or with several threads the one beside the thread. */
  async stoppedText(): Promise<string> {
    const header = await this.section.locator('.call-stack-state-message .label:visible').allTextContents();
    const text = header.join(' ').trim();
    return (
      text || ((await this.threads()).find(({ state }) => state && !/^running$/i.test(state))?.state ?? '')
    );
  }
}
