import { bounds, Failure } from "#core/index.ts";
import { decodeText } from "../json/bytes.ts";
import { arrayOf, countOf, isObject, jsonBytes, objectOf, parseObject, textOf } from "../json/value.ts";
import { choiceError, isContextTooLong } from "./upstream-errors.ts";

/**
 * The failure for an error inside a stream or a successful answer. If its fields imply a status, it carries the refusal that the vendor
 * would have sent. `body` is the body of that refusal.
 */
export function reportedFailure(error: unknown, message: string, body: object = { error }): Failure {
  const { code, type } = objectOf(error);
  const reported = statusOf(error);
  const contextLength = isContextTooLong(reported, textOf(code) ?? textOf(type), message);
  const status = contextLength ? 400 : reported;
  const failure = new Failure("upstream_error", `The upstream reported an error: ${message}`, {
    retry: status === 400 || status === 413 ? "never" : "other",
    contextLength,
    unhealthy: status === null || !requestStatuses.has(status),
  });
  if (status === null) return failure;
  return failure.with({
    upstream: { status, contentType: "application/json", body: jsonBytes(body) },
  });
}

/** The error of a failed response. Null if the request itself is at fault or there is no error. */
export function failedResponse(reply: Uint8Array): Failure | null {
  const failed = reply.length > bounds.errorBodyBytesMax ? null : parseObject(reply);
  // Interactions have a list.
  const error = failed?.["error"] ?? arrayOf(failed?.["errors"])[0];
  if (!isObject(error)) return null;
  const failure = reportedFailure(error, textOf(error["message"]) ?? "unknown error");
  return failure.retry === "never" ? null : failure;
}

/** The failure for an error body with a successful status. */
export function errorInReply(reply: Uint8Array, message: string): Failure {
  const body = reply.length > bounds.errorBodyBytesMax ? null : parseObject(reply);
  if (body === null) return reportedFailure(null, message);
  const error = body["error"] ?? null;
  return error === null ? reportedFailure(choiceError(body), message) : reportedFailure(error, message, body);
}

/** The body of the upstream's refusal, already in the caller's dialect. Null for other failures. */
export function refusalBody({ upstream }: Failure): string | null {
  return upstream === undefined ? null : decodeText(upstream.body);
}

/** The status by number or by word. Messages are never read. */
function statusOf(error: unknown): number | null {
  if (!isObject(error)) return null;
  const { code, status, type } = error;
  for (const field of [code, status, type]) {
    const number = countOf(typeof field === "string" && /^[45]\d\d$/.test(field) ? Number(field) : field);
    if (number !== null && number >= 400 && number <= 599) return number;
  }
  for (const field of [code, status, type]) {
    const implied = statuses.get((textOf(field) ?? "").toLowerCase());
    if (implied !== undefined) return implied;
  }
  return null;
}

/** Errors of the request or its rate; they do not make an upstream unhealthy. */
const requestStatuses: ReadonlySet<number> = new Set([400, 403, 404, 409, 413, 422, 429]);

/** Sources: OpenAI's and Anthropic's "Errors", google/rpc/code.proto. */
const words: Readonly<Record<number, string>> = {
  400: "invalid_request_error invalid_prompt invalid_image invalid_image_format invalid_base64_image invalid_image_url image_too_large image_too_small image_parse_error image_content_policy_violation empty_image_file context_length_exceeded content_filter invalid_argument failed_precondition out_of_range",
  401: "authentication_error invalid_api_key invalid_authentication_error unauthenticated",
  402: "billing_error payment_required",
  403: "permission_error permission_denied",
  404: "not_found_error model_not_found not_found",
  409: "conflict_error aborted",
  413: "request_too_large",
  429: "rate_limit_error rate_limit_exceeded rate_limit_reached too_many_requests requests tokens insufficient_quota exceeded_current_quota_error usage_limit_reached resource_exhausted",
  500: "server_error api_error internal_error internal_server_error internal",
  503: "overloaded server_overloaded server_is_overloaded engine_overloaded slow_down service_unavailable service_unavailable_error unavailable",
  504: "timeout_error deadline_exceeded",
  529: "overloaded_error",
};
const statuses: ReadonlyMap<string, number> = new Map(
  Object.entries(words).flatMap(([status, names]) => names.split(" ").map((name) => [name, Number(status)] as const)),
);
