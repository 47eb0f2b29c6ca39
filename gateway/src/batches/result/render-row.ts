import { type Batch, type BatchRow, batchRequestId, Failure } from "#core/index.ts";
import { protocolOf } from "../row-call.ts";

/** A line of a result, without its end. `isError`: it belongs into the file of errors, where an API has two. */
export interface ResultLine {
  readonly text: string;
  readonly isError: boolean;
}

/** A row that has ended, in the form of its API. Bodies are JSON on one line already. */
export function renderRow(batch: Pick<Batch, "id" | "api" | "endpoint">, ended: BatchRow): ResultLine {
  const isError = ended.state !== "succeeded";
  const isInterrupted = ended.state === "errored" && ended.result === null;
  const row = isInterrupted ? { ...ended, result: interrupted(batch, ended.position) } : ended;
  if (batch.api === "anthropic") return { isError, text: anthropicRow(row) };
  return { isError, text: batch.api === "gemini" ? geminiRow(row) : openaiRow(batch.id, row) };
}

function openaiRow(batchId: string, { position, customId, state, httpStatus, result }: BatchRow): string {
  const requestId = batchRequestId(batchId, position);
  const head = `{"id":"batch_${requestId}","custom_id":${JSON.stringify(customId)}`;
  if (state === "cancelled" || state === "expired") {
    const error = {
      code: `batch_${state}`,
      message: `This request was not executed, because its batch ${notExecuted[state]}.`,
    };
    return `${head},"response":null,"error":${JSON.stringify(error)}}`;
  }
  const response = `{"status_code":${httpStatus ?? 500},"request_id":"${requestId}","body":${result ?? "null"}}`;
  return `${head},"response":${response},"error":null}`;
}

const notExecuted = { cancelled: "was cancelled", expired: "expired" } as const;

function anthropicRow({ customId, state, result }: BatchRow): string {
  const head = `{"custom_id":${JSON.stringify(customId)},"result":`;
  if (state === "succeeded") return `${head}{"type":"succeeded","message":${result}}}`;
  if (state === "errored") return `${head}{"type":"errored","error":${result}}}`;
  return `${head}{"type":"${state === "cancelled" ? "canceled" : "expired"}"}}`;
}

function geminiRow({ customId, state, httpStatus, result }: BatchRow): string {
  const head = `{"key":${JSON.stringify(customId)}`;
  if (state === "succeeded") return `${head},"response":${result}}`;
  if (state === "errored") return `${head},"error":${JSON.stringify(errorIn(result, httpStatus))}}`;
  const code = state === "cancelled" ? 1 : 4;
  return `${head},"error":{"code":${code},"message":"The request was not executed, because its batch ${notExecuted[state as "cancelled" | "expired"]}."}}`;
}

function errorIn(result: string | null, httpStatus: number | null): unknown {
  const { error } = JSON.parse(result ?? "{}") as { error?: unknown };
  return error ?? { code: httpStatus ?? 500, message: "The request failed." };
}

/** What a row gets whose process died while it ran. */
function interrupted(batch: Pick<Batch, "id" | "endpoint">, position: number): string {
  const message = "The gateway stopped while this request ran. It may have been executed, so it was not sent again.";
  return protocolOf(batch).dialect.renderError(
    new Failure("upstream_error", message),
    batchRequestId(batch.id, position),
  );
}
