import { type HeaderFacts, Refusal } from "../dialect.ts";
import type { HeaderRow } from "../outlet.ts";
import type { SimulatorRequest } from "../request.ts";

export function arkHeaders({ requestId }: HeaderFacts): HeaderRow[] {
  return [["x-request-id", requestId]];
}

/** Ark's error body, which repeats the request id in the message. */
export function arkError({ status, message, code, param }: Refusal, requestId: string): string {
  const fallback = defaultErrors[status] ?? { type: "InternalServerError", code: "InternalServiceError" };
  const text = `${message} Request id: ${requestId}`;
  return JSON.stringify({
    error: { code: code ?? fallback.code, message: text, param: param ?? "", type: fallback.type },
  });
}

/** The data plane accepts API keys, not signatures. */
export function requireArkKey({ headers }: SimulatorRequest): string {
  const key = /^bearer\s+(\S+)$/i.exec(headers["authorization"] ?? "")?.[1];
  if (key !== undefined) return key;
  throw new Refusal(401, "The API key in the request is missing or invalid.", { code: "AuthenticationError" });
}

const defaultErrors: Readonly<Record<number, { readonly type: string; readonly code: string }>> = {
  400: { type: "BadRequest", code: "InvalidParameter" },
  401: { type: "Unauthorized", code: "AuthenticationError" },
  403: { type: "Forbidden", code: "AccessDenied" },
  404: { type: "NotFound", code: "InvalidEndpointOrModel.NotFound" },
  409: { type: "Conflict", code: "OperationDenied.InvalidState" },
  429: { type: "TooManyRequests", code: "AccountRateLimitExceeded" },
};
