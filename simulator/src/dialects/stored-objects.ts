import { Refusal } from "../dialect.ts";
import { type JsonObject, objectOf, objectsOf, parseObject, stringOf } from "../json-body.ts";
import type { HeaderRow } from "../outlet.ts";
import type { SimulatorRequest } from "../request.ts";
import { openAiError } from "./openai-conventions.ts";
import type { VendorFiles } from "./vendor-files.ts";

/** Conversations, containers, skills and vector stores of OpenAI's accounts, and skills of Anthropic's. */
export interface StoredObjects {
  /** Returns null for requests to other endpoints. */
  answer(request: SimulatorRequest): StoredAnswer | null;
}

interface StoredAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers?: readonly HeaderRow[];
}

/** The bytes of a file or a skill. */
class Content {
  readonly type: string;
  readonly text: string;

  constructor(type: string, text: string) {
    this.type = type;
    this.text = text;
  }
}

interface Stored {
  readonly account: string;
  readonly collection: string;
  object: JsonObject;
  /** Items, files, versions, by their ids. */
  readonly parts: Map<string, JsonObject>;
}

const pathPattern =
  /\/v1\/(conversations|containers|skills|vector_stores)(?:\/([^/]+)(?:\/([a-z_]+)(?:\/([^/]+)(?:\/([a-z_]+))?)?)?)?$/;
const createdAt = 1_700_000_000;
const objectsMax = 1_000;
const prefixes: Readonly<Record<string, string>> = {
  conversations: "conv_sim",
  containers: "cntr_sim",
  skills: "skill_sim",
  vector_stores: "vs_sim",
};

/** Stored in memory until the simulator ends. */
export function createStoredObjects(files: VendorFiles): StoredObjects {
  const stored = new Map<string, Stored>();
  let sequence = 0;
  const next = (prefix: string): string => `${prefix}${++sequence}`;

  return {
    answer(request) {
      const match = pathPattern.exec(request.path);
      if (match === null) return null;
      const { headers } = request;
      const account = headers["x-api-key"] ?? headers["authorization"] ?? "";
      try {
        if (account === "") throw new Refusal(401, "You didn't provide an API key.");
        const answer = execute(request, account, match);
        if (!(answer instanceof Content)) return { status: 200, body: JSON.stringify(answer) };
        return { status: 200, body: answer.text, headers: [["content-type", answer.type]] };
      } catch (thrown) {
        const refusal = thrown instanceof Refusal ? thrown : new Refusal(400, "We could not parse the body.");
        return { status: refusal.status, body: openAiError(refusal, "") };
      }
    },
  };

  function execute(request: SimulatorRequest, account: string, match: RegExpExecArray): unknown {
    const [, collection = "", id, part, partId, rest] = match;
    if (id === undefined) return request.method === "POST" ? create(request, account, collection) : refuseMethod();
    const found = stored.get(id) ?? ofAnthropic(request, account, collection, id);
    if (found === undefined || found.account !== account || found.collection !== collection) {
      throw new Refusal(404, `No such object: ${id}`, { param: "id" });
    }
    if (part === undefined) return whole(request, found, id);
    if (part === "content") return new Content("application/zip", "zip");
    if (part === "search") return search(request, found);
    if (part === "file_batches" && partId !== undefined) return batch(found, partId, rest);
    if (partId === undefined) return request.method === "POST" ? add(request, found, part) : list(found);
    const one = found.parts.get(partId);
    if (one === undefined) throw new Refusal(404, `No such object: ${partId}`, { param: "id" });
    if (rest === "content" && collection === "vector_stores") return page([{ type: "text", text: "text" }]);
    if (rest === "content" && collection === "skills") return new Content("application/zip", "zip");
    if (rest === "content") return new Content("application/octet-stream", contentOf(one));
    if (request.method !== "DELETE") return one;
    found.parts.delete(partId);
    return collection === "conversations" ? found.object : { id: partId, deleted: true };
  }

  /** A skill that every account of Anthropic has. */
  function ofAnthropic({ method, headers }: SimulatorRequest, account: string, collection: string, id: string) {
    if (collection !== "skills" || headers["anthropic-version"] === undefined || method !== "GET") return undefined;
    if (!["pptx", "xlsx", "docx", "pdf"].includes(id)) return undefined;
    const object = { id, type: "skill", source: "anthropic", display_title: id, latest_version: "20251013" };
    return { account, collection, object, parts: new Map() };
  }

  function create(request: SimulatorRequest, account: string, collection: string): JsonObject {
    const body = bodyOf(request);
    const id = next(prefixes[collection] ?? "obj_sim");
    const created: Stored = {
      account,
      collection,
      object: objectMade(request, collection, id, body),
      parts: new Map(),
    };
    for (const item of objectsOf(body["items"])) addItem(created, item);
    for (const file of namesIn(body["file_ids"])) addFile(created, account, file);
    if (stored.size >= objectsMax) stored.delete(stored.keys().next().value ?? "");
    stored.set(id, created);
    return created.object;
  }

  function objectMade(request: SimulatorRequest, collection: string, id: string, body: JsonObject): JsonObject {
    const metadata = body["metadata"] ?? {};
    if (collection === "conversations") return { id, object: "conversation", created_at: createdAt, metadata };
    if (collection === "containers") {
      if (typeof body["name"] !== "string") throw new Refusal(400, "name is required.", { param: "name" });
      const expires_after = body["expires_after"] ?? { anchor: "last_active_at", minutes: 20 };
      const memory_limit = body["memory_limit"] ?? "1g";
      const times = { created_at: createdAt, last_active_at: createdAt, expires_after };
      return { id, object: "container", name: body["name"], status: "running", memory_limit, ...times };
    }
    if (collection === "vector_stores") {
      const file_counts = {
        in_progress: 0,
        completed: namesIn(body["file_ids"]).length,
        failed: 0,
        cancelled: 0,
        total: 0,
      };
      const facts = { name: body["name"] ?? "", usage_bytes: 0, status: "completed", file_counts, metadata };
      return { id, object: "vector_store", created_at: createdAt, last_active_at: createdAt, ...facts };
    }
    if (!request.upload?.parts.some(({ name }) => /^files/.test(name)))
      throw new Refusal(400, "files is required.", { param: "files" });
    const facts = { name: "skill", description: "A skill.", default_version: "1", latest_version: "1" };
    if (request.headers["anthropic-version"] === undefined)
      return { id, object: "skill", created_at: createdAt, ...facts };
    const display_title = request.upload.parts.find(({ name }) => name.startsWith("display_"))?.value ?? null;
    const created_at = "2026-01-01T00:00:00Z";
    return {
      id,
      type: "skill",
      source: "custom",
      display_title,
      latest_version: "1",
      created_at,
      updated_at: created_at,
    };
  }

  function whole(request: SimulatorRequest, found: Stored, id: string): JsonObject {
    if (request.method === "POST") found.object = { ...found.object, ...bodyOf(request) };
    if (request.method !== "DELETE") return found.object;
    stored.delete(id);
    if (found.object["type"] === "skill") return { id, type: "skill_deleted" };
    return { id, object: `${stringOf(found.object["object"])}.deleted`, deleted: true };
  }

  function add(request: SimulatorRequest, found: Stored, part: string): JsonObject {
    const body = bodyOf(request);
    if (part === "items") return listed(objectsOf(body["items"]).map((item) => addItem(found, item)));
    if (part === "versions") {
      const version = String(found.parts.size + 2);
      const made = {
        id: next("skillver_sim"),
        skill_id: found.object["id"],
        version,
        name: "skill",
        created_at: createdAt,
      };
      found.parts.set(version, made);
      found.object = { ...found.object, latest_version: version };
      return made;
    }
    if (part === "file_batches") {
      const ids = namesIn(body["file_ids"]).map((id) => stringOf(addFile(found, found.account, id)["id"]));
      return {
        id: next("vsfb_sim"),
        object: "vector_store.files_batch",
        created_at: createdAt,
        status: "completed",
        file_ids: ids,
      };
    }
    const upload = request.upload?.parts.find(({ name }) => name === "file");
    if (upload === undefined) return addFile(found, found.account, stringOf(body["file_id"]));
    const id = next("cfile_sim");
    const path = `/mnt/data/${upload.filename}`;
    return keepPart(found, id, { id, object: "container.file", path, bytes: upload.size, source: "user" });
  }

  function addItem(found: Stored, item: JsonObject): JsonObject {
    const id = next("msg_sim");
    const content =
      typeof item["content"] === "string" ? [{ type: "input_text", text: item["content"] }] : item["content"];
    return keepPart(found, id, { type: "message", status: "completed", ...item, content, id });
  }

  function addFile(found: Stored, account: string, id: string): JsonObject {
    const file = files.list().find((one) => one.account === account && one.id === id && !one.deleted);
    if (file === undefined) throw new Refusal(404, `No such File object: ${id}`, { param: "file_id" });
    if (found.collection === "vector_stores") {
      const vector_store_id = found.object["id"];
      return keepPart(found, id, {
        id,
        object: "vector_store.file",
        vector_store_id,
        status: "completed",
        usage_bytes: file.bytes,
      });
    }
    const made = next("cfile_sim");
    return keepPart(found, made, { id: made, object: "container.file", bytes: file.bytes, source: "user" });
  }

  function refuseMethod(): never {
    throw new Refusal(405, "Not allowed.");
  }
}

