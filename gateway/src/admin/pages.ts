import { Failure } from "#core/index.ts";
import type { StaticFile, StaticFiles } from "#ports/index.ts";
import type { AdminOptions } from "./dependencies.ts";

/** For files and the API reference: same origin only, nothing inline. */
export const pagePolicy = [
  "default-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

/** For the API reference: swagger-ui also draws its icons from `data:` URLs. */
const docsPolicy = `${pagePolicy}; img-src 'self' data:`;

/** The path to which browsers report violations of the console's policy. */
export const policyReportPath = "/api/csp-report";

/**
 * For the console. Style tags of the UI kit need the nonce of this answer; scripts come from our files only; HTML strings only through
 * the page's one Trusted Types policy. Images and videos may be `blob:` or `data:`.
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
  // The playground records audio to transcribe, with the user's permission.
  "permissions-policy": "camera=(), geolocation=(), microphone=(self), payment=(), usb=()",
} as const;

/** Adds the headers of every answer. An answer without a content policy may load nothing. */
export function withSecurityHeaders(response: Response): Response {
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  if (!response.headers.has("content-security-policy")) {
    response.headers.set("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
  }
  return response;
}

/** A file of the console, or else its page. */
export async function answerConsole(
  options: Pick<AdminOptions, "files" | "randomToken">,
  request: Request,
): Promise<Response> {
  const path = new URL(request.url).pathname.slice(1);
  const page = await options.files.find("console/index.html");
  // Any other path is a page of the console. The extension does not decide, since model names contain dots.
  const file = path === "console/index.html" ? null : await options.files.find(path);
  if (file !== null) return answerFile(request, file, pagePolicy);
  if (path.startsWith("console/assets/")) throw new Failure("not_found", "File not found.");
  if (page !== null) return answerConsolePage(page, options.randomToken());
  return new Response("The console has not been built. Run: npm run build -w console\n", {
    status: 503,
    headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" },
  });
}

/** Placeholder for the nonce in the built page. */
const placeholder = "{style-nonce}";

/** The console's page. It is never cached because of its nonce; the files it loads have hashed names and are cached. */
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

/** A hashed name is cached forever, other files are revalidated. */
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

/** Whether `if-none-match` (RFC 9110 §13.1.2), a list of tags or `*`, matches, by weak comparison. */
export function matchesEtag({ headers }: Request, etag: string): boolean {
  const strong = (tag: string) => tag.trim().replace(/^W\//, "");
  const tags = headers.get("if-none-match")?.split(",") ?? [];
  return tags.some((tag) => tag.trim() === "*" || strong(tag) === strong(etag));
}

/** RFC 9110 §12.5.3: `gzip;q=0` forbids gzip, and named encodings take precedence over `*`. */
function accepts(acceptEncoding: string | null, coding: "br" | "gzip"): boolean {
  const named = new Map<string, boolean>();
  for (const part of (acceptEncoding ?? "").toLowerCase().split(",")) {
    const [, name, weight] = /^\s*([a-z*-]+)\s*(?:;\s*q=([\d.]+)\s*)?$/.exec(part) ?? [];
    if (name !== undefined) named.set(name === "x-gzip" ? "gzip" : name, weight === undefined || Number(weight) > 0);
  }
  return named.get(coding) ?? named.get("*") ?? false;
}

/** The API reference: its page, and the files that the page loads. */
export async function answerDocs(files: StaticFiles, request: Request): Promise<Response> {
  const path = new URL(request.url).pathname.slice(1);
  const file = await files.find(path === "docs" ? "docs/index.html" : path);
  if (file === null) throw new Failure("not_found", "File not found.");
  return answerFile(request, file, docsPolicy);
}
