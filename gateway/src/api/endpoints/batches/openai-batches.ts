import { modelEndpoints } from "@sluice/contract/words";
import { openaiRows } from "#batches/index.ts";
import { wholeOf } from "#bodies/index.ts";
import {
  type Batch,
  type BatchState,
  batchIdIn,
  batchIdOf,
  bounds,
  Failure,
  type StoredFile,
  storedFileId,
} from "#core/index.ts";
import { endpointProtocols, parseObject } from "#protocols/index.ts";
import { admitted, withKey } from "../../authenticated.ts";
import { controlBody, readJsonPieces, withPlace } from "../../body.ts";
import type { Exchange } from "../../dependencies.ts";
import { idBehind } from "../../request-parts.ts";
import { readTags } from "../../tags.ts";

const api = "openai";
const prefix = "/v1/batches/";

/** The endpoints that rows may call. Source: OpenAI API reference, "Create batch". */
const offered = ["responses", "chat", "embeddings", "completions", "moderations", "images", "image-edits"] as const;
const endpoints: ReadonlyMap<string, (typeof offered)[number]> = new Map(
  offered.map((id) => [modelEndpoints[id].path, id]),
);

const metadataMax = 16;
const metadataKeyMax = 64;
const metadataValueMax = 512;
const outputLifeMin = 3_600;
const outputLifeMax = 2_592_000;
const limitMax = 100;

/** POST /v1/batches. */
export const createOpenAiBatch = withKey((exchange, principal) =>
  admitted(exchange, principal, async () => {
    const { dependencies, request } = exchange;
    const { endpoint, metadata, outputLifeMs, fileId } = await withPlace(exchange, principal, async (place) => {
      return readCreation(wholeOf(await readJsonPieces(exchange, place, controlBody)));
    });
    const file = await inputFile(exchange, principal.workspace.id, fileId);
    const batch = await dependencies.batches.create({
      ...{
        api,
        principal,
        protocol: endpointProtocols[endpoint],
        pathModel: null,
        displayName: "",
        metadata,
        headers: {},
      },
      userAgent: (request.headers.get("user-agent") ?? "").slice(0, bounds.userAgentBytesMax),
      tags: readTags(request.headers, principal),
      ...{ inputFileId: file.id, outputLifeMs, refuses: "batch", signal: request.signal },
      rows: openaiRows(await dependencies.files.open(file), modelEndpoints[endpoint].path),
    });
    return batchObject(batch);
  }),
);

/** GET /v1/batches/{id}. */
export const getOpenAiBatch = withKey(async (exchange, { workspace }) => {
  return batchObject(await exchange.dependencies.batches.get(workspace.id, api, idOf(exchange)));
});

/** POST /v1/batches/{id}/cancel. */
export const cancelOpenAiBatch = withKey(async (exchange, { workspace }) => {
  return batchObject(await exchange.dependencies.batches.cancel(workspace.id, api, idOf(exchange)));
});

/** GET /v1/batches, newest first: `limit` and `after`. */
export const listOpenAiBatches = withKey(async (exchange, { workspace }) => {
  const { batches } = exchange.dependencies;
  const query = new URLSearchParams(exchange.query);
  const limit = Number(query.get("limit") ?? 20);
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > limitMax) {
    throw new Failure("invalid_request", `limit must be an integer from 1 to ${limitMax}.`, { param: "limit" });
  }
  const id = query.get("after");
  const after = id === null ? null : await batches.get(workspace.id, api, batchIdOf(api, id));
  const page = await batches.page({ workspaceId: workspace.id, api }, { after }, limit);
  const data = page.batches.map(batchObject);
  return {
    object: "list",
    data,
    has_more: page.next !== null,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
});

function idOf(exchange: Exchange): string | null {
  return batchIdOf(api, idBehind(prefix, exchange));
}

interface Creation extends Pick<Batch, "metadata" | "outputLifeMs"> {
  readonly endpoint: (typeof offered)[number];
  readonly fileId: string;
}

function readCreation(body: Uint8Array): Creation {
  const sent = parseObject(body);
  if (sent === null) throw new Failure("invalid_request", "The body must be a JSON object.");
  const { input_file_id: fileId, endpoint: path, completion_window: completion } = sent;
  const endpoint = typeof path === "string" ? endpoints.get(path) : undefined;
  if (typeof fileId !== "string") throw missing("input_file_id", fileId);
  if (endpoint === undefined) {
    throw new Failure("invalid_request", `endpoint must be one of: ${[...endpoints.keys()].join(", ")}.`, {
      param: "endpoint",
    });
  }
  if (completion !== "24h")
    throw new Failure("invalid_request", 'completion_window must be "24h".', { param: "completion_window" });
  return {
    endpoint,
    fileId,
    metadata: readMetadata(sent["metadata"]),
    outputLifeMs: readLife(sent["output_expires_after"]),
  };
}

