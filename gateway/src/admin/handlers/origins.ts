import { Buffer } from "node:buffer";
import { isLoopbackHost } from "#core/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";

type Origins = Pick<ConsoleDependencies, "publicUrl" | "callsUrl">;

/** Where callers reach the gateway, as far as the console can know. Without a slash at its end. */
export function callsOrigin({ callsUrl, publicUrl }: Origins, request: Request): string {
  return (callsUrl?.() ?? publicUrl ?? new URL(request.url).origin).replace(/\/+$/, "");
}

/** Where the console and the admin API are reached. Without a slash at its end. */
export function consoleOrigin({ publicUrl }: Pick<Origins, "publicUrl">, request: Request): string {
  return (publicUrl ?? ownOrigin(request)).replace(/\/+$/, "");
}

/**
 * A link into the console whose secret (256 bits of chance, stored by digest only) stands behind `#`: no server, proxy or referrer
 * ever sees it.
 */
export function oneTimeLink(
  kind: "invite" | "reset",
  request: Request,
  dependencies: Pick<ConsoleDependencies, "publicUrl" | "randomBytes">,
) {
  const secret = Buffer.from(dependencies.randomBytes(32)).toString("base64url");
  return { secret, link: `${consoleOrigin(dependencies, request)}/console/#${kind}=${secret}` };
}

/**
 * Without a configured address the console opens at this machine's own names only. What else a `host` header says was made up,
 * and a link made of it, mailed maybe, would bring its secret there.
 */
export function ownOrigin(request: Request): string {
  const { origin, hostname, port } = new URL(request.url);
  return isLoopbackHost(hostname) ? origin : `http://localhost${port === "" ? "" : `:${port}`}`;
}
