import { errorReferences } from "./error-responses.ts";
import { headersOf } from "./headers.ts";
import type { Operation, PathItem, Response } from "./types.ts";

/** The paths outside /v1, none of which needs a key. */
export function controlPaths(): Record<string, PathItem> {
  return {
    "/healthz": { get: operation("getHealth", "Check that the process runs", { "200": plain("`ok`.") }) },
    "/readyz": {
      get: operation("getReadiness", "Check that the process accepts calls", {
        "200": plain("`ready`."),
        "503": plain("One line with the reason, such as shutting down or a ledger that cannot be written."),
      }),
    },
    "/metrics": {
      get: operation("getMetrics", "Get metrics for Prometheus", {
        "200": {
          description: "Prometheus text format 0.0.4.",
          content: { "text/plain": { schema: { type: "string" } } },
        },
        "401": json("`SLUICE_METRICS_KEY` is set and was not sent as a bearer token.", "Error"),
      }),
    },
    "/openapi.json": {
      get: operation("getOpenApi", "Get this document", {
        "200": {
          description: "OpenAPI 3.1.",
          headers: headersOf("plain"),
          content: { "application/json": { schema: { type: "object" } } },
        },
      }),
    },
    "/api/status": {
      get: {
        ...operation("getStatus", "Get the public status of the installation", {
          "200": json("Data for the console before sign-in. Contains no secrets.", "Status"),
        }),
        tags: ["setup"],
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
    "Works once, with the setup token from the link that the gateway prints while there is no administrator. Limited to ten",
    "attempts in fifteen minutes per address. A browser may call it only from the gateway's own origin.",
  ].join("\n"),
  tags: ["setup"],
  security: [],
  requestBody: {
    required: true,
    content: { "application/json": { schema: { $ref: "#/components/schemas/SetupRequest" } } },
  },
  responses: {
    "201": json("The administrator was created. The setup token no longer works.", "SetupAnswer"),
    ...errorReferences(400, 403, 413, 415, 429, 500),
  },
};
