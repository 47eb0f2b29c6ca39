import { asFailure, type Failure, retryAfter } from "#core/index.ts";

/** RFC 7644, 3.12, table 9. */
export type ScimType =
  | "invalidFilter"
  | "tooMany"
  | "uniqueness"
  | "mutability"
  | "invalidSyntax"
  | "invalidPath"
  | "noTarget"
  | "invalidValue"
  | "invalidVers";

/** An error with a SCIM error type, which the gateway's error codes cannot express. */
export class ScimProblem extends Error {
  override readonly name = "ScimProblem";
  readonly status: number;
  readonly scimType: ScimType | null;

  constructor(status: number, scimType: ScimType | null, detail: string) {
    super(detail);
    this.status = status;
    this.scimType = scimType;
  }
}

export function invalid(scimType: ScimType, detail: string): ScimProblem {
  return new ScimProblem(400, scimType, detail);
}

export const scimContentType = "application/scim+json; charset=utf-8";

/** Any thrown value in SCIM's error format. */
export function problemAnswer(thrown: unknown): Response {
  const { status, scimType, detail, retryAfterMs } = errorOf(thrown);
  const body = {
    schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"],
    ...(scimType === null ? {} : { scimType }),
    detail,
    status: String(status),
  };
  const response = new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": scimContentType, "cache-control": "no-store", ...retryAfter(retryAfterMs) },
  });
  if (status === 401) response.headers.set("www-authenticate", 'Bearer realm="SCIM"');
  return response;
}

function errorOf(thrown: unknown): {
  readonly status: number;
  readonly scimType: ScimType | null;
  readonly detail: string;
  readonly retryAfterMs?: number | undefined;
} {
  if (thrown instanceof ScimProblem)
    return { status: thrown.status, scimType: thrown.scimType, detail: thrown.message };
  const failure = asFailure(thrown);
  return {
    status: failure.status,
    scimType: typeOf(failure),
    detail: failure.message,
    retryAfterMs: failure.retryAfterMs,
  };
}

function typeOf({ code, param }: Failure): ScimType | null {
  if (code === "conflict") return param === null ? null : "uniqueness";
  if (code === "invalid_json") return "invalidSyntax";
  if (code !== "invalid_request") return null;
  return param === "filter" ? "invalidFilter" : "invalidValue";
}
