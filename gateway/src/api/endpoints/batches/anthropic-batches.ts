import { ArrayItems, batchBounds, type SentRow } from "#batches/index.ts";
import { type Batch, batchIdIn, batchIdOf, bounds, Failure, finalBatchStates, type HeaderReader } from "#core/index.ts";
import { endpointProtocols, requireVendorVersion, skimObject, skimValue, textOf } from "#protocols/index.ts";
import { admitted, withKey } from "../../authenticated.ts";
import type { Exchange } from "../../dependencies.ts";
import { idBehind, originOf } from "../../request-parts.ts";
import { readTags } from "../../tags.ts";
import { bodyPieces } from "./sent-body.ts";

const api = "anthropic";
const prefix = "/v1/messages/batches/";
const customIdForm = /^[a-zA-Z0-9_-]{1,64}$/;
const limitMax = 1_000;

/** Anthropic's batches of messages. https://platform.claude.com/docs/en/api/creating-message-batches */
export const createAnthropicBatch = withKey(async (exchange, principal) => {
  const { dependencies, request } = exchange;
  requireVendorVersion(request.headers);
  return await admitted(exchange, principal, async () => {
    const batch = await dependencies.batches.create({
      ...{ api, principal, protocol: endpointProtocols.messages, pathModel: null, displayName: "", metadata: {} },
      headers: rowHeaders(request.headers),
      userAgent: (request.headers.get("user-agent") ?? "").slice(0, bounds.userAgentBytesMax),
      tags: readTags(request.headers, principal),
      ...{ inputFileId: null, outputLifeMs: null, rows: rowsOf(exchange), refuses: "row", signal: request.signal },
    });
    return batchObject(exchange, batch);
  });
});

export const getAnthropicBatch = withKey(async (exchange, { workspace }) => {
  return batchObject(exchange, await exchange.dependencies.batches.get(workspace.id, api, idOf(exchange)));
});

export const cancelAnthropicBatch = withKey(async (exchange, { workspace }) => {
  return batchObject(exchange, await exchange.dependencies.batches.cancel(workspace.id, api, idOf(exchange)));
});

export const deleteAnthropicBatch = withKey(async (exchange, { workspace }) => {
  const { id } = await exchange.dependencies.batches.remove(workspace.id, api, idOf(exchange));
  return { id: batchIdIn(api, id), type: "message_batch_deleted" };
});

export const anthropicBatchResults = withKey(async (exchange, { workspace }) => {
  const { batches } = exchange.dependencies;
  const batch = await batches.get(workspace.id, api, idOf(exchange));
  if (!finalBatchStates.has(batch.state)) {
    throw new Failure("not_found", "The batch has no results yet: it has not ended.", { param: "id" });
  }
  return new Response(await batches.result(batch), { headers: { "content-type": "application/x-jsonl" } });
});

/** GET /v1/messages/batches: `limit`, and `after_id` or `before_id`; newest first. */
export const listAnthropicBatches = withKey(async (exchange, { workspace }) => {
  const { batches } = exchange.dependencies;
  const query = new URLSearchParams(exchange.query);
  const limit = Number(query.get("limit") ?? 20);
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > limitMax) {
    throw new Failure("invalid_request", `limit must be an integer from 1 to ${limitMax}.`, { param: "limit" });
  }
  const [after, before] = [query.get("after_id"), query.get("before_id")];
  if (after !== null && before !== null) {
    throw new Failure("invalid_request", "Give after_id or before_id, not both.", { param: "before_id" });
  }
  const placeOf = (id: string | null) => (id === null ? null : batches.get(workspace.id, api, batchIdOf(api, id)));
  const place = { after: await placeOf(after), before: await placeOf(before) };
  const page = await batches.page({ workspaceId: workspace.id, api }, place, limit);
  const data = page.batches.map((batch) => batchObject(exchange, batch));
  return { data, has_more: page.next !== null, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
});

function idOf(exchange: Exchange): string | null {
  return batchIdOf(api, idBehind(prefix, exchange));
}

/** The caller chooses version and features of the API for all rows. */
function rowHeaders(headers: HeaderReader): Record<string, string> {
  const sent: Record<string, string> = {};
  for (const name of ["anthropic-version", "anthropic-beta"]) {
    const value = headers.get(name);
    if (value !== null) sent[name] = value;
  }
  return sent;
}

async function* rowsOf(exchange: Exchange): AsyncGenerator<SentRow, void, undefined> {
  const items = new ArrayItems("requests");
  let line = 0;
  for await (const piece of bodyPieces(exchange, batchBounds.bytesMax.anthropic)) {
    for (const item of items.add(piece)) yield rowOf(item, ++line);
  }
  items.end();
}

const wanted = new Set(["custom_id", "params"]);

function rowOf(item: Uint8Array, line: number): SentRow {
  const bad = (message: string, param: string): SentRow => ({
    line,
    customId: null,
    body: new Failure("invalid_request", message, { param }),
  });
  const found = skimObject(item, 0, item.length, wanted);
  if (found === null) return bad("Input should be a valid object.", "requests");
  const [id, params] = [found.get("custom_id"), found.get("params")];
  if (id === undefined || params === undefined) {
    const missing = id === undefined ? "custom_id" : "params";
    return bad(`${missing}: Field required.`, missing);
  }
  const customId = textOf(skimValue(item, id));
  if (customId === null || !customIdForm.test(customId)) {
    return bad(`custom_id: String should match pattern '${customIdForm.source}'.`, "custom_id");
  }
  return { line, customId, body: item.slice(params.start, params.end) };
}

function batchObject(exchange: Exchange, batch: Batch) {
  const ended = finalBatchStates.has(batch.state);
  const id = batchIdIn(api, batch.id);
  const open = batch.total - batch.succeeded - batch.errored - batch.canceled - batch.expired;
  return {
    id,
    type: "message_batch",
    processing_status: ended ? "ended" : batch.cancelAt !== null ? "canceling" : "in_progress",
    // As Anthropic: final numbers only at the end.
    request_counts: ended
      ? {
          processing: open,
          succeeded: batch.succeeded,
          errored: batch.errored,
          canceled: batch.canceled,
          expired: batch.expired,
        }
      : { processing: batch.total, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
    created_at: timeOf(batch.createdAt),
    expires_at: timeOf(batch.expiresAt),
    ended_at: timeOf(batch.endedAt),
    cancel_initiated_at: timeOf(batch.cancelAt),
    archived_at: null,
    results_url: !ended || batch.outputHash === null ? null : `${originOf(exchange)}${prefix}${id}/results`,
  };
}

function timeOf(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
