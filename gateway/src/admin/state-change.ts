import { Failure } from "#core/index.ts";

/**
 * What every control call that changes something must pass before it is read. A browser says where a call comes from
 * (`sec-fetch-site`, `origin`); another site's page is refused. A program sends neither, and carries nothing that a
 * page could borrow. JSON only: a plain form on another site cannot send it without asking first.
 */
export function checkStateChange(request: Request, publicUrl: string | null): void {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin") throw foreign();
  const origin = request.headers.get("origin");
  if (origin !== null && !isOwn(origin, request, publicUrl)) throw foreign();
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new Failure("unsupported_media_type", "The body must be application/json.");
  }
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
