import type { HeaderReader, KeptObject } from "#core/index.ts";

/** A resumable upload that has begun. Source: Gemini API docs, "Files API"; @google/genai. */
interface UploadSession {
  /** Where the bytes go, below the provider. */
  readonly path: string;
  /** null: its address names none. */
  readonly id: string | null;
}

/** The vendor answers with an address of its own: bytes that went there would go past the gateway. null: none that leads back here. */
export function uploadSession(headers: HeaderReader): UploadSession | null {
  const url = URL.parse(headers.get(uploadUrlHeader) ?? "");
  const at = url?.pathname.indexOf("/upload/") ?? -1;
  if (url === null || at === -1) return null;
  url.searchParams.delete("key");
  return { path: `${url.pathname.slice(at)}${url.search}`, id: url.searchParams.get(uploadIdName) };
}

/** It is its workspace's, as the file will be. */
export function sessionObject(id: string, now: number): KeptObject {
  return { id, kind: "other", inputTokens: null, expiresAt: now + sessionLifeMs };
}

/** The session that a call goes on with; null: it begins one, or is another call. */
export function uploadIdIn(url: string): string | null {
  return URL.parse(url)?.searchParams.get(uploadIdName) ?? null;
}

/** What clients read to know how far an upload is, and its address below the provider, which the API makes whole. */
export function addUploadHeaders(out: Record<string, string>, headers: HeaderReader): void {
  for (const name of uploadHeaders) {
    const value = headers.get(name);
    if (value !== null) out[name] = value;
  }
  const session = uploadSession(headers);
  if (session !== null) out[uploadUrlHeader] = session.path;
}

export const uploadUrlHeader = "x-goog-upload-url";
const uploadHeaders = [
  "x-goog-upload-status",
  "x-goog-upload-chunk-granularity",
  "x-goog-upload-size-received",
] as const;
const uploadIdName = "upload_id";
/** Longer than the vendor keeps what has begun. */
const sessionLifeMs = 7 * 86_400_000;
