import { bounds, Failure, type Principal, type StoredFile, storedFileId } from "#core/index.ts";
import type { Exchange } from "../../dependencies.ts";
import { acceptForm, fileBody, namesOf, readSeconds, storeFile } from "./accept-file.ts";
import { fileIdOf, readAfter } from "./openai-files.ts";

/** Lifetimes in seconds. Source: Anthropic API reference, "Upload File". */
const lifeMin = 3_600;
const lifeMax = 7_776_000;

/** POST /v1/files with a header of Anthropic's. */
export async function createAnthropicFile(exchange: Exchange, principal: Principal): Promise<object> {
  const { clock } = exchange.dependencies;
  const form = { part: "file", names: ["expires_in_seconds"], rules: fileBody };
  const file = await acceptForm(exchange, principal, form, (read, open, signal) => {
    const text = read.fields.get("expires_in_seconds");
    const seconds = readSeconds(text, "expires_in_seconds", lifeMin, lifeMax);
    const expiresAt = seconds === null ? null : clock.now() + seconds * 1_000;
    const facts = { ...namesOf(read), purpose: "user_data", expiresAt };
    return storeFile(exchange, principal, facts, { size: read.end - read.start, open }, signal);
  });
  return anthropicFile(file);
}

/** GET /v1/files: newest first, in pages or by `ids[]`. Older clients page with `after_id`. */
export async function listAnthropicFiles({ dependencies, query }: Exchange, { workspace }: Principal): Promise<object> {
  const read = new URLSearchParams(query);
  const ids = [...read.getAll("ids[]"), ...read.getAll("ids")];
  if (ids.length > 0)
    return { data: await namedFiles(dependencies, workspace.id, ids), has_more: false, next_page: null };
  if (read.has("before_id")) {
    throw new Failure("invalid_request", "Pages before a file are not supported. Use page.", { param: "before_id" });
  }
  const limit = Number(read.get("limit") ?? 20);
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > bounds.listPageMax) {
    throw new Failure("invalid_request", `limit must be an integer from 1 to ${bounds.listPageMax}.`, {
      param: "limit",
    });
  }
  const after = readAfter(read.get("page"), "page") ?? readAfter(read.get("after_id"), "after_id");
  const place = { after, limit, order: "newest first" } as const;
  const { files, next } = await dependencies.files.list({ workspaceId: workspace.id }, place);
  const data = files.map(anthropicFile);
  return {
    data,
    has_more: next !== null,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    next_page: next === null ? null : `file_${next}`,
  };
}

const namedMax = 100;

async function namedFiles({ files }: Exchange["dependencies"], workspaceId: string, names: readonly string[]) {
  if (names.length > namedMax) {
    throw new Failure("invalid_request", `ids may have ${namedMax} ids.`, { param: "ids" });
  }
  const found = await files.find(
    workspaceId,
    names.flatMap((name) => storedFileId(name) ?? []),
  );
  return found.filter(({ status }) => status === "ready").map(anthropicFile);
}

/** GET /v1/files/{id}. */
export async function getAnthropicFile(exchange: Exchange, { workspace }: Principal): Promise<object> {
  return anthropicFile(await exchange.dependencies.files.get(workspace.id, fileIdOf(exchange)));
}

/** DELETE /v1/files/{id}. */
export async function deleteAnthropicFile(exchange: Exchange, { workspace }: Principal): Promise<object> {
  const file = await exchange.dependencies.files.delete(workspace.id, fileIdOf(exchange));
  return { id: `file_${file.id}`, type: "file_deleted" };
}

function anthropicFile(file: StoredFile) {
  return {
    id: `file_${file.id}`,
    type: "file",
    filename: file.filename,
    mime_type: file.mediaType,
    size_bytes: file.sizeBytes,
    created_at: new Date(file.createdAt).toISOString(),
    downloadable: true,
    expires_at: file.expiresAt === null ? null : new Date(file.expiresAt).toISOString(),
  };
}
