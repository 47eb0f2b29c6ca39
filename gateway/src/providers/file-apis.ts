import type { Provider, StoredFile, WireDialectId } from "#core/index.ts";
import { objectOf, textOf } from "#protocols/index.ts";
import { rootOf } from "./lanes.ts";

/** The facts of a file that a vendor gets. */
type SentFile = Pick<StoredFile, "filename" | "mediaType" | "sizeBytes">;

/** A request without a credential. `form`: fields of a form, with the file as its last part; null: the bytes themselves or none. */
export interface FileRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: "none" | "file" | Uint8Array;
  readonly form: Readonly<Record<string, string>> | null;
}

/** A file in an account. `uri`: how calls name it. */
interface VendorFile {
  readonly id: string;
  readonly uri: string;
  /** Unix milliseconds; null: the account keeps it. */
  readonly expiresAt: number | null;
  /** Calls may name it. */
  readonly isReady: boolean;
}

/** The files of a vendor's accounts. */
export interface FileApi {
  /** Dialects of native calls that may name them. */
  readonly dialects: readonly WireDialectId[];
  create(provider: Provider, file: SentFile): FileRequest;
  /** The request for the bytes, where `create` only begins the upload; `header` reads its answer. null: it was refused. */
  send?(provider: Provider, file: SentFile, header: (name: string) => string | null): FileRequest | null;
  get(provider: Provider, id: string): FileRequest;
  delete(provider: Provider, id: string): FileRequest;
  /** null: the answer names no file. */
  read(answer: unknown): VendorFile | null;
}

function plain(method: "GET" | "DELETE", url: string, headers: Readonly<Record<string, string>> = {}): FileRequest {
  return { method, url, headers, body: "none", form: null };
}

function form(url: string, fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) {
  return { method: "POST", url, headers, body: "file", form: fields } as const;
}

/** The id in the answers of OpenAI and Anthropic. */
function readId(answer: unknown): VendorFile | null {
  const id = textOf(objectOf(answer)["id"]);
  return id === null || !/^[\w-]{1,256}$/.test(id) ? null : { id, uri: id, expiresAt: null, isReady: true };
}

const openai: FileApi = {
  dialects: ["openai-chat", "openai-responses"],
  create: (provider, { mediaType }) =>
    form(`${rootOf(provider)}/files`, { purpose: mediaType.startsWith("image/") ? "vision" : "user_data" }),
  get: (provider, id) => plain("GET", `${rootOf(provider)}/files/${id}`),
  delete: (provider, id) => plain("DELETE", `${rootOf(provider)}/files/${id}`),
  read: readId,
};

/** https://platform.claude.com/docs/en/build-with-claude/files, read on 2026-11-24. */
const anthropicHeaders = { "anthropic-version": "2023-06-01", "anthropic-beta": "files-api-2025-04-14" };

const anthropic: FileApi = {
  dialects: ["anthropic-messages"],
  create: (provider) => form(`${rootOf(provider)}/files`, {}, anthropicHeaders),
  get: (provider, id) => plain("GET", `${rootOf(provider)}/files/${id}`, anthropicHeaders),
  delete: (provider, id) => plain("DELETE", `${rootOf(provider)}/files/${id}`, anthropicHeaders),
  read: readId,
};

/** Google's uploads and downloads have a word before the version in their path. */
export function besideVersion(provider: Provider, word: "upload" | "download"): string {
  const root = rootOf(provider);
  const version = /\/(v\d\w*)$/.exec(root)?.[1] ?? "v1beta";
  return `${root.replace(/\/v\d\w*$/, "")}/${word}/${version}`;
}

/** https://ai.google.dev/api/files, read on 2026-11-24. */
export const geminiFiles: FileApi = {
  dialects: ["gemini", "gemini-interactions"],
  create(provider, { filename, mediaType, sizeBytes }) {
    const body = JSON.stringify({ file: { displayName: filename, mimeType: mediaType } });
    return {
      method: "POST",
      url: `${besideVersion(provider, "upload")}/files`,
      headers: {
        "content-type": "application/json",
        "x-goog-upload-protocol": "resumable",
        "x-goog-upload-command": "start",
        "x-goog-upload-header-content-length": String(sizeBytes),
        "x-goog-upload-header-content-type": mediaType,
      },
      body: new TextEncoder().encode(body),
      form: null,
    };
  },
  send(provider, { mediaType }, header) {
    const url = header("x-goog-upload-url");
    // The credential goes only to the account's own host.
    if (url === null || !URL.canParse(url) || new URL(url).host !== new URL(rootOf(provider)).host) return null;
    const command = { "x-goog-upload-command": "upload, finalize", "x-goog-upload-offset": "0" };
    return { method: "POST", url, headers: { ...command, "content-type": mediaType }, body: "file", form: null };
  },
  get: (provider, id) => plain("GET", `${rootOf(provider)}/${id}`),
  delete: (provider, id) => plain("DELETE", `${rootOf(provider)}/${id}`),
  read(answer) {
    const outer = objectOf(answer);
    const file = outer["file"] === undefined ? outer : objectOf(outer["file"]);
    const [id, uri] = [textOf(file["name"]), textOf(file["uri"])];
    if (id === null || uri === null || !/^files\/[\w-]{1,256}$/.test(id)) return null;
    const expiresAt = Date.parse(textOf(file["expirationTime"]) ?? "");
    const state = textOf(file["state"]);
    return { id, uri, expiresAt: Number.isNaN(expiresAt) ? null : expiresAt, isReady: state !== "PROCESSING" };
  },
};

const apis: Readonly<Record<string, FileApi>> = { openai, anthropic, gemini: geminiFiles };

/** null: accounts of this provider type store no files. */
export function fileApiOf(kind: string): FileApi | null {
  return Object.hasOwn(apis, kind) ? (apis[kind] ?? null) : null;
}
