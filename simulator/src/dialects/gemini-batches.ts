import { Refusal } from "../dialect.ts";
import { type JsonObject, objectOf, objectsOf, parseObject, stringOf } from "../json-body.ts";
import type { SimulatorRequest } from "../request.ts";
import { googleError, requireGoogleKey } from "./google-conventions.ts";
import type { VendorFiles } from "./vendor-files.ts";

interface BatchRow {
  readonly key: string;
  readonly request: JsonObject;
}

interface StoredBatch {
  readonly account: string;
  readonly name: string;
  readonly displayName: string;
  readonly model: string;
  /** Of each row. */
  readonly method: "generateContent" | "embedContent";
  readonly fromFile: boolean;
  readonly rows: readonly BatchRow[];
  readonly createdAt: number;
  state: "PENDING" | "SUCCEEDED" | "CANCELLED";
  /** Answers in the order of the rows. */
  answers: readonly JsonObject[];
}

type Answer = { readonly status: number; readonly body: string };

/** Batches of Gemini's accounts. Rows run when a batch is first polled, so that it can be canceled before. */
export interface GeminiBatches {
  /** null: the request is for another endpoint. */
  answer(request: SimulatorRequest): Promise<Answer> | null;
}

const creation = /\/v1(?:beta)?\/models\/([^/:]+):(batchGenerateContent|asyncBatchEmbedContent)$/;
const named = /\/v1(?:beta)?\/batches(?:\/([\w-]+)(:cancel)?)?$/;
const download = /\/v1(?:beta)?\/files\/(batch[\w-]+):download$/;
const batchesMax = 200;
const inlineBytesMax = 20 * 1024 * 1024;

/** `run`: serves the call of a row. Stored in memory until the simulator ends. */
export function createGeminiBatches(
  files: VendorFiles,
  run: (request: SimulatorRequest) => Promise<Answer>,
): GeminiBatches {
  const batches = new Map<string, StoredBatch>();
  let sequence = 0;

  return {
    answer(request) {
      const { path } = request;
      if (!creation.test(path) && !named.test(path) && !download.test(path)) return null;
      return execute(request).then(
        (body) => ({ status: 200, body: typeof body === "string" ? body : JSON.stringify(body) }),
        (thrown: unknown) => {
          if (!(thrown instanceof Refusal)) throw thrown;
          return { status: thrown.status, body: googleError(thrown, "") };
        },
      );
    },
  };

  async function execute(request: SimulatorRequest): Promise<object | string> {
    requireGoogleKey(request);
    const account = request.headers["x-goog-api-key"] ?? "";
    const { method, path } = request;
    const [, model, action] = creation.exec(path) ?? [];
    if (model !== undefined) return operation(create(request, account, decodeURIComponent(model), action ?? ""));
    const [, file] = download.exec(path) ?? [];
    if (file !== undefined) return lines(find(account, file.slice("batch-".length)));
    const [, id, cancel] = named.exec(path) ?? [];
    if (id === undefined) {
      const own = [...batches.values()].filter((one) => one.account === account);
      return { operations: own.toReversed().map((one) => operation(one, false)) };
    }
    const batch = find(account, id);
    if (cancel !== undefined) {
      if (batch.state === "PENDING") batch.state = "CANCELLED";
      return {};
    }
    if (method === "DELETE") {
      batches.delete(id);
      return {};
    }
    if (batch.state === "PENDING") {
      batch.answers = await Promise.all(batch.rows.map((row) => answerOf(batch, row)));
      batch.state = "SUCCEEDED";
    }
    return operation(batch);
  }

  function find(account: string, id: string): StoredBatch {
    const batch = batches.get(id);
    if (batch?.account !== account) throw new Refusal(404, `Requested entity was not found: batches/${id}`);
    return batch;
  }

  function create(request: SimulatorRequest, account: string, model: string, action: string): StoredBatch {
    const batch = objectOf(parseObject(request.body)?.["batch"]);
    const input = objectOf(batch["inputConfig"] ?? batch["input_config"]);
    const fileName = stringOf(input["fileName"] ?? input["file_name"]);
    const inline = objectsOf(objectOf(input["requests"])["requests"]);
    if (fileName === "" && request.body.length > inlineBytesMax) {
      throw new Refusal(400, "Request payload size exceeds the limit: 20971520 bytes.");
    }
    const rows = fileName === "" ? inline.map(inlineRow) : rowsIn(files.text(account, fileName));
    if (rows.length === 0) throw new Refusal(400, "The batch has no requests.");
    const id = `sim${++sequence}`;
    const made: StoredBatch = {
      ...{
        account,
        name: `batches/${id}`,
        displayName: stringOf(batch["displayName"] ?? batch["display_name"]),
        model,
      },
      ...{ method: action === "batchGenerateContent" ? "generateContent" : "embedContent", fromFile: fileName !== "" },
      ...{ rows, createdAt: Date.now(), state: "PENDING", answers: [] },
    };
    if (batches.size >= batchesMax) batches.delete(batches.keys().next().value ?? "");
    batches.set(id, made);
    return made;
  }

  async function answerOf({ model, method, account }: StoredBatch, { request }: BatchRow): Promise<JsonObject> {
    const headers = { "x-goog-api-key": account, "content-type": "application/json" };
    const body = new TextEncoder().encode(JSON.stringify(request));
    const path = `/v1beta/models/${encodeURIComponent(model)}:${method}`;
    const answer = await run({ method: "POST", path, query: "", headers, body });
    const parsed = objectOf(JSON.parse(answer.body));
    if (answer.status >= 400) return { error: parsed["error"] };
    if (method === "generateContent") return { response: parsed };
    const tokens = objectOf(parsed["usageMetadata"])["promptTokenCount"];
    return { response: { embedding: parsed["embedding"], tokenCount: String(tokens ?? 0) } };
  }
}

