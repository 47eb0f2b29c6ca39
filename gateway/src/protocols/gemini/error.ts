import type { Failure } from "#core/index.ts";
import type { UpstreamRefusal } from "../dialect.ts";
import { errorReported, refusalBody } from "../errors/error-event.ts";
import { errorText, isTooLong } from "../errors/upstream-errors.ts";
import { arrayOf, isObject, type JsonObject, objectOf, textOf } from "../json/value.ts";

/**
 * Google's error body: `{"error":{code,message,status,details}}`. The details are google.rpc's own types, as the
 * vendor's SDKs and CLIs read them. Source: google.rpc.Status and google/rpc/error_details.proto.
 */
export function renderGeminiError(failure: Failure, requestId: string): string {
  const details: JsonObject[] = [
    {
      "@type": `${typePrefix}ErrorInfo`,
      reason: failure.code.toUpperCase(),
      domain: "sluice",
      metadata: metadataOf(failure),
    },
  ];
  if (failure.param !== null) {
    const fieldViolations = [{ field: failure.param, description: failure.message }];
    details.push({ "@type": `${typePrefix}BadRequest`, fieldViolations });
  }
  if (failure.retryAfterMs !== undefined) {
    details.push({ "@type": `${typePrefix}RetryInfo`, retryDelay: `${Math.ceil(failure.retryAfterMs / 1_000)}s` });
  }
  if (requestId !== "") details.push(requestInfo(requestId));
  const { status: code } = failure;
  const message = saidTooLong(failure);
  return JSON.stringify({ error: { code, message, status: statusWord(code), details } });
}

/** The same inside a stream: the vendor's SDKs from 2.0 on raise an error on a chunk with `error.code` in 400 to 599. */
export function renderGeminiStreamError(failure: Failure, requestId: string): string {
  return `data: ${renderBareGeminiError(failure, requestId)}\n\n`;
}

/** SDKs before 2.0 look for an error without `data:`, in a piece of its own; others pass over such a line. */
export function renderBareGeminiError(failure: Failure, requestId: string): string {
  return refusalBody(failure) ?? renderGeminiError(failure, requestId);
}

/** What a Google-shaped upstream refused; streams without SSE and the OpenAI-compatible face send an array of one. */
export function readGeminiRefusal(status: number, body: Uint8Array): UpstreamRefusal {
  const error = googleErrorOf(body);
  const message = textOf(error["message"]) ?? `HTTP status ${status}`;
  return {
    status,
    message,
    code: reasonOf(error) ?? textOf(error["status"]),
    contextLength: isTooLong(status, null, message),
  };
}

/** A refusal of a vendor of another shape. */
export function renderGeminiRefusal(refusal: UpstreamRefusal, requestId: string): string {
  const { status: code } = refusal;
  const details = [requestInfo(requestId)];
  return JSON.stringify({ error: { code, message: saidTooLong(refusal), status: statusWord(code), details } });
}

function requestInfo(requestId: string): JsonObject {
  return { "@type": `${typePrefix}RequestInfo`, requestId };
}

function saidTooLong({ message, contextLength }: Pick<UpstreamRefusal, "message" | "contextLength">): string {
  return contextLength && !tooLongPattern.test(message) ? `${tooLong} ${message}` : message;
}

export function upstreamErrorOf(error: unknown): Failure {
  return errorReported(error, errorText(error));
}

const typePrefix = "type.googleapis.com/google.rpc.";
/** The wordings of the Gemini API and of Vertex. */
const tooLongPattern = /input token count.{0,200}(?:exceeds|only supports)/is;
const tooLong = "The input token count exceeds the maximum number of tokens allowed.";

/** google.rpc.Code by HTTP status. Source: google/rpc/code.proto, "HTTP Mapping". */
const statusWords: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  402: "RESOURCE_EXHAUSTED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  405: "UNIMPLEMENTED",
  408: "DEADLINE_EXCEEDED",
  409: "ABORTED",
  429: "RESOURCE_EXHAUSTED",
  499: "CANCELLED",
  500: "INTERNAL",
  502: "UNAVAILABLE",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
  529: "UNAVAILABLE",
};

function statusWord(status: number): string {
  return statusWords[status] ?? (status >= 500 ? "INTERNAL" : "INVALID_ARGUMENT");
}

/** ErrorInfo's metadata is a map of strings. */
function metadataOf(failure: Failure): Readonly<Record<string, string>> {
  const out: Record<string, string> = {};
  for (const [name, value] of Object.entries(failure.details ?? {})) {
    if (value !== null && value !== undefined) out[name] = String(value);
  }
  return out;
}

function googleErrorOf(body: Uint8Array): JsonObject {
  try {
    const parsed: unknown = JSON.parse(decoder.decode(body));
    const reply = Array.isArray(parsed) ? (parsed[0] as unknown) : parsed;
    const error = objectOf(reply)["error"];
    return isObject(error) ? error : { message: error };
  } catch {
    return {};
  }
}

function reasonOf(error: JsonObject): string | null {
  for (const detail of arrayOf(error["details"])) {
    const reason = textOf(objectOf(detail)["reason"]);
    if (reason !== null) return reason;
  }
  return null;
}

const decoder = new TextDecoder();
