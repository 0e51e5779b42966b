import { basename } from 'node:path';
import { type Browser, chromium, type Frame, type Locator, type Page } from 'playwright-core';
import { BreakpointsView } from './breakpointsView';
import { DebugConsole } from './debugConsole';
import { DebugSession } from './debugSession';
import { DebugTraffic } from './debugTraffic';
import { EditorArea } from './editor';
import { readRows, revealRow } from './listRows';
import { CallStackView, exactly, sectionOf, unfold, VariablesView } from './views';
import { TIMEOUT, waitFor } from './waiting';
import { type WebviewMatcher, webviewFrame } from './webviews';

const BROWSER_FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * A window of VS Code in a browser, driven as a person drives it: keys, clicks, and what is on screen.
 *
 * Each part of the window has its own object (`debug`, `callStack`, `variables`, ...). All that acts waits until
 * the window shows the result; lists are scrolled through where they do not fit. Known limits: an editor is read
 * only where it is on screen, and a name that occurs twice (two equal frames) means its first.
 */
export class VSCodeWindow {
  readonly debug: DebugSession;
  readonly callStack: CallStackView;
  readonly variables: VariablesView;
  readonly watch: VariablesView;
  readonly breakpoints: BreakpointsView;
  readonly console: DebugConsole;
  readonly editor: EditorArea;
  /** Errors that documents of webviews logged or did not catch. */
  readonly webviewErrors: string[] = [];

  private constructor(
    private readonly browser: Browser,
    readonly page: Page,
  ) {
    this.debug = new DebugSession(page, new DebugTraffic(page), () => this.describe());
    this.callStack = new CallStackView(page);
    this.variables = new VariablesView(page, 'Variables');
    this.watch = new VariablesView(page, 'Watch');
    this.breakpoints = new BreakpointsView(page);
    this.console = new DebugConsole(page, (title) => this.runCommand(title));
    this.editor = new EditorArea(page);
    page.on('console', (message) => {
      if (message.type() === 'error' && message.location().url.includes('/fake.html')) {
        this.webviewErrors.push(message.text());
      }
    });
  }

