import { Failure } from "#core/index.ts";

/**
 * What every control call that changes something must pass before it is read. A browser says where a call comes from
 * (`sec-fetch-site`, `origin`); another site's page is refused. A program sends neither, and carries nothing that a
 * page could borrow. JSON only: a plain form on another site cannot send it without asking first.
 */
export function checkStateChange(request: Request, publicUrl: string | null): void {
  checkOrigin(request, publicUrl);
  if (!isJson(request)) throw new Failure("unsupported_media_type", "The body must be application/json.");
}

/**
 * The same for a call that takes other bodies too, which a form on another site could send unasked: whoever comes with
 * what a browser adds by itself has to come with what a browser says of where it is.
 */
export function checkOwnPage(request: Request, publicUrl: string | null): void {
  checkOrigin(request, publicUrl);
  const { headers } = request;
  if (headers.has("sec-fetch-site") || headers.has("origin") || headers.has("authorization") || isJson(request)) return;
  if (request.method === "POST") throw foreign();
}

function checkOrigin(request: Request, publicUrl: string | null): void {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin") throw foreign();
  const origin = request.headers.get("origin");
  if (origin !== null && !isOwn(origin, request, publicUrl)) throw foreign();
}

function isJson(request: Request): boolean {
  return /^application\/json\s*(;|$)/i.test(request.headers.get("content-type") ?? "");
}

function isOwn(origin: string, request: Request, publicUrl: string | null): boolean {
  if (!URL.canParse(origin)) return false;
  const host = request.headers.get("host") ?? new URL(request.url).host;
  // Behind a proxy that ends TLS the scheme differs from ours; the host decides.
  if (new URL(origin).host === host.toLowerCase()) return true;
  return publicUrl !== null && URL.canParse(publicUrl) && new URL(publicUrl).origin === origin;
}

function foreign(): Failure {
  return new Failure("forbidden", "This call may only come from the gateway's own pages.");
}
