import type { Locator, Page } from 'playwright-core';
import { readRows, revealRow } from './listRows';
import { chooseFromMenu, sectionOf, unfold } from './views';
import { waitFor } from './waiting';

/** One line of the Breakpoints view. */
export interface BreakpointRow {
  name: string;
  condition: string;
  /** Its box is ticked. */
  enabled: boolean;
  /** False while a session says that it cannot be set; the reason is in `label`. */
  verified: boolean;
  /** What a screen reader would say; holds the adapter's message of an unverified breakpoint. */
  label: string;
}

/** The Breakpoints view: function, line and data breakpoints and the exception filters. */
export class BreakpointsView {
  private readonly section: Locator;
  private readonly list: Locator;

  constructor(private readonly page: Page) {
    this.section = sectionOf(page, 'Breakpoints');
    this.list = this.section.locator('.monaco-list');
  }

  async rows(): Promise<BreakpointRow[]> {
    await unfold(this.section);
    const rows = await readRows(this.list, {
      name: '.name',
      condition: '.condition',
      unverified: '[class*="-unverified"]',
    });
    return rows.map(({ parts, label, checked }) => ({
      name: parts.name ?? '',
      condition: parts.condition ?? '',
      enabled: checked ?? false,
      verified: parts.unverified === undefined,
      label,
    }));
  }

  /** Adds a function breakpoint as a person does: the plus, the name, then the pencil for its condition. */
  async addFunction(name: string, details: { condition?: string; hitCount?: string } = {}): Promise<void> {
    await unfold(this.section);
    await this.section.locator('.pane-header').hover();
    await this.section.getByRole('button', { name: 'Add Function Breakpoint' }).click();
    await this.fill(name);
    if (details.condition !== undefined) {
      await this.edit(name, 'Edit Condition...', details.condition);
    }
    if (details.hitCount !== undefined) {
      await this.edit(name, 'Edit Hit Count...', details.hitCount);
    }
  }

  /** Ticks or unticks a breakpoint or an exception filter, and gives whether it is on now. */
  async toggle(name: string): Promise<boolean> {
    const row = await this.row(name);
    const before = await row.getAttribute('aria-checked');
    await row.locator('.monaco-checkbox').click();
    return waitFor(`"${name}" to change`, async () => {
      const now = (await this.rows()).find((one) => one.name === name);
      return now && String(now.enabled) !== before ? { enabled: now.enabled } : undefined;
    }).then(({ enabled }) => enabled);
  }

  /** Removes one with the cross at its end. */
  async remove(name: string): Promise<void> {
    const row = await this.row(name);
    await row.hover();
    await row.getByRole('button', { name: 'Remove Breakpoint' }).click();
    await waitFor(`"${name}" to be gone`, async () => !(await this.rows()).some((one) => one.name === name));
  }

  /** The pencil of a function breakpoint asks by a menu whether to change the condition or the hit count. */
  private async edit(name: string, entry: string, text: string): Promise<void> {
    const row = await this.row(name);
    await row.hover();
    await row.getByRole('button', { name: 'Edit Condition...' }).click();
    await chooseFromMenu(this.page, entry);
    await this.fill(text);
  }

  private async fill(text: string): Promise<void> {
    const input = this.list.locator('.inputBoxContainer input');
    await input.fill(text);
    await input.press('Enter');
    await input.waitFor({ state: 'detached' });
  }

  private async row(name: string): Promise<Locator> {
    await unfold(this.section);
    const row = await waitFor(
      `"${name}" in the Breakpoints view`,
      async () => (await readRows(this.list, { name: '.name' })).find(({ parts }) => parts.name === name),
      { details: async () => `It has: ${(await this.rows()).map((one) => one.name).join(', ')}` },
    );
    return revealRow(this.list, row.index);
  }
}
