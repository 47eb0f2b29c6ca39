import { Buffer } from "node:buffer";
import ipaddr from "ipaddr.js";

export interface OneTimeLinkOptions {
  readonly randomBytes: (size: number) => Uint8Array;
  /** Where the console is reached; null: at this machine's own name. */
  readonly publicUrl: string | null;
}

export interface OneTimeLink {
  /** 256 bits of chance, URL-safe; stored by digest only. */
  readonly secret: string;
  readonly link: string;
}

/** A link into the console whose secret stands behind `#`: no server, proxy or referrer ever sees it. */
export function oneTimeLink(
  kind: "invite" | "reset",
  request: Request,
  { randomBytes, publicUrl }: OneTimeLinkOptions,
): OneTimeLink {
  const secret = Buffer.from(randomBytes(32)).toString("base64url");
  const base = (publicUrl ?? ownOrigin(request)).replace(/\/+$/, "");
  return { secret, link: `${base}/console/#${kind}=${secret}` };
}

/**
 * Without a configured address the console opens at this machine's own names only. What else a `host` header says was made up,
 * and a link made of it, mailed maybe, would bring its secret there.
 */
export function ownOrigin(request: Request): string {
  const { origin, hostname, port } = new URL(request.url);
  const bare = hostname.replace(/^\[|\]$/g, "");
  const own = hostname === "localhost" || (ipaddr.isValid(bare) && ipaddr.process(bare).range() === "loopback");
  return own ? origin : `http://localhost${port === "" ? "" : `:${port}`}`;
}
