import { Buffer } from "node:buffer";

export interface OneTimeLinkOptions {
  readonly randomBytes: (size: number) => Uint8Array;
  /** Where the console is reached; null: where the call came to. */
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
  const base = (publicUrl ?? new URL(request.url).origin).replace(/\/+$/, "");
  return { secret, link: `${base}/console/#${kind}=${secret}` };
}
