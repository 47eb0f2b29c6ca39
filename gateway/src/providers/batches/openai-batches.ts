import { arrayOf, countOf, numberOf, objectOf, parseObject, textOf } from "#protocols/index.ts";
import type { BatchAdapter, BatchLine } from "../batch-adapter.ts";
import { outboundDraft } from "../outbound-draft.ts";

const boundary = "sluice-batch-rows-5f0e6b1c9a";
const ourIdMember = "sluice_batch";

/** OpenAI's batches: rows in a file. https://developers.openai.com/api/docs/guides/batch, read on 2026-11-24. */
export const openaiBatches: BatchAdapter = {
  endpoints: new Set(["responses", "chat", "embeddings", "completions", "moderations"]),
  rowsMax: 50_000,
  bytesMax: 200 * 1024 * 1024,
  separator: "\n",
  row: (customId, path, body) =>
    `{"custom_id":${JSON.stringify(customId)},"method":"POST","url":${JSON.stringify(path)},"body":${body}}`,
  upload: {
    frame: {
      head: [
        `--${boundary}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n`,
        `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="rows.jsonl"\r\n`,
        "content-type: application/jsonl\r\n\r\n",
      ].join(""),
      tail: `\r\n--${boundary}--\r\n`,
    },
    draft({ provider, root }) {
      const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
      return outboundDraft(provider, `${root}/files`, { method: "POST", headers });
    },
    read(body) {
      const id = textOf(parseObject(body)?.["id"]);
      return id === null ? null : { id, isReady: true };
    },
  },
  create({ provider, root }, { ourId, path: endpoint, uploadId: input_file_id }) {
    const sent = { input_file_id, endpoint, completion_window: "24h", metadata: { [ourIdMember]: ourId } };
    return outboundDraft(provider, `${root}/batches`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: Buffer.from(JSON.stringify(sent)),
    });
  },
  readCreated: (body) => textOf(parseObject(body)?.["id"]),
  poll: ({ provider, root }, upstreamId) => outboundDraft(provider, `${root}/batches/${upstreamId}`, {}),
  readReport(_, body) {
    const batch = parseObject(body) ?? {};
    const outputs = [batch["output_file_id"], batch["error_file_id"]].flatMap((id) => {
      const file = textOf(id);
      return file === null ? [] : [`/files/${encodeURIComponent(file)}/content`];
    });
    const status = textOf(batch["status"]) ?? "";
    if (status === "failed") return { state: "refused", outputs: [], message: firstError(batch) };
    return { state: ended.has(status) ? "ended" : "open", outputs, message: null };
  },
  cancel: ({ provider, root }, upstreamId) =>
    outboundDraft(provider, `${root}/batches/${upstreamId}/cancel`, { method: "POST" }),
  list: ({ provider, root }) => outboundDraft(provider, `${root}/batches?limit=100`, {}),
  readList(body) {
    return arrayOf(parseObject(body)?.["data"]).flatMap((item) => {
      const batch = objectOf(item);
      const upstreamId = textOf(batch["id"]);
      if (upstreamId === null) return [];
      return {
        upstreamId,
        ourId: textOf(objectOf(batch["metadata"])[ourIdMember]) ?? "",
        createdAt: (numberOf(batch["created_at"]) ?? 0) * 1_000,
        total: countOf(objectOf(batch["request_counts"])["total"]) ?? 0,
      };
    });
  },
  readHint(body) {
    const event = parseObject(body) ?? {};
    return hints.has(textOf(event["type"]) ?? "") ? textOf(objectOf(event["data"])["id"]) : null;
  },
  output: ({ provider, root }, path) => outboundDraft(provider, root + path, {}),
  readLine,
};

/** https://developers.openai.com/api/docs/guides/webhooks, and the event types of its SDK 7. */
const hints: ReadonlySet<string> = new Set(["batch.completed", "batch.failed", "batch.expired", "batch.cancelled"]);
const ended: ReadonlySet<string> = new Set(["completed", "cancelled", "expired"]);

function readLine(line: Uint8Array): BatchLine | null {
  const row = parseObject(line);
  const customId = textOf(row?.["custom_id"]);
  if (row === null || customId === null) return null;
  const response = objectOf(row["response"]);
  if (response["body"] !== undefined) {
    const status = numberOf(response["status_code"]) ?? 500;
    return { customId, status, body: JSON.stringify(response["body"]), end: "answered" };
  }
  const error = objectOf(row["error"]);
  const code = textOf(error["code"]) ?? "";
  if (code === "batch_expired") return { customId, status: 504, body: null, end: "expired" };
  if (code === "batch_cancelled") return { customId, status: 499, body: null, end: "canceled" };
  return { customId, status: 500, body: JSON.stringify({ error }), end: "answered" };
}

function firstError(batch: Readonly<Record<string, unknown>>): string | null {
  const [first] = arrayOf(objectOf(batch["errors"])["data"]);
  return textOf(objectOf(first)["message"]);
}
