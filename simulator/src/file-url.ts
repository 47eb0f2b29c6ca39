import type { SimulatorRequest } from "./request.ts";
import { stamp } from "./seal.ts";

/** A result of a task (or a stored asset) as its link names it. Everything that serving it takes is in the link. */
export interface LinkedFile {
  /** With its ending, which says what it is: mp4, png or wav. */
  readonly name: string;
  readonly seconds: number;
  readonly bytes: number;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

export const filesPath = "/__sim/files/";

/** A link that looks and behaves like a presigned one: for GET only, and for as long as it says. */
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

/** The file of a link that was made here; null for any other. Whether it has expired is left to the caller. */
export function fileOf(request: SimulatorRequest): LinkedFile | null {
  const query = new URLSearchParams(request.query);
  const name = request.path.slice(request.path.lastIndexOf("/") + 1);
  const [, seconds, bytes] = /^([\d.]+)s(\d+)b$/.exec(query.get("x-sim-video") ?? "") ?? [];
  const expiresAt = Number(query.get("X-Tos-Expires") ?? Number.NaN);
  const file = { name, seconds: Number(seconds), bytes: Number(bytes), expiresAt };
  return query.get("X-Tos-Signature") === signatureOf(file) ? file : null;
}

function signatureOf({ name, seconds, bytes, expiresAt }: LinkedFile): string {
  return stamp("file", [name, seconds, bytes, expiresAt].join(" "));
}
