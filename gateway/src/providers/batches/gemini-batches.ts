import type { Provider } from "#core/index.ts";
import { arrayOf, countOf, type JsonObject, numberOf, objectOf, parseObject, textOf } from "#protocols/index.ts";
import type { BatchAdapter, BatchLine } from "../batch-adapter.ts";
import type { FileRequest } from "../file-request.ts";
import { beginGoogleUpload, besideVersion, googleUpload, readGoogleFile } from "../google-files.ts";
import { type OutboundDraft, outboundDraft } from "../outbound-draft.ts";

const methods: Readonly<Record<string, string>> = {
  generate: "batchGenerateContent",
  "embed-content": "asyncBatchEmbedContent",
};

/** Gemini's batches: rows in a file of the Files API. https://ai.google.dev/gemini-api/docs/batch-api, read on 2026-11-30. */
export const geminiBatches: BatchAdapter = {
  endpoints: new Set(["generate", "embed-content"]),
  rowsMax: 50_000,
  bytesMax: 2 * 1024 * 1024 * 1024,
  separator: "\n",
  row: (customId, _, body) => `{"key":${JSON.stringify(customId)},"request":${body}}`,
  upload: {
    frame: { head: "", tail: "" },
    draft: ({ provider, root }, size) => fileDraft(provider, beginGoogleUpload(root, rowsFile(size))),
    send({ provider, root }, size, header) {
      const request = googleUpload(root, rowsFile(size), header);
      return request === null ? null : fileDraft(provider, request);
    },
    read: (body) => readGoogleFile(parseObject(body)),
  },
  create({ provider, root }, { ourId, endpoint, upstreamModel, uploadId: fileName }) {
    const model = encodeURIComponent(upstreamModel.replace(/^models\//, ""));
    const sent = { batch: { displayName: ourId, inputConfig: { fileName } } };
    return outboundDraft(provider, `${root}/models/${model}:${methods[endpoint] ?? ""}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: Buffer.from(JSON.stringify(sent)),
    });
  },
  readCreated: (body) => nameIn(parseObject(body)?.["name"], /^batches\/[\w-]{1,256}$/),
  poll: ({ provider, root }, upstreamId) => outboundDraft(provider, `${root}/${upstreamId}`, {}),
  readReport(_, body) {
    const operation = parseObject(body) ?? {};
    const metadata = objectOf(operation["metadata"]);
    const state = stateOf(operation, metadata);
    if (state === "open") return { state, outputs: [], message: null };
    const output = { ...objectOf(metadata["output"]), ...objectOf(operation["response"]) };
    const file = nameIn(output["responsesFile"], /^files\/[\w-]{1,256}$/);
    if (file !== null) return { state: "ended", outputs: [`/${file}:download?alt=media`], message: null };
    const message = textOf(objectOf(operation["error"])["message"]);
    const succeeded = Number(objectOf(metadata["batchStats"])["successfulRequestCount"] ?? 0);
    // It does not name the rows that it ran.
    if (state === "succeeded" || succeeded > 0) return { state: "lost", outputs: [], message };
    return { state: state === "failed" ? "refused" : "ended", outputs: [], message };
  },
  cancel: ({ provider, root }, upstreamId) =>
    outboundDraft(provider, `${root}/${upstreamId}:cancel`, { method: "POST" }),
  list: ({ provider, root }) => outboundDraft(provider, `${root}/batches?pageSize=100`, {}),
  readList(body) {
    return arrayOf(parseObject(body)?.["operations"]).flatMap((item) => {
      const operation = objectOf(item);
      const metadata = objectOf(operation["metadata"]);
      const upstreamId = nameIn(operation["name"], /^batches\/[\w-]{1,256}$/);
      if (upstreamId === null) return [];
      return {
        upstreamId,
        ourId: textOf(metadata["displayName"]) ?? "",
        createdAt: Date.parse(textOf(metadata["createTime"]) ?? "") || 0,
        total: countOf(Number(objectOf(metadata["batchStats"])["requestCount"])) ?? 0,
      };
    });
  },
  readHint(body) {
    const event = parseObject(body) ?? {};
    if (!hints.has(textOf(event["type"]) ?? "")) return null;
    // Documents show ids without the resource's prefix, too.
    const id = textOf(objectOf(event["data"])["id"]) ?? "";
    return nameIn(id.startsWith("batches/") ? id : `batches/${id}`, /^batches\/[\w-]{1,256}$/);
  },
  output: ({ provider, root }, path) => outboundDraft(provider, besideVersion(root, "download") + path, {}),
  readLine,
};

/** https://ai.google.dev/gemini-api/docs/webhooks, read on 2026-11-30. */
const hints: ReadonlySet<string> = new Set(["batch.succeeded", "batch.failed", "batch.expired", "batch.cancelled"]);

const rowsFile = (sizeBytes: number) => ({ filename: "rows.jsonl", mediaType: "application/jsonl", sizeBytes });

function fileDraft(provider: Provider, { method, url, headers, body }: FileRequest): OutboundDraft {
  return outboundDraft(provider, url, {
    method,
    headers: { ...headers },
    body: body instanceof Uint8Array ? body : null,
  });
}

/** null: it has another form, so it cannot be part of a path. */
function nameIn(value: unknown, form: RegExp): string | null {
  const name = textOf(value);
  return name !== null && form.test(name) ? name : null;
}

type State = "open" | "succeeded" | "failed" | "stopped";

/** Documents show both `BATCH_STATE_` and `JOB_STATE_`. */
function stateOf(operation: JsonObject, metadata: JsonObject): State {
  const state = states[(textOf(metadata["state"]) ?? "").replace(/^(BATCH|JOB)_STATE_/, "")];
  if (state !== undefined || operation["done"] !== true) return state ?? "open";
  if (operation["error"] === undefined) return "succeeded";
  return numberOf(objectOf(operation["error"])["code"]) === canceledCode ? "stopped" : "failed";
}

const states: Readonly<Record<string, State>> = {
  ...{ SUCCEEDED: "succeeded", PARTIALLY_SUCCEEDED: "succeeded" },
  ...{ FAILED: "failed", CANCELLED: "stopped", EXPIRED: "stopped" },
};

/** google.rpc.Code. */
const canceledCode = 1;
const statuses: Readonly<Record<number, number>> = {
  ...{ 3: 400, 4: 504, 5: 404, 6: 409, 7: 403, 8: 429, 9: 400, 11: 400, 12: 501, 14: 503, 16: 401 },
};

function readLine(line: Uint8Array): BatchLine | null {
  const row = parseObject(line);
  const customId = textOf(row?.["key"]);
  if (row === null || customId === null) return null;
  if (row["response"] !== undefined) {
    return { customId, status: 200, body: JSON.stringify(row["response"]), end: "answered" };
  }
  // A row's error is a status, with a code of gRPC or HTTP.
  const error = row["error"] === undefined ? row : objectOf(row["error"]);
  const code = numberOf(error["code"]);
  if (code === null) return null;
  if (code === canceledCode) return { customId, status: 499, body: null, end: "canceled" };
  const status = code >= 400 ? code : (statuses[code] ?? 500);
  const body = JSON.stringify({ error: { ...error, code: status, key: undefined } });
  return { customId, status, body, end: "answered" };
}
