export interface VendorBatch {
  readonly id: string;
  readonly ourId: string | null;
  readonly rows: readonly { readonly custom_id: string; readonly body: Record<string, unknown> }[];
  readonly createdAt: number;
  status: "in_progress" | "completed" | "cancelled" | "expired";
}

/** How a vendor writes its batches and the lines of their results. */
export interface VendorWire {
  /** `ran`: rows that have been executed. */
  batch(batch: VendorBatch, ran?: number): object;
  line(customId: string, model: unknown, end: string): object;
  readonly listMember: string;
}

export const openAiWire: VendorWire = { batch: openAiBatch, line: openAiLine, listMember: "data" };
export const anthropicWire: VendorWire = { batch: anthropicBatch, line: anthropicLine, listMember: "data" };
export const geminiWire: VendorWire = { batch: geminiBatch, line: geminiLine, listMember: "operations" };

function openAiBatch({ id, ourId, rows, createdAt, status }: VendorBatch): object {
  const output = status === "in_progress" ? null : `out-${id}`;
  return {
    ...{ id, object: "batch", status, created_at: Math.floor(createdAt / 1_000), metadata: { sluice_batch: ourId } },
    ...{ output_file_id: output, error_file_id: null, request_counts: { total: rows.length, completed: 0, failed: 0 } },
  };
}

function anthropicBatch({ id, rows, createdAt, status }: VendorBatch): object {
  return {
    ...{ id, type: "message_batch", processing_status: status === "in_progress" ? "in_progress" : "ended" },
    ...{ created_at: new Date(createdAt).toISOString(), results_url: "https://elsewhere.example/results" },
    request_counts: { processing: rows.length, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
  };
}

function openAiLine(custom_id: string, model: unknown, end: string): object {
  if (end === "answered") {
    const body = {
      ...{ id: "c1", object: "chat.completion", created: 1, model, service_tier: "default" },
      choices: [{ index: 0, message: { role: "assistant", content: custom_id }, finish_reason: "stop" }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    };
    return { id: "r", custom_id, response: { status_code: 200, request_id: "x", body }, error: null };
  }
  if (end === "failed") {
    return {
      id: "r",
      custom_id,
      response: { status_code: 400, request_id: "x", body: { error: { message: "bad row" } } },
      error: null,
    };
  }
  return { id: "r", custom_id, response: null, error: { code: `batch_${end}`, message: end } };
}

function anthropicLine(custom_id: string, model: unknown, end: string): object {
  if (end === "answered") {
    const message = {
      ...{
        id: "m1",
        type: "message",
        role: "assistant",
        model,
        stop_reason: "end_turn",
        content: [{ type: "text", text: custom_id }],
      },
      usage: { input_tokens: 10, output_tokens: 5, service_tier: "batch" },
    };
    return { custom_id, result: { type: "succeeded", message } };
  }
  if (end === "failed") {
    return {
      custom_id,
      result: {
        type: "errored",
        error: { type: "error", error: { type: "invalid_request_error", message: "bad row" } },
      },
    };
  }
  return { custom_id, result: { type: end === "cancelled" ? "canceled" : "expired" } };
}

function geminiBatch({ id, ourId, rows, createdAt, status }: VendorBatch, ran = 0): object {
  const output = status === "completed" ? { responsesFile: `files/out-${id}` } : null;
  const states = { in_progress: "RUNNING", completed: "SUCCEEDED", cancelled: "CANCELLED", expired: "EXPIRED" };
  const metadata = {
    ...{ displayName: ourId, state: `BATCH_STATE_${states[status]}`, createTime: new Date(createdAt).toISOString() },
    batchStats: { requestCount: String(rows.length), successfulRequestCount: String(ran) },
    ...(output === null ? {} : { output }),
  };
  return {
    name: `batches/${id}`,
    metadata,
    done: status !== "in_progress",
    ...(output === null ? {} : { response: output }),
  };
}

function geminiLine(key: string, model: unknown, end: string): object {
  if (end === "answered") {
    const content = { role: "model", parts: [{ text: key }] };
    const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
    return { key, response: { candidates: [{ content, finishReason: "STOP" }], usageMetadata, modelVersion: model } };
  }
  if (end === "failed") return { key, error: { code: 3, message: "bad row", status: "INVALID_ARGUMENT" } };
  return { key, error: { code: 1, message: end } };
}
