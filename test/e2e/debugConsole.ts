import type { Locator, Page } from 'playwright-core';
import { readRows } from './listRows';
import { waitFor } from './waiting';

/** The Debug Console. */
export class DebugConsole {
  private readonly panel: Locator;
  private readonly list: Locator;

  constructor(
    private readonly page: Page,
    private readonly runCommand: (title: string) => Promise<void>,
  ) {
    this.panel = page.locator('.repl');
    this.list = this.panel.locator('.repl-tree .monaco-list').first();
  }

  /** All that it shows, one line for each row. */
  async text(): Promise<string> {
    await this.show();
    return (await this.lines()).join('\n');
  }

  /** Types an expression, and gives the text of the row that answers. */
  async evaluate(expression: string): Promise<string> {
    await this.show();
    const before = await this.lines();
    await this.panel.locator('.repl-input-wrapper .monaco-editor').first().click();
    await this.page.keyboard.type(expression);
    await this.page.keyboard.press('Escape'); // a suggestion that is open would take the Enter
    await this.page.keyboard.press('Enter');
    return waitFor(`an answer to "${expression}" in the Debug Console`, async () => {
      const added = (await this.lines()).slice(before.length);
      return added[0]?.includes(expression) ? added[1] : undefined; // the console repeats the question first
    });
  }

  private async lines(): Promise<string[]> {
    const rows = await readRows(this.list, { text: '.value' });
    return rows.map(({ parts, label }) => parts.text ?? label.trim());
  }

  private async show(): Promise<void> {
    if (!(await this.panel.isVisible())) {
      await this.runCommand('Debug Console: Focus on Debug Console View');
      await this.panel.waitFor();
    }
  }
}
