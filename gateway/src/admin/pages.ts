import { Failure } from "#core/index.ts";
import type { StaticFile, StaticFiles } from "#ports/index.ts";
import type { AdminOptions } from "./dependencies.ts";

/** For files and the API reference: everything from here, nothing inline, nothing from elsewhere. */
export const pagePolicy = [
  "default-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

/** For the API reference: swagger-ui draws its icons from `data:` URLs. Everything else is as strict. */
const docsPolicy = `${pagePolicy}; img-src 'self' data:`;

/** Where browsers tell what the console's policy kept from happening. */
export const policyReportPath = "/api/csp-report";

/**
 * For the console. Its component kit writes style tags, which only work with the nonce of this very answer; scripts are our
 * own files and nothing else. Text becomes markup only through the one policy that the page makes for itself at its start
 * (Trusted Types). Pictures and films may be made in the page (`blob:`, `data:`), but come from nowhere else.
 */
function consolePolicy(nonce: string): string {
  return [
    "default-src 'self'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "connect-src 'self'",
    "font-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types default",
    `report-uri ${policyReportPath}`,
  ].join("; ");
}

const headers = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  // The console's playground records what is to be transcribed, after the browser has asked.
  "permissions-policy": "camera=(), geolocation=(), microphone=(self), payment=(), usb=()",
} as const;

/** Puts on what every answer of the control plane carries; an answer without a policy of its own may load nothing. */
export function withSecurityHeaders(response: Response): Response {
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  if (!response.headers.has("content-security-policy")) {
    response.headers.set("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
  }
  return response;
}

/** A file of the console, else its one page. */
export async function answerConsole(
  options: Pick<AdminOptions, "files" | "randomToken">,
  request: Request,
): Promise<Response> {
  const path = new URL(request.url).pathname.slice(1);
  const page = await options.files.find("console/index.html");
  // Whatever is no file is a page of the console, which finds its own way: names of models hold dots, and look like files.
  const file = path === "console/index.html" ? null : await options.files.find(path);
  if (file !== null) return answerFile(request, file, pagePolicy);
  if (path.startsWith("console/assets/")) throw new Failure("not_found", "There is no such file in the console.");
  if (page !== null) return answerConsolePage(page, options.randomToken());
  return new Response("The console has not been built. Run: npm run build -w console\n", {
    status: 503,
    headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" },
  });
}

/** Stands in the built page where the answer's nonce goes. */
const placeholder = "{style-nonce}";

/**
 * The console's one page. Every answer has a nonce of its own, so it is never kept; what it loads has hashed names and is
 * kept for good.
 */
function answerConsolePage(page: StaticFile, nonce: string): Response {
  const text = new TextDecoder().decode(page.bytes).replace(placeholder, nonce);
  return new Response(text, {
    headers: {
      "content-type": page.type,
      "content-security-policy": consolePolicy(nonce),
      "cache-control": "no-store",
    },
  });
}

/** A file with its cache rules: a hashed name is kept for good, anything else is asked about again each time. */
export function answerFile(request: Request, file: StaticFile, policy: string): Response {
  const headers = new Headers({
    "content-type": file.type,
    "content-security-policy": policy,
    "cache-control": file.immutable ? "public, max-age=31536000, immutable" : "no-cache",
    etag: file.etag,
    vary: "accept-encoding",
  });
  if (matchesEtag(request, file.etag)) return new Response(null, { status: 304, headers });
  const accepted = request.headers.get("accept-encoding");
  for (const [coding, bytes] of [
    ["br", file.brotli],
    ["gzip", file.gzip],
  ] as const) {
    if (bytes === null || !accepts(accepted, coding)) continue;
    headers.set("content-encoding", coding);
    return new Response(bytes, { headers });
  }
  return new Response(file.bytes, { headers });
}

/** The same for text that we wrote ourselves. */
export function answerText(request: Request, text: string, type: string, policy: string): Response {
  const bytes = new TextEncoder().encode(text);
  const etag = `W/"${textTag(bytes)}"`;
  return answerFile(request, { bytes, gzip: null, brotli: null, type, immutable: false, etag }, policy);
}

/** Whether `if-none-match` (RFC 9110 §13.1.2) names what a tag is of: a list of tags, or `*`. Weakness is not compared. */
export function matchesEtag({ headers }: Request, etag: string): boolean {
  const strong = (tag: string) => tag.trim().replace(/^W\//, "");
  const tags = headers.get("if-none-match")?.split(",") ?? [];
  return tags.some((tag) => tag.trim() === "*" || strong(tag) === strong(etag));
}

/** RFC 9110 §12.5.3: `gzip;q=0` means that it must not be sent; what is named outweighs `*`. */
function accepts(acceptEncoding: string | null, coding: "br" | "gzip"): boolean {
  const named = new Map<string, boolean>();
  for (const part of (acceptEncoding ?? "").toLowerCase().split(",")) {
    const [, name, weight] = /^\s*([a-z*-]+)\s*(?:;\s*q=([\d.]+)\s*)?$/.exec(part) ?? [];
    if (name !== undefined) named.set(name === "x-gzip" ? "gzip" : name, weight === undefined || Number(weight) > 0);
  }
  return named.get(coding) ?? named.get("*") ?? false;
}

/** FNV-1a: tells one version of our own text from another, and guards nothing. */
function textTag(bytes: Uint8Array): string {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return `${(hash >>> 0).toString(36)}-${bytes.byteLength.toString(36)}`;
}

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
