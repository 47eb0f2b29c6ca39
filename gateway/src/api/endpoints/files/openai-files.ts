import { Failure, type Principal, type StoredFile, storedFileId } from "#core/index.ts";
import { fileContent } from "#files/index.ts";
import { withKey } from "../../authenticated.ts";
import type { Exchange } from "../../dependencies.ts";
import { idBehind } from "../../request-parts.ts";
import { acceptForm, fileBody, namesOf, readSeconds, storeFile } from "./accept-file.ts";

/** The purposes with which callers may upload. Source: OpenAI API reference, "Upload file". */
const purposes: ReadonlySet<string> = new Set(["assistants", "batch", "fine-tune", "vision", "user_data", "evals"]);

/** Lifetimes in seconds. Source: OpenAI API reference, "Upload file". */
const lifeMin = 3_600;
const lifeMax = 2_592_000;

const anchorField = "expires_after[anchor]";
const secondsField = "expires_after[seconds]";

/** POST /v1/files. */
export async function createOpenAiFile(exchange: Exchange, principal: Principal): Promise<object> {
  const { clock } = exchange.dependencies;
  const form = { part: "file", names: ["purpose", anchorField, secondsField], rules: fileBody };
  const file = await acceptForm(exchange, principal, form, (read, open, signal) => {
    const purpose = readPurpose(read.fields.get("purpose"));
    const seconds = readLife(read.fields.get(anchorField), read.fields.get(secondsField), purpose);
    const expiresAt = seconds === null ? null : clock.now() + seconds * 1_000;
    const facts = { ...namesOf(read), purpose, expiresAt };
    return storeFile(exchange, principal, facts, { size: read.end - read.start, open }, signal);
  });
  return openAiFile(file);
}

export function readPurpose(value: unknown): string {
  if (value === undefined || value === "") {
    throw new Failure("missing_required_parameter", "purpose is missing.", { param: "purpose" });
  }
  if (typeof value === "string" && purposes.has(value)) return value;
  throw new Failure("invalid_request", `purpose must be one of: ${[...purposes].join(", ")}.`, { param: "purpose" });
}

/** Seconds until the file expires; null: it does not. Files for batches expire after 30 days. Throws Failure invalid_request. */
export function readLife(anchor: string | undefined, text: string | undefined, purpose: string): number | null {
  if (anchor !== undefined && anchor !== "created_at") {
    throw new Failure("invalid_request", "expires_after.anchor must be created_at.", { param: "expires_after" });
  }
  const seconds = readSeconds(text, "expires_after.seconds", lifeMin, lifeMax);
  if (seconds === null && anchor !== undefined) {
    throw new Failure("missing_required_parameter", "expires_after.seconds is missing.", { param: "expires_after" });
  }
  return seconds ?? (purpose === "batch" ? lifeMax : null);
}

/** GET /v1/files, newest first; `?purpose=` filters. */
export async function listOpenAiFiles({ dependencies, query }: Exchange, { workspace }: Principal): Promise<object> {
  const read = new URLSearchParams(query);
  const limit = Number(read.get("limit") ?? listMax);
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > listMax) {
    throw new Failure("invalid_request", `limit must be an integer from 1 to ${listMax}.`, { param: "limit" });
  }
  const order = read.get("order") ?? "desc";
  if (order !== "asc" && order !== "desc") {
    throw new Failure("invalid_request", "order must be asc or desc.", { param: "order" });
  }
  const purpose = read.get("purpose");
  const { files, next } = await dependencies.files.list(
    { workspaceId: workspace.id, ...(purpose === null || purpose === "" ? {} : { purpose }) },
    { after: readAfter(read.get("after"), "after"), limit, order: order === "asc" ? "oldest first" : "newest first" },
  );
  const data = files.map(openAiFile);
  return {
    object: "list",
    data,
    has_more: next !== null,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}

const listMax = 10_000;

/** The id in a position of a list; null: from the beginning. Throws Failure invalid_request. */
export function readAfter(text: string | null, param: string): string | null {
  if (text === null || text === "") return null;
  const id = storedFileId(text);
  if (id !== null) return id;
  throw new Failure("invalid_request", `${param} is not a position of this list.`, { param });
}

/** GET /v1/files/{id}. */
export async function getOpenAiFile(exchange: Exchange, { workspace }: Principal): Promise<object> {
  return openAiFile(await exchange.dependencies.files.get(workspace.id, fileIdOf(exchange)));
}

/** DELETE /v1/files/{id}. */
export async function deleteOpenAiFile(exchange: Exchange, { workspace }: Principal): Promise<object> {
  const file = await exchange.dependencies.files.delete(workspace.id, fileIdOf(exchange));
  return { id: openAiId(file), object: "file", deleted: true };
}

/** GET /v1/files/{id}/content, in any dialect. */
export const getFileContent = withKey(async (exchange, { workspace }) =>
  contentAnswer(exchange, await exchange.dependencies.files.get(workspace.id, fileIdOf(exchange))),
);

/** The bytes of a file, or the range that the request names. */
export async function contentAnswer({ dependencies, request }: Exchange, file: StoredFile): Promise<Response> {
  const content = await fileContent(dependencies.files, file, request.headers.get("range"));
  return new Response(content.body, content);
}

/** The id of the file in the path; null: it cannot be one. */
export function fileIdOf(exchange: Exchange): string | null {
  return storedFileId(idBehind("/v1/files/", exchange));
}

function openAiId({ id }: Pick<StoredFile, "id">): string {
  return `file-${id}`;
}

/** Times are Unix seconds. */
export function openAiFile(file: StoredFile) {
  return {
    id: openAiId(file),
    object: "file",
    bytes: file.sizeBytes,
    created_at: Math.floor(file.createdAt / 1_000),
    filename: file.filename,
    purpose: file.purpose,
    status: "processed",
    ...(file.expiresAt === null ? {} : { expires_at: Math.floor(file.expiresAt / 1_000) }),
  };
}
