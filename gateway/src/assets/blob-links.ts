import { type Asset, bounds, isSameText } from "#core/index.ts";
import type { BlobStore } from "#ports/index.ts";
import type { AssetsDependencies } from "./dependencies.ts";

type Dependencies = Pick<AssetsDependencies, "blobs" | "clock" | "signer">;

/** Valid parts of a link, checked before they reach the signer. */
const hashForm = /^[0-9a-f]{64}$/;
const expiresForm = /^[0-9]{1,12}$/;
const typeForm = /^[a-z]{1,32}\/[a-z0-9.+-]{1,64}$/;

/** A signed URL for `lifetimeMs`; null for an asset without bytes. */
export function blobLink(
  asset: Pick<Asset, "blobHash" | "contentType">,
  base: string,
  lifetimeMs: number,
  { clock, signer }: Pick<Dependencies, "clock" | "signer">,
): string | null {
  if (asset.blobHash === null || asset.contentType === null) return null;
  const expires = String(Math.ceil((clock.now() + lifetimeMs) / 1_000));
  const { blobHash: hash, contentType: type } = asset;
  const query = new URLSearchParams({ type, expires, signature: signer.sign(signedText(hash, type, expires)) });
  return `${base.replace(/\/+$/, "")}/v1/blobs/${hash}?${query.toString()}`;
}

/**
 * The bytes of a signed URL. Invalid, expired and dead links get the same answer. Users upload the bytes, so browsers must
 * not render them as our page.
 */
export async function readBlob(
  hash: string,
  query: URLSearchParams,
  range: string | null,
  { blobs, clock, signer }: Dependencies,
): Promise<BlobAnswer> {
  const type = query.get("type") ?? "";
  const expires = query.get("expires") ?? "";
  if (!hashForm.test(hash) || !expiresForm.test(expires) || !typeForm.test(type)) return missing;
  const signature = query.get("signature") ?? "";
  const valid = signer.signatures(signedText(hash, type, expires));
  if (!valid.some((right) => isSameText(signature, right))) return missing;
  const leftMs = Number(expires) * 1_000 - clock.now();
  const blob = leftMs <= 0 ? null : await blobs.stat(hash);
  if (blob === null) return missing;
  return blobAnswer(blobs, { hash, size: blob.size, type }, range, {
    "cache-control": `private, max-age=${Math.floor(Math.min(leftMs, bounds.blobUrlMs) / 1_000)}`,
    "content-disposition": "attachment",
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
  });
}

function signedText(hash: string, type: string, expires: string): string {
  return `${hash}\n${type}\n${expires}`;
}

export interface BlobAnswer {
  readonly status: 200 | 206 | 404 | 416;
  readonly headers: Record<string, string>;
  /** null: nothing to send. */
  readonly body: ReadableStream<Uint8Array> | null;
}

const missing: BlobAnswer = Object.freeze({ status: 404, headers: {}, body: null });

/** A blob, or the range that the header selects. */
export async function blobAnswer(
  blobs: Pick<BlobStore, "read">,
  { hash, size, type }: { readonly hash: string; readonly size: number; readonly type: string },
  range: string | null,
  more: Readonly<Record<string, string>>,
): Promise<BlobAnswer> {
  const headers: Record<string, string> = { "accept-ranges": "bytes", ...more };
  const part = readRange(range, size);
  if (part === "unsatisfiable") {
    return { status: 416, headers: { ...headers, "content-range": `bytes */${size}` }, body: null };
  }
  const { start, end } = part ?? { start: 0, end: size };
  const body = await blobs.read(hash, start, end);
  if (body === null) return missing;
  headers["content-type"] = type;
  headers["content-length"] = String(end - start);
  if (part === null) return { status: 200, headers, body };
  headers["content-range"] = `bytes ${start}-${end - 1}/${size}`;
  return { status: 206, headers, body };
}

/** Bytes from `start` inclusive to `end` exclusive. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Parses a Range header (RFC 9110, 14.1.2). null: the whole file, also for invalid and multiple ranges. */
export function readRange(header: string | null, size: number): ByteRange | "unsatisfiable" | null {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header?.replaceAll(/\s/g, "") ?? "");
  const first = match?.[1] ?? "";
  const last = match?.[2] ?? "";
  if (match === null || (first === "" && last === "")) return null;
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? "unsatisfiable" : { start: size - length, end: size };
  }
  const start = Number(first);
  if (last !== "" && Number(last) < start) return null;
  if (start >= size) return "unsatisfiable";
  return { start, end: last === "" ? size : Math.min(size, Number(last) + 1) };
}
