import type { SimulatorRequest } from "./request.ts";
import { linkSignature } from "./seal.ts";

/** The file behind a link: a task's result or a stored asset. The link contains everything needed to serve it. */
export interface LinkedFile {
  /** With the extension mp4, png or wav, which determines the content. */
  readonly name: string;
  readonly seconds: number;
  readonly bytes: number;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

export const filesPath = "/__sim/files/";

/** A link that behaves like a presigned one: it is valid for GET only, until it expires. */
export function fileUrl(base: string, file: LinkedFile): string {
  const query = new URLSearchParams({
    "X-Tos-Algorithm": "TOS4-HMAC-SHA256",
    "X-Tos-Expires": String(file.expiresAt),
    "X-Tos-SignedHeaders": "host",
    "x-sim-video": `${file.seconds}s${file.bytes}b`,
    "X-Tos-Signature": signatureOf(file),
  });
  return `${base}${filesPath}${file.name}?${query}`;
}

/** The file of a link from this simulator, or null. Does not check whether it has expired. */
export function fileOf(request: SimulatorRequest): LinkedFile | null {
  const query = new URLSearchParams(request.query);
  const name = request.path.slice(request.path.lastIndexOf("/") + 1);
  const [, seconds, bytes] = /^([\d.]+)s(\d+)b$/.exec(query.get("x-sim-video") ?? "") ?? [];
  const expiresAt = Number(query.get("X-Tos-Expires") ?? Number.NaN);
  const file = { name, seconds: Number(seconds), bytes: Number(bytes), expiresAt };
  return query.get("X-Tos-Signature") === signatureOf(file) ? file : null;
}

function signatureOf({ name, seconds, bytes, expiresAt }: LinkedFile): string {
  return linkSignature("file", [name, seconds, bytes, expiresAt].join(" "));
}