/** As many bytes as the file has; its own bytes are not stored. */
function contentOf(file: JsonObject): string {
  return "x".repeat(Math.min(contentBytesMax, Number(file["bytes"] ?? 0)));
}

const contentBytesMax = 1024 * 1024;

function keepPart(found: Stored, id: string, part: JsonObject): JsonObject {
  const owner = found.collection === "containers" ? { container_id: found.object["id"] } : {};
  const made = { created_at: createdAt, ...owner, ...part };
  found.parts.set(id, made);
  return made;
}

function search(request: SimulatorRequest, found: Stored): JsonObject {
  const query = bodyOf(request)["query"];
  const data = [...found.parts.values()].map(({ id }) => ({
    file_id: id,
    filename: "a.txt",
    score: 0.9,
    attributes: {},
    content: [{ type: "text", text: `about ${String(query)}` }],
  }));
  return { object: "vector_store.search_results.page", search_query: [query], data, has_more: false, next_page: null };
}

function batch(found: Stored, id: string, rest: string | undefined): JsonObject {
  if (rest === "files") return list(found);
  const status = rest === "cancel" ? "cancelled" : "completed";
  return { id, object: "vector_store.files_batch", vector_store_id: found.object["id"], created_at: createdAt, status };
}

function bodyOf({ body, upload }: SimulatorRequest): JsonObject {
  if (upload !== undefined || body.length === 0) return {};
  const read = parseObject(body);
  if (read === null) throw new Refusal(400, "We could not parse the JSON body of your request.");
  return objectOf(read);
}

function namesIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

function list({ parts }: Stored): JsonObject {
  return listed([...parts.values()].toReversed());
}

function listed(data: readonly JsonObject[]): JsonObject {
  const ends = { first_id: data[0]?.["id"] ?? null, last_id: data.at(-1)?.["id"] ?? null };
  return { object: "list", data, ...ends, has_more: false, next_page: null };
}

function page(data: readonly JsonObject[]): JsonObject {
  return { object: "vector_store.file_content.page", data, has_more: false, next_page: null };
}