function missing(param: string, value: unknown): Failure {
  if (value === undefined) return new Failure("missing_required_parameter", `${param} is missing.`, { param });
  return new Failure("invalid_request", `${param} must be a string.`, { param });
}

function readMetadata(value: unknown): Readonly<Record<string, string>> {
  if (value === undefined || value === null) return {};
  const entries = typeof value === "object" && !Array.isArray(value) ? Object.entries(value) : null;
  const isValid = entries?.every(
    ([key, one]) => key.length <= metadataKeyMax && typeof one === "string" && one.length <= metadataValueMax,
  );
  if (entries === null || isValid !== true || entries.length > metadataMax) {
    const message = `metadata must have at most ${metadataMax} texts, with keys up to ${metadataKeyMax} and values up to ${metadataValueMax} characters.`;
    throw new Failure("invalid_request", message, { param: "metadata" });
  }
  return Object.fromEntries(entries) as Record<string, string>;
}

function readLife(value: unknown): number | null {
  if (value === undefined || value === null) return null;
  const { anchor, seconds } = value as { readonly anchor?: unknown; readonly seconds?: unknown };
  const isValid =
    typeof seconds === "number" &&
    Number.isSafeInteger(seconds) &&
    seconds >= outputLifeMin &&
    seconds <= outputLifeMax;
  if (anchor === "created_at" && isValid) return seconds * 1_000;
  const message = `output_expires_after needs anchor "created_at" and seconds from ${outputLifeMin} to ${outputLifeMax}.`;
  throw new Failure("invalid_request", message, { param: "output_expires_after" });
}

/** Throws Failure not_found or invalid_request. */
async function inputFile({ dependencies }: Exchange, workspaceId: string, name: string): Promise<StoredFile> {
  const param = "input_file_id";
  const file = await dependencies.files.get(workspaceId, storedFileId(name)).catch((thrown: unknown) => {
    throw thrown instanceof Failure ? thrown.with({ param }) : thrown;
  });
  if (file.purpose === "batch") return file;
  throw new Failure(
    "invalid_request",
    `The file has the purpose "${file.purpose}". Upload it with the purpose "batch".`,
    { param },
  );
}

const statuses: Readonly<Record<BatchState, string>> = {
  ...{ validating: "validating", in_progress: "in_progress", finalizing: "finalizing", completed: "completed" },
  ...{ canceling: "cancelling", canceled: "cancelled", expired: "expired", failed: "failed" },
};

function batchObject(batch: Batch) {
  const { state, endedAt } = batch;
  const endedAs = (one: BatchState) => (state === one ? seconds(endedAt) : null);
  return {
    id: batchIdIn(api, batch.id),
    object: "batch",
    endpoint: modelEndpoints[batch.endpoint as (typeof offered)[number]].path,
    ...(batch.model === "" ? {} : { model: batch.model }),
    errors: batch.errors.length === 0 ? null : { object: "list", data: batch.errors },
    input_file_id: fileId(batch.inputFileId),
    completion_window: "24h",
    status: statuses[state],
    output_file_id: endedAt === null ? null : fileId(batch.outputFileId),
    error_file_id: endedAt === null ? null : fileId(batch.errorFileId),
    created_at: seconds(batch.createdAt),
    in_progress_at: seconds(batch.startedAt),
    expires_at: seconds(batch.expiresAt),
    finalizing_at: seconds(batch.finalizingAt),
    completed_at: endedAs("completed"),
    failed_at: endedAs("failed"),
    expired_at: endedAs("expired"),
    cancelling_at: seconds(batch.cancelAt),
    cancelled_at: endedAs("canceled"),
    request_counts: {
      total: batch.total,
      completed: batch.succeeded,
      failed: batch.errored + batch.canceled + batch.expired,
    },
    ...(endedAt === null ? {} : { usage: usageOf(batch) }),
    metadata: Object.keys(batch.metadata).length === 0 ? null : batch.metadata,
  };
}

function usageOf({ inputTokens, cachedTokens, outputTokens, reasoningTokens }: Batch) {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  };
}

function seconds(at: number | null): number | null {
  return at === null ? null : Math.floor(at / 1_000);
}

function fileId(id: string | null): string | null {
  return id === null ? null : `file-${id}`;
}
