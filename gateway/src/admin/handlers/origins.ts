import { Buffer } from "node:buffer";
import { isLoopbackHost } from "#core/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";

type Origins = Pick<ConsoleDependencies, "publicUrl" | "callsUrl">;

/** Address for API callers, without a trailing slash. Falls back to the request's origin. */
export function callsOrigin({ callsUrl, publicUrl }: Origins, request: Request): string {
  return (callsUrl?.() ?? publicUrl ?? new URL(request.url).origin).replace(/\/+$/, "");
}

/** Address of the console and the admin API, without a trailing slash. */
export function consoleOrigin({ publicUrl }: Pick<Origins, "publicUrl">, request: Request): string {
  return (publicUrl ?? ownOrigin(request)).replace(/\/+$/, "");
}

/** A console link with its secret behind `#`, so that no server, proxy or referrer sees it. Only a digest is stored. */
export function oneTimeLink(
  kind: "invite" | "reset",
  request: Request,
  dependencies: Pick<ConsoleDependencies, "publicUrl" | "randomBytes">,
) {
  const secret = Buffer.from(dependencies.randomBytes(32)).toString("base64url");
  return { secret, link: `${consoleOrigin(dependencies, request)}/console/#${kind}=${secret}` };
}

/**
 * Without a configured address only names of this machine are accepted: links with secrets must not be built from a forged `host` header.
 */
export function ownOrigin(request: Request): string {
  const { origin, hostname, port } = new URL(request.url);
  return isLoopbackHost(hostname) ? origin : `http://localhost${port === "" ? "" : `:${port}`}`;
}
