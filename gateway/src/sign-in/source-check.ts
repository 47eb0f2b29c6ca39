import { Failure } from "#core/index.ts";
import type { Site } from "./site.ts";

/**
 * Whether a browser may make this call from where it makes it. Another site's page may not, nor a sister site's: its
 * cookies would come along. A program says nothing of where it is, and has no cookies that a page could borrow.
 */
export function checkSource(request: Request, site: Site): void {
  const from = request.headers.get("sec-fetch-site");
  const typed = request.method === "GET" && from === "none";
  if (from !== null && from !== "same-origin" && !typed) throw foreign(site);
  const origin = request.headers.get("origin");
  if (origin !== null && origin !== site.origin) throw foreign(site);
}

function foreign(site: Site): Failure {
  return new Failure("forbidden", `Sign-in is open to this gateway's own pages only, at ${site.origin}/console/.`);
}
