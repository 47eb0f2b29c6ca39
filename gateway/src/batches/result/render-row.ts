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
  if (state === "canceled" || state === "expired") {
    const error = {
      code: state === "canceled" ? "batch_cancelled" : "batch_expired",
      message: `This request was not executed, because its batch ${notExecuted[state]}.`,
    };
    return `${head},"response":null,"error":${JSON.stringify(error)}}`;
  }
  const response = `{"status_code":${httpStatus ?? 500},"request_id":"${requestId}","body":${result ?? "null"}}`;
  return `${head},"response":${response},"error":null}`;
}

const notExecuted = { canceled: "was canceled", expired: "expired" } as const;

function anthropicRow({ customId, state, result }: BatchRow): string {
  const head = `{"custom_id":${JSON.stringify(customId)},"result":`;
  if (state === "succeeded") return `${head}{"type":"succeeded","message":${result}}}`;
  if (state === "errored") return `${head}{"type":"errored","error":${result}}}`;
  return `${head}{"type":"${state}"}}`;
}

function geminiRow({ customId, state, httpStatus, result }: BatchRow): string {
  const head = `{"key":${JSON.stringify(customId)}`;
  if (state === "succeeded") return `${head},"response":${result}}`;
  if (state === "errored") return `${head},"error":${JSON.stringify(errorIn(result, httpStatus))}}`;
  const code = state === "canceled" ? 1 : 4;
  return `${head},"error":{"code":${code},"message":"The request was not executed, because its batch ${notExecuted[state as "canceled" | "expired"]}."}}`;
}

function errorIn(result: string | null, httpStatus: number | null): unknown {
  const { error } = JSON.parse(result ?? "{}") as { error?: unknown };
  return error ?? { code: httpStatus ?? 500, message: "The request failed." };
}

/** The error of a row that was running when its process died. */
function interrupted(batch: Pick<Batch, "id" | "endpoint">, position: number): string {
  const message =
    "The gateway stopped while this request ran. Because it may have been executed, the gateway did not repeat it.";
  return protocolOf(batch).dialect.renderError(
    new Failure("upstream_error", message),
    batchRequestId(batch.id, position),
  );
}
