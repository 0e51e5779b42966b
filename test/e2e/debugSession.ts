import type { Page } from 'playwright-core';
import type { DebugTraffic } from './debugTraffic';
import { waitFor, waitUntilQuiet } from './waiting';

/** Starts, steps and stops what is debugged, and waits until the window shows the result. */
export class DebugSession {
  /** What had been counted when the person last set the program going. */
  private before = { starts: 0, stops: 0, ends: 0 };

  constructor(
    private readonly page: Page,
    private readonly traffic: DebugTraffic,
    /** What else the window says, such as a notification; for the text of a failure. */
    private readonly describe: () => Promise<string>,
  ) {}

  /** F5 without waiting for anything: starts a session, or continues the one that is paused. */
  async pressF5(): Promise<void> {
    this.mark();
    await this.page.keyboard.press('F5');
  }

  /** F5, and waits for the stop that follows. */
  async start(): Promise<void> {
    await this.begin();
    await this.waitForPaused();
  }

  /** F5, and waits until the session has begun. */
  async begin(): Promise<void> {
    await this.pressF5();
    if (!(await this.hasBegun())) await this.pressF5();
  }

  /** A window that is still loading swallows the key; a person who sees nothing happen presses it again. */
  private async hasBegun(): Promise<boolean> {
    const deadline = Date.now() + 15_000;
    while (Date.now() < deadline) {
      if (this.traffic.starts > this.before.starts || (await this.isActive())) return true;
      await this.page.waitForTimeout(200);
    }
    return false;
  }

  /** Waits for a stop since the last start, step or continue, and until the views show it. */
  async waitForPaused(): Promise<void> {
    await this.wait('a stop', () => {
      if (this.traffic.ends > this.before.ends) {
        throw new Error(
          `The session ended instead of stopping.\nLast messages: ${this.traffic.recent.join(' ')}`,
        );
      }
      return this.traffic.stops > this.before.stops;
    });
    await this.wait('the window to show the stop', () => this.isPaused());
    await this.settle();
  }

  /** Waits until the session that was started has ended. */
  async waitForEnd(): Promise<void> {
    let hiddenSince = Number.NaN;
    await this.wait('the end of the session', async () => {
      if (await this.page.locator('.debug-toolbar').isVisible()) {
        hiddenSince = Number.NaN;
        return false;
      }
      hiddenSince = Number.isNaN(hiddenSince) ? Date.now() : hiddenSince;
      // An adapter that crashes says nothing; then a toolbar that stays away tells it.
      const told = this.traffic.ends > this.before.ends;
      return told || (this.traffic.starts > this.before.starts && Date.now() - hiddenSince > 5_000);
    });
  }

  /** Waits until the views have shown all that the debug adapter has answered. */
  async settle(): Promise<void> {
    for (const deadline = Date.now() + 15_000; Date.now() < deadline; ) {
      await waitUntilQuiet(this.page);
      if (this.traffic.pending === 0) {
        return;
      }
    }
  }

  /** The toolbar offers to continue. */
  async isPaused(): Promise<boolean> {
    return this.page.locator('.debug-toolbar .codicon-debug-continue:not(.disabled)').isVisible();
  }

  /** The debug toolbar is shown: a session runs or is paused. */
  async isActive(): Promise<boolean> {
    return this.page.locator('.debug-toolbar').isVisible();
  }

  async stepOver(): Promise<void> {
    await this.step('Step Over');
  }

  async stepInto(): Promise<void> {
    await this.step('Step Into');
  }

  async stepOut(): Promise<void> {
    await this.step('Step Out');
  }

  async stepBack(): Promise<void> {
    await this.step('Step Back');
  }

  /** Back to the stop before, or to the beginning. */
  async reverse(): Promise<void> {
    await this.step('Reverse');
  }

  /** Sets the program going and returns at once; then `waitForPaused` or `waitForEnd`. */
  async continue(): Promise<void> {
    await this.press('Continue');
  }

  /** Interrupts a program that runs, and waits for the stop. */
  async pause(): Promise<void> {
    await this.step('Pause');
  }

  /** Ends the session, and waits until the window is back to normal. */
  async stop(): Promise<void> {
    const button = this.page.locator(
      '.debug-toolbar .codicon-debug-stop, .debug-toolbar .codicon-debug-disconnect',
    );
    await button.first().click();
    await this.page.locator('.debug-toolbar').waitFor({ state: 'hidden' });
  }

  /** Presses a button of the debug toolbar, also one of an extension, by the beginning of its title. */
  async press(title: string): Promise<void> {
    this.mark();
    await this.page
      .locator(`.debug-toolbar .action-label[aria-label^="${title}"]:not(.disabled)`)
      .first()
      .click();
  }

  /** Presses such a button, and waits for the stop that follows. */
  async step(title: string): Promise<void> {
    await this.press(title);
    await this.waitForPaused();
  }

  /** Remembers what came so far: a test that sets the program going by other means (a command) calls this first. */
  mark(): void {
    const { starts, stops, ends } = this.traffic;
    this.before = { starts, stops, ends };
  }

  private async wait(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
    await waitFor(what, check, {
      details: async () => `${await this.describe()}\nLast messages: ${this.traffic.recent.join(' ')}`,
    });
  }
}
