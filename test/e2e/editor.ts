import type { Locator, Page } from 'playwright-core';
import { waitFor } from './waiting';

/** Where the debugger stands in an editor. */
export interface DebugPosition {
  /** Name of the file as its tab says it. */
  file: string;
  line: number;
  /** `top` for the frame that stopped, `focused` for another frame chosen in the call stack. */
  frame: 'top' | 'focused';
}

/** The text editors. */
export class EditorArea {
  constructor(private readonly page: Page) {}

  /** Name of the file or view whose tab is in front in the active group; empty when there is none. */
  async activeTab(): Promise<string> {
    return (await this.names('.editor-group-container.active .tab.active'))[0] ?? '';
  }

  /** Names of all tabs, in order. */
  async tabs(): Promise<string[]> {
    return this.names('.editor-group-container .tab');
  }

  /** Brings a tab to the front. */
  async selectTab(name: string): Promise<void> {
    const at = (await this.tabs()).indexOf(name);
    if (at < 0) {
      throw new Error(`There is no tab "${name}"; there are: ${(await this.tabs()).join(', ')}`);
    }
    await this.page.locator('.editor-group-container .tab').nth(at).click();
  }

  /** The line that is marked as the one where the program stands; `undefined` while none is on screen. */
  async debugPosition(): Promise<DebugPosition | undefined> {
    return this.page.evaluate(() => {
      for (const group of document.querySelectorAll('.editor-group-container')) {
        for (const frame of ['focused', 'top'] as const) {
          const mark = group.querySelector<HTMLElement>(`.view-overlays .debug-${frame}-stack-frame-line`);
          const top = mark?.parentElement?.style.top;
          const margin = group.querySelectorAll<HTMLElement>('.margin-view-overlays > div');
          const line = [...margin]
            .find((one) => one.style.top === top)
            ?.querySelector('.line-numbers')?.textContent;
          if (mark && line) {
            const tab = group.querySelector('.tab.active');
            return { file: tab?.getAttribute('data-resource-name') ?? '', line: Number(line), frame };
          }
        }
      }
      return undefined;
    });
  }

  /** Puts the cursor on a line of the active editor and brings it on screen. */
  async goToLine(line: number): Promise<void> {
    await this.page.keyboard.press('Control+G');
    const input = this.page.locator('.quick-input-widget .quick-input-filter input');
    await input.waitFor();
    await this.page.keyboard.type(String(line)); // after the prefix that is there
    await this.page.keyboard.press('Enter');
    await this.page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
    await waitFor(`line ${line} on screen`, async () => (await this.lineTop(line)) !== undefined);
  }

  /** Sets or removes a line breakpoint by a click beside the line number of the active editor. */
  async toggleBreakpoint(line: number): Promise<void> {
    await this.goToLine(line);
    const before = await this.hasBreakpoint(line);
    const place = await this.lineTop(line);
    if (!place) {
      throw new Error(`Line ${line} is not on screen.`);
    }
    await this.page.mouse.click(place.x + 8, place.y + place.height / 2);
    await waitFor(
      `the breakpoint on line ${line} to change`,
      async () => (await this.hasBreakpoint(line)) !== before,
    );
  }

  /** Sets a line breakpoint in the active editor; does nothing where one is. */
  async setBreakpoint(line: number): Promise<void> {
    await this.goToLine(line);
    if (!(await this.hasBreakpoint(line))) {
      await this.toggleBreakpoint(line);
    }
  }

  /** What inline values say, one string for each line on screen that has some. */
  async inlineValues(): Promise<string[]> {
    return this.page.locator('.editor-instance .view-line:has(.debug-inline-value)').evaluateAll((lines) =>
      lines.map((line) =>
        [...line.querySelectorAll('.debug-inline-value')]
          .map((value) => value.textContent ?? '')
          .join('')
          .replaceAll('\u00a0', ' ')
          .trim(),
      ),
    );
  }

  /** Rests the mouse on the first place on screen where the code says `word`, and gives the text of the hover. */
  async hover(word: string): Promise<string> {
    const place = await this.page.evaluate((wanted) => {
      for (const line of document.querySelectorAll('.editor-group-container.active .view-line')) {
        if (/^\s*(\/?\*|\/\/)/.test(line.textContent ?? '')) continue; // a comment has no values
        const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
          if (node.parentElement?.closest('.debug-inline-value')) continue;
          const at = (node.textContent ?? '').replaceAll('\u00a0', ' ').indexOf(wanted);
          if (at >= 0) {
            const range = document.createRange();
            range.setStart(node, at);
            range.setEnd(node, at + wanted.length);
            const box = range.getBoundingClientRect();
            const place = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
            // Lines may lie behind the headings that stick to the top.
            if (line.contains(document.elementFromPoint(place.x, place.y))) return place;
          }
        }
      }
      return undefined;
    }, word);
    if (!place) {
      throw new Error(`"${word}" is not on screen in the active editor.`);
    }
    const shown = this.page.locator('.debug-hover-widget:visible, .monaco-editor .monaco-hover:visible');
    let side = 1;
    return waitFor(
      `a hover over "${word}"`,
      async () => {
        // An editor that has just changed may miss the first rest of the mouse.
        await this.page.mouse.move(place.x + side, place.y, { steps: 4 });
        side = -side;
        await this.page.waitForTimeout(1500);
        const text = (await shown.allInnerTexts()).join('\n').replaceAll('\u00a0', ' ').trim();
        return text === '' || /^loading/i.test(text) ? undefined : text;
      },
      { details: async () => JSON.stringify(place) },
    );
  }

  /** A file name is drawn in two parts, name and suffix. */
  private async names(tabs: string): Promise<string[]> {
    const parts = '.monaco-icon-name-container, .monaco-icon-suffix-container';
    return this.page
      .locator(tabs)
      .evaluateAll(
        (all, selector) =>
          all.map((tab) => [...tab.querySelectorAll(selector)].map((part) => part.textContent).join('')),
        parts,
      );
  }

  private async hasBreakpoint(line: number): Promise<boolean> {
    return this.activeEditor().evaluate((editor, wanted) => {
      const margin = [...editor.querySelectorAll<HTMLElement>('.margin-view-overlays > div')];
      const top = margin.find((one) => one.querySelector('.line-numbers')?.textContent === String(wanted))
        ?.style.top;
      const glyphs = [
        ...editor.querySelectorAll<HTMLElement>('.glyph-margin-widgets [class*="debug-breakpoint"]'),
      ];
      return glyphs.some((glyph) => glyph.style.top === top && !glyph.className.includes('-hint'));
    }, line);
  }

  private async lineTop(line: number): Promise<{ x: number; y: number; height: number } | undefined> {
    return this.activeEditor().evaluate((editor, wanted) => {
      const number = [...editor.querySelectorAll('.margin-view-overlays .line-numbers')].find(
        (one) => one.textContent === String(wanted),
      );
      const margin = editor.querySelector('.margin')?.getBoundingClientRect();
      const box = number?.getBoundingClientRect();
      return box && margin ? { x: margin.x, y: box.y, height: box.height } : undefined;
    }, line);
  }

  private activeEditor(): Locator {
    return this.page.locator('.editor-group-container.active .editor-instance .monaco-editor').first();
  }
}
