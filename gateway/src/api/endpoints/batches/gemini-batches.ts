import { batchBounds, geminiFileRows, geminiInlineRows, unnamedRow } from "#batches/index.ts";
import { outcomeOf } from "#bodies/index.ts";
import {
  type Batch,
  type BatchState,
  batchIdIn,
  batchIdOf,
  bounds,
  Failure,
  finalBatchStates,
  pulledStream,
  storedFileId,
} from "#core/index.ts";
import { callableModels, isCallable, noModel } from "#identity/index.ts";
import { endpointProtocols } from "#protocols/index.ts";
import { admitted, withKey } from "../../authenticated.ts";
import { readJsonPieces, withPlace } from "../../body.ts";
import type { Endpoint, Exchange } from "../../dependencies.ts";
import { factsOfPath } from "../../google-path.ts";
import { json } from "../../respond.ts";
import { readTags } from "../../tags.ts";

const api = "gemini";
const place = "/batches/";
const inlineBody = { bytesMax: 20 * 1024 * 1024, packed: true };
const pageMax = 100;

/** Gemini's batches. Source: Gemini API reference, "Batch API". */
export const createGeminiBatch = creationOf("generate");
export const createGeminiEmbeddings = creationOf("embed-content");

function creationOf(endpoint: "generate" | "embed-content"): Endpoint {
  return withKey((exchange, principal) =>
    admitted(exchange, principal, async () => {
      const { dependencies, request } = exchange;
      const { configSnapshot, batches, bodies, files } = dependencies;
      const { model } = factsOfPath(exchange, (name) => isCallable(configSnapshot(), principal, name));
      if (callableModels(configSnapshot(), principal, model).length === 0) {
        throw noModel(configSnapshot(), principal, model);
      }
      const read = await withPlace(exchange, principal, async (place) => {
        const sent = await readJsonPieces(exchange, place, inlineBody);
        const ask = { rowsMax: batchBounds.rowsMax.gemini };
        return await bodies.do("gemini-batch", ask, sent, { signal: request.signal, owner: principal });
      });
      const { displayName, fileName, rows: spans } = outcomeOf(read).answer;
      const file = fileName === null ? null : await files.get(principal.workspace.id, storedFileId(fileName));
      const rows =
        file === null ? geminiInlineRows(read.body, spans, model) : geminiFileRows(await files.open(file), model);
      const batch = await batches.create({
        ...{
          api,
          principal,
          protocol: endpointProtocols[endpoint],
          pathModel: model,
          displayName,
          metadata: {},
          headers: {},
        },
        userAgent: (request.headers.get("user-agent") ?? "").slice(0, bounds.userAgentBytesMax),
        tags: readTags(request.headers, principal),
        ...{ inputFileId: file?.id ?? null, outputLifeMs: null, rows, refuses: "row", signal: request.signal },
      });
      return operation(batch);
    }),
  );
}

/** GET /v1beta/batches/{id}: with the answers, in their order, if the rows came in the creation. */
export const getGeminiBatch = withKey(async (exchange, { workspace }) => {
  const batch = await exchange.dependencies.batches.get(workspace.id, api, idOf(exchange));
  if (batch.outputHash === null || !finalBatchStates.has(batch.state)) return json(operation(batch));
  return withAnswers(batch, await exchange.dependencies.batches.result(batch));
});

/** POST /v1beta/batches/{id}:cancel. */
export const cancelGeminiBatch = withKey(async (exchange, { workspace }) => {
  if (!exchange.path.endsWith(":cancel")) throw new Failure("not_found", "Action not found.");
  await exchange.dependencies.batches.cancel(workspace.id, api, idOf(exchange));
  return {};
});

export const deleteGeminiBatch = withKey(async (exchange, { workspace }) => {
  await exchange.dependencies.batches.remove(workspace.id, api, idOf(exchange));
  return {};
});

