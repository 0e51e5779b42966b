import type { Frame, Page } from 'playwright-core';
import { waitFor } from './waiting';

/** Part of the document's HTML, a pattern in it, or a question about the document. */
export type WebviewMatcher = string | RegExp | ((document: Frame) => boolean | Promise<boolean>);

/**
 * The document of the webview on screen that matches. A webview is an iframe in an iframe; the inner one holds
 * what the extension wrote. It is replaced when the extension sets new HTML or the view is hidden and shown
 * again: ask again then.
 */
export async function webviewFrame(page: Page, matcher: WebviewMatcher): Promise<Frame> {
  return waitFor(
    `a webview on screen that matches ${matcher}`,
    async () => {
      for (const frame of await webviewsOnScreen(page)) {
        if (await matches(frame, matcher).catch(() => false)) {
          return frame; // a frame that goes away while it is asked does not match
        }
      }
      return undefined;
    },
    { details: () => describeWebviews(page) },
  );
}

/** The documents of all webviews on screen. */
export async function webviewsOnScreen(page: Page): Promise<Frame[]> {
  const found: Frame[] = [];
  for (const frame of page.frames().filter((one) => one.url().includes('/fake.html'))) {
    const visible = await frame
      .parentFrame()
      ?.frameElement()
      .then((outer) => outer.isVisible())
      .catch(() => false);
    if (visible) {
      found.push(frame);
    }
  }
  return found;
}

async function matches(frame: Frame, matcher: WebviewMatcher): Promise<boolean> {
  if (typeof matcher === 'function') {
    return matcher(frame);
  }
  const html = await frame.evaluate(() => document.documentElement.outerHTML);
  return typeof matcher === 'string' ? html.includes(matcher) : matcher.test(html);
}

async function describeWebviews(page: Page): Promise<string> {
  const texts = await Promise.all(
    (await webviewsOnScreen(page)).map((frame) =>
      frame.evaluate(() => (document.body.textContent ?? '').trim().slice(0, 300)).catch(() => '(gone)'),
    ),
  );
  return `On screen are ${texts.length} webviews:\n${texts.join('\n---\n')}`;
}