function inlineRow({ request, metadata }: JsonObject): BatchRow {
  return { key: stringOf(objectOf(metadata)["key"]), request: objectOf(request) };
}

function rowsIn(text: string | null): readonly BatchRow[] {
  if (text === null) throw new Refusal(404, "The file of the batch was not found.");
  return text.split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    const row = parseObject(new TextEncoder().encode(line));
    if (row === null) throw new Refusal(400, `Line ${index + 1} is not a JSON object.`);
    return { key: stringOf(row["key"]), request: objectOf(row["request"]) };
  });
}

function lines({ rows, answers }: StoredBatch): string {
  return answers.map((answer, at) => `${JSON.stringify({ key: rows[at]?.key, ...answer })}\n`).join("");
}

function operation(batch: StoredBatch, whole = true): object {
  const { name, displayName, model, state, rows, answers, createdAt } = batch;
  const failed = answers.filter(({ error }) => error !== undefined).length;
  const batchStats = {
    requestCount: String(rows.length),
    ...(state === "SUCCEEDED" ? { successfulRequestCount: String(rows.length - failed) } : {}),
    ...(failed > 0 ? { failedRequestCount: String(failed) } : {}),
    ...(state === "PENDING" ? { pendingRequestCount: String(rows.length) } : {}),
  };
  const output = state === "SUCCEEDED" && whole ? { output: outputOf(batch) } : {};
  const createTime = new Date(createdAt).toISOString();
  const metadata = {
    ...{ "@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch", name, displayName },
    ...{ model: `models/${model}`, state: `BATCH_STATE_${state}`, createTime, updateTime: createTime, batchStats },
    ...output,
  };
  const error = state === "CANCELLED" ? { error: { code: 1, message: "The batch has ended." } } : {};
  return {
    name,
    metadata,
    done: state !== "PENDING",
    ...(output.output === undefined ? error : { response: output.output }),
  };
}

function outputOf({ name, fromFile, method, rows, answers }: StoredBatch): object {
  if (fromFile) return { responsesFile: `files/batch-${name.slice("batches/".length)}` };
  const inlinedResponses = answers.map((answer, at) => {
    const key = rows[at]?.key ?? "";
    return key === "" ? answer : { ...answer, metadata: { key } };
  });
  return { [method === "generateContent" ? "inlinedResponses" : "inlinedEmbedContentResponses"]: { inlinedResponses } };
}
