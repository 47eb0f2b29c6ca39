/**
 * State of a stored file:
 *
 * arriving  its bytes are being stored
 * part      a part of an upload that is not complete
 * ready     usable
 * expiring  expired; its bytes are being removed
 * expired   expired, without bytes; kept for a while so that callers get a clear error
 * removing  deleted; its bytes and copies are being removed
 */
export type StoredFileStatus = "arriving" | "part" | "ready" | "expiring" | "expired" | "removing";

/** A file of a workspace, stored by the gateway. Times are Unix milliseconds. */
export interface StoredFile {
  /** The part of its id that is the same in every dialect: 26 letters and digits. Ids sort by creation. */
  readonly id: string;
  readonly workspaceId: string;
  readonly keyId: string;
  readonly personId: string | null;
  /** As in OpenAI's API. */
  readonly purpose: string;
  readonly filename: string;
  readonly mediaType: string;
  readonly sizeBytes: number;
  /** Lower-case hex, and the name of the blob. null: it has no bytes. */
  readonly sha256: string | null;
  readonly status: StoredFileStatus;
  /** The upload that a part belongs to. */
  readonly uploadId: string | null;
  readonly createdAt: number;
  /** null: never. */
  readonly expiresAt: number | null;
  /** When the worker has to act on it; null: never. */
  readonly dueAt: number | null;
  /** Failed attempts to remove its copies. */
  readonly tries: number;
}

type FileUploadStatus = "pending" | "completed" | "cancelled" | "expired";

/** A file that arrives in parts. Parts are stored files with its id. Times are Unix milliseconds. */
export interface FileUpload {
  readonly id: string;
  readonly workspaceId: string;
  readonly keyId: string;
  readonly personId: string | null;
  readonly purpose: string;
  readonly filename: string;
  readonly mediaType: string;
  /** The size that the caller declared; null: unknown. */
  readonly sizeBytes: number | null;
  readonly status: FileUploadStatus;
  /** The lifetime of the file; null: it does not expire. */
  readonly fileLifeMs: number | null;
  /** The id of the complete file. */
  readonly fileId: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** A copy of a stored file in a vendor's account. */
export interface FileCopy {
  readonly fileId: string;
  readonly provider: string;
  /** The account's id of it. */
  readonly upstreamId: string;
  /** How calls of the account name it. */
  readonly uri: string;
  readonly createdAt: number;
  /** null: the vendor keeps it. */
  readonly expiresAt: number | null;
}

/** `file-…` as in OpenAI's API, `file_…` as in Anthropic's, `files/…` as in Gemini's, or an address that ends with the latter. */
const idPattern = /^(?:file[-_]|(?:https?:\/\/[^?#\s]{1,512}\/v1(?:beta)?\/)?files\/)([0-9a-hjkmnp-tv-z]{26})$/;

/** The id of a stored file that a caller names in any dialect; null: it is none of ours. */
export function storedFileId(name: string): string | null {
  return idPattern.exec(name)?.[1] ?? null;
}
