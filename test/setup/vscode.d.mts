/** The Node 24 and the script that together are the VS Code server. */
export interface VSCodePaths {
  node: string;
  entry: string;
}

export interface StartOptions {
  /** The folder to open. */
  workspace: string;
  /** Path of the .vsix to install. */
  extension?: string;
  /** A free one is taken when left out. */
  port?: number;
  /** Added to the settings that keep the window quiet. */
  userSettings?: Record<string, unknown>;
  /** Added to the environment of the server, so of the extension and its debug adapter too. */
  env?: Record<string, string>;
  /** A folder that keeps settings and extensions between runs; a temporary one when left out. */
  profile?: string;
  /** Leave the temporary folder behind, to look into its logs. */
  keep?: boolean;
}

export interface RunningVSCode {
  /** The address that opens the workspace. */
  url: string;
  port: number;
  userDataDir: string;
  extensionsDir: string;
  /** The HOME that the server and its extensions see. */
  home: string;
  /** What the server has printed so far. */
  log(): string;
  /** Ends this server and all that runs under it, and removes its temporary folder. */
  stop(): Promise<void>;
  /** Settles when the server has ended, for whatever reason. */
  ended: Promise<void>;
}

/** Makes sure that the cache holds a working VS Code server; the first time takes minutes. */
export function ensureVSCode(): Promise<VSCodePaths>;

/** Starts a VS Code server with the extension installed, and waits until it answers. */
export function startVSCode(options: StartOptions): Promise<RunningVSCode>;

/** A port that nobody listens on, on the loopback interface. */
export function freePort(): Promise<number>;
