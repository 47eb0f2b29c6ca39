import { Failure } from "#core/index.ts";
import type { StaticFiles } from "#ports/index.ts";
import { docsPolicy } from "./security-headers.ts";
import { answerFile, answerText } from "./static-answer.ts";

/** The files of swagger-ui that the page needs; `main` lists them for the static files. */
export const docsFiles = ["swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"] as const;

export function answerDocs(request: Request): Response {
  return answerText(request, page, "text/html; charset=utf-8", docsPolicy);
}

export async function docsFile(files: StaticFiles, request: Request): Promise<Response> {
  const path = new URL(request.url).pathname.slice(1);
  if (path === "docs/start.js") return answerText(request, start, "text/javascript; charset=utf-8", docsPolicy);
  if (path === "docs/page.css") return answerText(request, style, "text/css; charset=utf-8", docsPolicy);
  const file = await files.find(path);
  if (file === null) throw new Failure("not_found", "There is no such file in the API reference.");
  return answerFile(request, file, docsPolicy);
}

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Sluice API reference</title>
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <link rel="stylesheet" href="/docs/page.css">
    <script src="/docs/swagger-ui-bundle.js" defer></script>
    <script src="/docs/start.js" defer></script>
  </head>
  <body>
    <main id="reference">Loading the API reference…</main>
    <noscript>This page needs scripts. The description itself is at <a href="/openapi.json">/openapi.json</a>.</noscript>
  </body>
</html>
`;

/** Shows our own description only: no address bar to load another one, no validator on somebody's server. */
const start = `const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();
SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#reference",
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  validatorUrl: null,
  queryConfigEnabled: false,
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
});
`;

const style = `body { margin: 0; font-family: system-ui, sans-serif; }
#reference { min-height: 100vh; }
html.dark-mode body { background: #1c2022; color: #e4e6e6; }
/* On a telephone swagger-ui leaves paths, tables and examples wider than the page. */
@media (max-width: 48rem) {
  .swagger-ui .wrapper, .swagger-ui .scheme-container .schemes { padding: 0 0.75rem; }
  .swagger-ui .info .title, .swagger-ui .renderedMarkdown, .swagger-ui .opblock-tag { overflow-wrap: anywhere; }
  .swagger-ui .opblock-tag { flex-wrap: wrap; }
  .swagger-ui .opblock .opblock-summary, .swagger-ui .opblock .opblock-summary-control { flex-wrap: wrap; min-width: 0; }
  .swagger-ui .opblock .opblock-summary-path { flex-shrink: 1; max-width: 100%; min-width: 0; word-break: break-all; }
  .swagger-ui .renderedMarkdown table, .swagger-ui .table-container, .swagger-ui .responses-inner { display: block; max-width: 100%; overflow-x: auto; }
  .swagger-ui pre, .swagger-ui .renderedMarkdown pre { max-width: 100%; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
}
`;