/** GET /v1beta/batches: newest first, without their answers. */
export const listGeminiBatches = withKey(async (exchange, { workspace }) => {
  const query = new URLSearchParams(exchange.query);
  const text = query.get("pageSize");
  const limit = text === null || text === "" ? pageMax : Number(text);
  if (!Number.isSafeInteger(limit) || limit < 0) {
    throw new Failure("invalid_request", "pageSize must be an integer of at least 0.", { param: "pageSize" });
  }
  const filter = { workspaceId: workspace.id, api } as const;
  const after = query.get("pageToken");
  const page = await exchange.dependencies.batches.page(
    filter,
    { after: after === "" ? null : after },
    Math.min(limit || pageMax, pageMax),
  );
  return { operations: page.batches.map(operation), ...(page.next === null ? {} : { nextPageToken: page.next }) };
});

function idOf({ path }: Exchange): string | null {
  return batchIdOf(api, `batches/${path.slice(path.indexOf(place) + place.length).replace(/:cancel$/, "")}`);
}

const states: Readonly<Record<BatchState, string>> = {
  ...{ validating: "PENDING", in_progress: "RUNNING", canceling: "RUNNING", finalizing: "RUNNING" },
  ...{ completed: "SUCCEEDED", canceled: "CANCELLED", expired: "EXPIRED", failed: "FAILED" },
};

const timeOf = (at: number): string => new Date(at).toISOString();

function metadataOf(batch: Batch) {
  const isEmbedding = batch.endpoint === "embed-content";
  const open = batch.total - batch.succeeded - batch.errored - batch.canceled - batch.expired;
  return {
    "@type": `type.googleapis.com/google.ai.generativelanguage.v1main.${isEmbedding ? "EmbedContentBatch" : "GenerateContentBatch"}`,
    name: batchIdIn(api, batch.id),
    model: `models/${batch.model.replace(/^models\//, "")}`,
    displayName: batch.displayName,
    state: `BATCH_STATE_${states[batch.state]}`,
    createTime: timeOf(batch.createdAt),
    updateTime: timeOf(batch.endedAt ?? batch.startedAt ?? batch.createdAt),
    ...(batch.endedAt === null ? {} : { endTime: timeOf(batch.endedAt) }),
    batchStats: {
      requestCount: String(batch.total),
      successfulRequestCount: String(batch.succeeded),
      failedRequestCount: String(batch.errored + batch.canceled + batch.expired),
      pendingRequestCount: String(open),
    },
  };
}

/** A long-running operation, with the file of its answers if it has one. */
function operation(batch: Batch) {
  const done = finalBatchStates.has(batch.state);
  const output = done && batch.outputFileId !== null ? { responsesFile: `files/${batch.outputFileId}` } : null;
  return {
    name: batchIdIn(api, batch.id),
    metadata: { ...metadataOf(batch), ...(output === null ? {} : { output }) },
    done,
    ...(output === null ? {} : { response: output }),
  };
}

/** The operation with its answers, which are streamed. */
function withAnswers(batch: Batch, lines: ReadableStream<Uint8Array>): Response {
  const member = batch.endpoint === "embed-content" ? "inlinedEmbedContentResponses" : "inlinedResponses";
  const name = JSON.stringify(batchIdIn(api, batch.id));
  const metadata = JSON.stringify(metadataOf(batch)).slice(0, -1);
  const pieces = (async function* (): AsyncGenerator<Uint8Array, undefined> {
    yield Buffer.from(`{"name":${name},"done":true,"metadata":${metadata},"output":{"${member}":{"inlinedResponses":[`);
    let rest = "";
    let position = 0;
    const decoder = new TextDecoder();
    for await (const piece of lines) {
      const whole = (rest + decoder.decode(piece, { stream: true })).split("\n");
      rest = whole.pop() ?? "";
      const items = whole.map((line) => inlineItem(line, position++));
      if (items.length > 0) yield Buffer.from((position > items.length ? "," : "") + items.join(","));
    }
    yield Buffer.from("]}}}}");
    return undefined;
  })();
  const body = pulledStream(
    async () => (await pieces.next()).value ?? null,
    () => void pieces.return(undefined),
  );
  return new Response(body, { headers: { "content-type": "application/json" } });
}

function inlineItem(line: string, position: number): string {
  const { key, ...answer } = JSON.parse(line) as { readonly key: string };
  return JSON.stringify(key === unnamedRow(position) ? answer : { ...answer, metadata: { key } });
}
