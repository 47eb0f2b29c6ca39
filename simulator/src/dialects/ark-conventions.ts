import { type HeaderFacts, Refusal } from "../dialect.ts";
import type { HeaderRow } from "../outlet.ts";
import type { SimulatorRequest } from "../request.ts";

export function arkHeaders({ requestId }: HeaderFacts): HeaderRow[] {
  return [["x-request-id", requestId]];
}

/** Ark's error body: the request's id is in the text too. */
export function arkError({ status, message, code, param }: Refusal, requestId: string): string {
  const usual = usualErrors[status] ?? { type: "InternalServerError", code: "InternalServiceError" };
  const text = `${message} Request id: ${requestId}`;
  return JSON.stringify({ error: { code: code ?? usual.code, message: text, param: param ?? "", type: usual.type } });
}

/** The data plane takes API keys and no signatures. */
export function requireArkKey({ headers }: SimulatorRequest): string {
  const key = /^bearer\s+(\S+)$/i.exec(headers["authorization"] ?? "")?.[1];
  if (key !== undefined) return key;
  throw new Refusal(401, "The API key in the request is missing or invalid.", { code: "AuthenticationError" });
}

const usualErrors: Readonly<Record<number, { readonly type: string; readonly code: string }>> = {
  400: { type: "BadRequest", code: "InvalidParameter" },
  401: { type: "Unauthorized", code: "AuthenticationError" },
  403: { type: "Forbidden", code: "AccessDenied" },
  404: { type: "NotFound", code: "InvalidEndpointOrModel.NotFound" },
  409: { type: "Conflict", code: "OperationDenied.InvalidState" },
  429: { type: "TooManyRequests", code: "AccountRateLimitExceeded" },
};
