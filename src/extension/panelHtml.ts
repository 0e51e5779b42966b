/** The page of a webview: one script, one style sheet, nothing inline. No vscode. */
export interface PageParts {
  title: string;
  script: string;
  style: string;
  /** What the webview calls its own resources' origin. */
  cspSource: string;
  nonce: string;
}

export function pageHtml({ title, script, style, cspSource, nonce }: PageParts): string {
  const policy = [
    "default-src 'none'",
    `style-src ${cspSource} 'nonce-${nonce}'`,
    `font-src ${cspSource}`,
    `img-src ${cspSource}`,
    `script-src 'nonce-${nonce}'`,
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="UTF-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta http-equiv="Content-Security-Policy" content="${policy}">
  <meta property="csp-nonce" content="${nonce}">
  <link rel="stylesheet" href="${style}">
  <title>${title}</title>
</head>
<body>
  <div id="root"></div>
  <script nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
}
