import type { Page } from 'playwright-core';

/** How long the driver waits for anything; generous, since the machine may be busy with other tests. */
export const TIMEOUT = 60_000;

/** Asks `check` until it gives something other than `undefined` or `false`. `what` completes "Waited ... for". */
export async function waitFor<T>(
  what: string,
  check: () => Promise<T | undefined | false> | T | undefined | false,
  options: { timeout?: number; every?: number; details?: () => Promise<string> } = {},
): Promise<T> {
  const { timeout = TIMEOUT, every = 50 } = options;
  for (const deadline = Date.now() + timeout; ; await pause(every)) {
    const result = await check();
    if (result !== undefined && result !== false) {
      return result;
    }
    if (Date.now() > deadline) {
      const details = options.details ? `\n${await options.details()}` : '';
      throw new Error(`Waited ${timeout / 1000} s for ${what}.${details}`);
    }
  }
}

/**
 * Waits until nothing has changed in the side bar and the debug toolbar for `quiet` milliseconds, at most
 * `limit`. Views update late on purpose (Variables 400 ms after a stop), so the default is just above that.
 * The timer runs in the page: a busy page delays it as it delays the views.
 */
export async function waitUntilQuiet(page: Page, quiet = 500, limit = 15_000): Promise<void> {
  await page.evaluate(
    ([quietFor, atMost]) =>
      new Promise<void>((done) => {
        const finish = () => {
          observer.disconnect();
          clearTimeout(timer);
          clearTimeout(last);
          done();
        };
        let timer = setTimeout(finish, quietFor);
        const last = setTimeout(finish, atMost);
        const observer = new MutationObserver(() => {
          clearTimeout(timer);
          timer = setTimeout(finish, quietFor);
        });
        for (const part of document.querySelectorAll('.part.sidebar, .debug-toolbar')) {
          observer.observe(part, { subtree: true, childList: true, characterData: true, attributes: true });
        }
      }),
    [quiet, limit] as const,
  );
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resume) => setTimeout(resume, milliseconds));
}
