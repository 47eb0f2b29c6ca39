import { errorReferences } from "./error-responses.ts";
import { headersOf } from "./headers.ts";
import type { Operation, PathItem, Response } from "./types.ts";

/** The paths outside /v1. None of them takes a key. */
export function controlPaths(): Record<string, PathItem> {
  return {
    "/healthz": { get: operation("getHealth", "Whether the process runs", { "200": plain("`ok`.") }) },
    "/readyz": {
      get: operation("getReadiness", "Whether the process takes calls", {
        "200": plain("`ready`."),
        "503": plain("One line that says why not: it is shutting down, say, or cannot write the ledger."),
      }),
    },
    "/metrics": {
      get: operation("getMetrics", "Metrics for Prometheus", {
        "200": { description: "Text format 0.0.4.", content: { "text/plain": { schema: { type: "string" } } } },
        "401": json("The installation has `SLUICE_METRICS_KEY`, and it was not sent as a bearer token.", "Error"),
      }),
    },
    "/openapi.json": {
      get: operation("getOpenApi", "This document", {
        "200": {
          description: "OpenAPI 3.1.",
          headers: headersOf("plain"),
          content: { "application/json": { schema: { type: "object" } } },
        },
      }),
    },
    "/api/status": {
      get: {
        ...operation("getStatus", "What the console needs to know before anyone has signed in", {
          "200": json("No secrets.", "Status"),
        }),
        tags: ["set-up"],
      },
    },
    "/api/setup": { post: setUp },
  };
}

function operation(operationId: string, summary: string, responses: Record<string, Response>): Operation {
  return { operationId, summary, tags: ["operations"], security: [], responses };
}

function plain(description: string): Response {
  return { description, content: { "text/plain": { schema: { type: "string" } } } };
}

function json(description: string, schema: string): Response {
  const content = { "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } };
  return { description, headers: headersOf("plain"), content };
}

const setUp: Operation = {
  operationId: "setUp",
  summary: "Create the first administrator",
  description: [
    "Works once, with the token of the link that the gateway prints while there is no administrator. Ten tries in fifteen",
    "minutes from one address. A browser may call it only from the gateway's own origin.",
  ].join("\n"),
  tags: ["set-up"],
  security: [],
  requestBody: {
    required: true,
    content: { "application/json": { schema: { $ref: "#/components/schemas/SetupRequest" } } },
  },
  responses: {
    "201": json("The administrator exists now; the token is used up.", "SetupAnswer"),
    ...errorReferences(400, 403, 413, 415, 429, 500),
  },
};