  /** Opens the address of a workspace, and waits until the extensions of the window are known and F5 would work. */
  static async open(url: string, size = { width: 1600, height: 1000 }): Promise<VSCodeWindow> {
    const browser = await chromium.launch({
      executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
      args: BROWSER_FLAGS,
    });
    try {
      const page = await browser.newPage({ viewport: size });
      page.setDefaultTimeout(TIMEOUT);
      const window = new VSCodeWindow(browser, page);
      await window.load(url);
      return window;
    } catch (error) {
      await browser.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.browser.close();
  }

  /** Loads the window anew, as a person who reloads the page. */
  async reload(): Promise<void> {
    await this.load(this.page.url());
  }

  /** Runs a command from the palette by its full title. */
  async runCommand(title: string): Promise<void> {
    await this.page.keyboard.press('F1');
    const palette = this.page.getByPlaceholder('Type the name of a command to run.');
    await palette.fill(`>${title}`);
    await this.selectQuickPick(title);
    // What the command itself may ask comes in the same box: let the palette go first.
    await palette.waitFor({ state: 'hidden' });
  }

  /** Types into the box that asks, and confirms. */
  async fillQuickInput(text: string): Promise<void> {
    await this.quickInput().fill(text);
    await this.page.keyboard.press('Enter');
  }

  /** Clicks the entry of the open pick list that says exactly this. */
  async selectQuickPick(label: string): Promise<void> {
    const entry = this.page.locator('.quick-input-list .monaco-list-row').filter({
      has: this.page.locator('.quick-input-list-row:first-child .label-name', { hasText: exactly(label) }),
    });
    await waitFor(`"${label}" in the pick list`, () => entry.first().isVisible(), {
      details: async () => `It has: ${(await this.quickPicks()).join(' | ')}`,
    });
    await entry.first().click();
  }

  /** The entries of the open pick list. */
  async quickPicks(): Promise<string[]> {
    const list = this.page.locator('.quick-input-list .monaco-list');
    const rows = await readRows(list, { label: '.quick-input-list-row:first-child .label-name' });
    return rows.map(({ parts, label }) => parts.label ?? label);
  }

  /** Title, prompt and message of the box that asks. */
  async quickInputText(): Promise<string> {
    await this.quickInput().waitFor();
    const parts = [
      await this.page.locator('.quick-input-title').textContent(),
      await this.quickInput().getAttribute('placeholder'),
      await this.page.locator('.quick-input-message').textContent(),
    ];
    return parts
      .map((part) => part?.replaceAll('\u00a0', ' ').trim())
      .filter(Boolean)
      .join('\n');
  }

  /** Opens a file of the workspace by its path or name. */
  async openFile(path: string): Promise<void> {
    await this.page.keyboard.press('Control+P');
    await this.quickInput().fill(path);
    await this.selectQuickPick(basename(path));
    await waitFor(`${path} in an editor`, async () => (await this.editor.activeTab()) === basename(path));
  }

  /** Shows a view container of the activity bar, such as `Explorer`, by the beginning of its title. */
  async showSideBar(title: string): Promise<void> {
    const tab = this.page.locator(`.activitybar .action-item:has(> .action-label[aria-label^="${title}"])`);
    if (!(await tab.evaluate((item) => item.classList.contains('checked')))) {
      await tab.click();
    }
    // Off the icon, whose hover would cover the view, to an empty place of the status bar.
    const { width, height } = this.page.viewportSize() ?? { width: 800, height: 600 };
    await this.page.mouse.move(width * 0.6, height - 5);
  }

  /** What a tree in the side bar shows, such as an extension's view. */
  async treeRows(section: string): Promise<{ label: string; description: string; level: number }[]> {
    const pane = sectionOf(this.page, section);
    await unfold(pane);
    const rows = await readRows(pane.locator('.monaco-list'), {
      label: '.label-name',
      description: '.label-description',
    });
    return rows.map(({ parts, level, label }) => ({
      label: parts.label ?? label,
      description: parts.description ?? '',
      level,
    }));
  }

  /** The row of such a tree, to click or right-click it. */
  async treeRow(section: string, label: string): Promise<Locator> {
    const list = sectionOf(this.page, section).locator('.monaco-list');
    const row = await waitFor(`"${label}" in ${section}`, async () =>
      (await readRows(list, { label: '.label-name' })).find(({ parts }) => parts.label === label),
    );
    return revealRow(list, row.index);
  }

  /** The document of a webview on screen. */
  async webview(matcher: WebviewMatcher): Promise<Frame> {
    return webviewFrame(this.page, matcher);
  }

  /** The messages in the corner. */
  async notifications(): Promise<string[]> {
    return this.page.locator('.notifications-toasts .notification-list-item-message').allInnerTexts();
  }

  /** Waits for a message in the corner that contains the text, and gives all of it. */
  async waitForNotification(text: string): Promise<string> {
    return waitFor(
      `a message with "${text}"`,
      async () => (await this.notifications()).find((message) => message.includes(text)),
      { details: () => this.describe() },
    );
  }

  /** Presses a button of a message in the corner. */
  async pressNotificationButton(label: string): Promise<void> {
    await this.page
      .locator('.notifications-toasts .monaco-button', { hasText: exactly(label) })
      .first()
      .click();
  }

  /** Closes the message in the corner without an answer. */
  async dismissNotification(): Promise<void> {
    const toast = this.page.locator('.notifications-toasts .notification-list-item').first();
    await toast.hover();
    await toast.locator('.codicon-notifications-clear').click();
  }

  /** What the dialog in the middle says; empty when there is none. */
  async dialogText(): Promise<string> {
    return (await this.page.locator('.monaco-dialog-box .dialog-message-container').allInnerTexts()).join(
      '\n',
    );
  }

  /** Presses a button of that dialog. */
  async pressDialogButton(label: string): Promise<void> {
    const button = this.page.locator('.monaco-dialog-box .monaco-button', { hasText: exactly(label) });
    await button.first().click();
    await button.first().waitFor({ state: 'hidden' });
  }

  /** The entries of the status bar. */
  async statusBar(): Promise<string[]> {
    const texts = await this.page.locator('.part.statusbar .statusbar-item').allInnerTexts();
    return texts.map((text) => text.replace(/\s+/g, ' ').trim()).filter((text) => text !== '');
  }

  /** Chooses a colour theme by its name, such as `Dark Modern`. */
  async setColorTheme(name: string): Promise<void> {
    const theme = () =>
      this.page.locator('.monaco-workbench').evaluate((one) => one.className.match(/vscode-theme-\S+/)?.[0]);
    const before = await theme();
    await this.runCommand('Preferences: Color Theme');
    await this.quickInput().fill(name);
    await this.selectQuickPick(name);
    await this.page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
    const deadline = Date.now() + 3_000; // for the one that was set already
    await waitFor(`the theme ${name}`, async () => (await theme()) !== before || Date.now() > deadline);
  }

  /** Writes a picture of the window as it is now. */
  async screenshot(path: string): Promise<void> {
    await this.page.screenshot({ path });
  }

  private quickInput(): Locator {
    return this.page.locator('.quick-input-widget .quick-input-filter input');
  }

  private async load(url: string): Promise<void> {
    await this.page.goto(url);
    await this.page.locator('.monaco-workbench').waitFor();
    await this.page.waitForFunction(
      () => performance.getEntriesByName('code/didLoadExtensions').length > 0,
      undefined,
      { polling: 100 },
    );
    // Before the debuggers of the extensions are known, F5 only opens this view. Then it shows its start button.
    await this.showSideBar('Run and Debug');
    await this.page
      .locator('.part.sidebar')
      .locator('.start-debug-action-item, .welcome-view .monaco-button')
      .first()
      .waitFor();
  }

  private async describe(): Promise<string> {
    const said = [await this.dialogText(), ...(await this.notifications())].filter((text) => text !== '');
    const asks = (await this.quickInput().isVisible()) ? await this.quickInputText() : '';
    return `The window says: ${said.join(' | ') || 'nothing'}${asks && `; it asks: ${asks}`}`;
  }
}
