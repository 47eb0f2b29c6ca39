import type { StoredFile } from "#core/index.ts";

/** The facts of a file that a vendor gets. */
export type SentFile = Pick<StoredFile, "filename" | "mediaType" | "sizeBytes">;

/** A request without a credential. `form`: fields of a form, with the file as its last part; null: the bytes themselves or none. */
export interface FileRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: "none" | "file" | Uint8Array;
  readonly form: Readonly<Record<string, string>> | null;
}

/** A file in an account. `uri`: how calls name it. */
export interface VendorFile {
  readonly id: string;
  readonly uri: string;
  /** Unix milliseconds; null: the account keeps it. */
  readonly expiresAt: number | null;
  /** Calls may name it. */
  readonly isReady: boolean;
}
