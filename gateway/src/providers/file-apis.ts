import type { Provider, WireDialectId } from "#core/index.ts";
import { objectOf, textOf } from "#protocols/index.ts";
import type { FileRequest, SentFile, VendorFile } from "./file-request.ts";
import { beginGoogleUpload, googleUpload, readGoogleFile } from "./google-files.ts";
import { rootOf } from "./lanes.ts";

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

const gemini: FileApi = {
  dialects: ["gemini", "gemini-interactions"],
  create: (provider, file) => beginGoogleUpload(rootOf(provider), file),
  send: (provider, file, header) => googleUpload(rootOf(provider), file, header),
  get: (provider, id) => plain("GET", `${rootOf(provider)}/${id}`),
  delete: (provider, id) => plain("DELETE", `${rootOf(provider)}/${id}`),
  read: readGoogleFile,
};

const apis: Readonly<Record<string, FileApi>> = { openai, anthropic, gemini };

/** null: accounts of this provider type store no files. */
export function fileApiOf(kind: string): FileApi | null {
  return Object.hasOwn(apis, kind) ? (apis[kind] ?? null) : null;
}
