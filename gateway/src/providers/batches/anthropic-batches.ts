import { arrayOf, countOf, objectOf, parseObject, textOf } from "#protocols/index.ts";
import type { BatchAdapter, BatchLine } from "../batch-adapter.ts";
import { outboundDraft } from "../outbound-draft.ts";

const version = { "anthropic-version": "2023-06-01" };
const batches = "/messages/batches";

/** Anthropic's batches of messages. https://platform.claude.com/docs/en/build-with-claude/batch-processing, read on 2026-11-24. */
export const anthropicBatches: BatchAdapter = {
  endpoints: new Set(["messages"]),
  rowsMax: 100_000,
  bytesMax: 250 * 1024 * 1024,
  separator: ",",
  row: (customId, _, body) => `{"custom_id":${JSON.stringify(customId)},"params":${body}}`,
  frame: { head: '{"requests":[', tail: "]}" },
  create({ provider, root }, { headers }) {
    return outboundDraft(provider, root + batches, {
      method: "POST",
      headers: { ...version, ...headers, "content-type": "application/json" },
    });
  },
  readCreated: (body) => textOf(parseObject(body)?.["id"]),
  poll: ({ provider, root }, upstreamId) =>
    outboundDraft(provider, `${root}${batches}/${upstreamId}`, { headers: { ...version } }),
  readReport(upstreamId, body) {
    const isEnded = parseObject(body)?.["processing_status"] === "ended";
    // The vendor's own address of the results may be of another host.
    const outputs = isEnded ? [`/messages/batches/${upstreamId}/results`] : [];
    return { state: isEnded ? "ended" : "open", outputs, message: null };
  },
  cancel: ({ provider, root }, upstreamId) =>
    outboundDraft(provider, `${root}${batches}/${upstreamId}/cancel`, { method: "POST", headers: { ...version } }),
  list: ({ provider, root }) => outboundDraft(provider, `${root}${batches}?limit=100`, { headers: { ...version } }),
  readList(body) {
    return arrayOf(parseObject(body)?.["data"]).flatMap((item) => {
      const batch = objectOf(item);
      const upstreamId = textOf(batch["id"]);
      if (upstreamId === null) return [];
      const counts = Object.values(objectOf(batch["request_counts"]));
      const createdAt = Date.parse(textOf(batch["created_at"]) ?? "") || 0;
      return {
        upstreamId,
        ourId: null,
        createdAt,
        total: counts.reduce<number>((sum, count) => sum + (countOf(count) ?? 0), 0),
      };
    });
  },
  output: ({ provider, root }, path) => outboundDraft(provider, root + path, { headers: { ...version } }),
  readLine,
};

function readLine(line: Uint8Array): BatchLine | null {
  const row = parseObject(line);
  const customId = textOf(row?.["custom_id"]);
  if (row === null || customId === null) return null;
  const result = objectOf(row["result"]);
  switch (result["type"]) {
    case "succeeded":
      return { customId, status: 200, body: JSON.stringify(result["message"]), end: "answered" };
    case "canceled":
      return { customId, status: 499, body: null, end: "canceled" };
    case "expired":
      return { customId, status: 504, body: null, end: "expired" };
    default:
      return {
        customId,
        status: statusOf(result["error"]),
        body: JSON.stringify(result["error"] ?? {}),
        end: "answered",
      };
  }
}

/** Anthropic does not report the status of a row, only the type of its error. */
function statusOf(error: unknown): number {
  const type = textOf(objectOf(objectOf(error)["error"])["type"]) ?? "";
  return statuses[type] ?? 500;
}

const statuses: Readonly<Record<string, number>> = {
  ...{ invalid_request_error: 400, authentication_error: 401, billing_error: 402, permission_error: 403 },
  ...{ not_found_error: 404, request_too_large: 413, rate_limit_error: 429, timeout_error: 504, overloaded_error: 529 },
};
