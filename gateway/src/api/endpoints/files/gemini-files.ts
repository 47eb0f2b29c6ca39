import { Failure, type Principal, type StoredFile, storedFileId } from "#core/index.ts";
import { admitted, withKey } from "../../authenticated.ts";
import type { Exchange } from "../../dependencies.ts";
import { originOf } from "../../request-parts.ts";
import { contentAnswer, readAfter } from "./openai-files.ts";

/** How long files are kept. Source: Gemini API reference, "Files". */
export const geminiFileLifeMs = 48 * 3_600_000;

const pageMax = 100;

/** GET /v1beta/files: newest first. */
export async function listGeminiFiles(exchange: Exchange, { workspace }: Principal): Promise<object> {
  const read = new URLSearchParams(exchange.query);
  const text = read.get("pageSize");
  const limit = text === null || text === "" || text === "0" ? 10 : Number(text);
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw new Failure("invalid_request", "pageSize must be an integer of at least 0.", { param: "pageSize" });
  }
  const place = { after: readAfter(read.get("pageToken"), "pageToken"), limit: Math.min(limit, pageMax) };
  const filter = { workspaceId: workspace.id };
  const { files, next } = await exchange.dependencies.files.list(filter, { ...place, order: "newest first" });
  return {
    files: files.map((file) => geminiFile(exchange, file)),
    ...(next === null ? {} : { nextPageToken: `files/${next}` }),
  };
}

/** GET /v1beta/files/{id}, and its bytes with `:download`. */
export async function getGeminiFile(exchange: Exchange, { workspace }: Principal): Promise<object> {
  const { id, isDownload } = pathOf(exchange);
  const file = await exchange.dependencies.files.get(workspace.id, id);
  return isDownload ? contentAnswer(exchange, file) : geminiFile(exchange, file);
}

/** DELETE /v1beta/files/{id}. */
export async function deleteGeminiFile(exchange: Exchange, { workspace }: Principal): Promise<object> {
  const { id, isDownload } = pathOf(exchange);
  await exchange.dependencies.files.delete(workspace.id, isDownload ? null : id);
  return {};
}

export const listFilesOfGemini = withKey(listGeminiFiles);
export const getFileOfGemini = withKey(getGeminiFile);
export const deleteFileOfGemini = withKey((exchange, principal) =>
  admitted(exchange, principal, () => deleteGeminiFile(exchange, principal)),
);

function pathOf({ path }: Exchange): { readonly id: string | null; readonly isDownload: boolean } {
  const name = path.slice(path.indexOf("/files/") + "/files/".length);
  const isDownload = name.endsWith(":download");
  return { id: storedFileId(`files/${isDownload ? name.slice(0, -":download".length) : name}`), isDownload };
}

/** Source: Gemini API reference, "File". */
export function geminiFile(exchange: Exchange, file: StoredFile): object {
  const createTime = new Date(file.createdAt).toISOString();
  return {
    name: `files/${file.id}`,
    displayName: file.filename,
    mimeType: file.mediaType,
    sizeBytes: String(file.sizeBytes),
    createTime,
    updateTime: createTime,
    ...(file.expiresAt === null ? {} : { expirationTime: new Date(file.expiresAt).toISOString() }),
    sha256Hash: Buffer.from(file.sha256 ?? "", "hex").toString("base64"),
    uri: `${originOf(exchange)}/v1beta/files/${file.id}`,
    state: "ACTIVE",
    source: "UPLOADED",
  };
}
