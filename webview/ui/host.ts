/** The one handle that a webview gets on its host, with types for its messages and its kept state. */
export interface Host<In, Out> {
  post(message: Out): void;
  /** Calls `listener` for every message from the extension. */
  listen(listener: (message: In) => void): void;
  /** What `keep` was given last, also after the view was hidden and made again. */
  kept(): unknown;
  keep(state: unknown): void;
}

interface VsCodeApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

/** May be called once per page, as `acquireVsCodeApi` itself. */
export function connectHost<In, Out>(): Host<In, Out> {
  const api = acquireVsCodeApi();
  return {
    post: (message) => api.postMessage(message),
    listen: (listener) => window.addEventListener('message', (event) => listener(event.data as In)),
    kept: () => api.getState(),
    keep: (state) => api.setState(state),
  };
}
