/** Standard output piece by piece, until its reader leaves, as `head` does when it has enough. */
export class StandardOutput {
  private gone = false;

  constructor() {
    process.stdout.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      this.gone = true;
    });
  }

  /** Writes and waits a turn, so that the text is out before more is computed. False when nobody reads any more. */
  async write(text: string): Promise<boolean> {
    if (!this.gone && text !== '') process.stdout.write(text);
    await new Promise((resolve) => setImmediate(resolve));
    return !this.gone;
  }
}
