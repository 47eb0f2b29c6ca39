import { errorsShaped } from "./error-responses.ts";
import { headersOf } from "./headers.ts";
import type { JsonSchema, Operation, PathItem, Response } from "./types.ts";

/** Sign-in of coding agents: the device flow of RFC 8628, with refresh (RFC 6749) and revocation (RFC 7009). No key is needed. */
export function agentPaths(): Record<string, PathItem> {
  return {
    "/.well-known/oauth-authorization-server": {
      get: operation("getAgentMetadata", "Get the sign-in endpoints of agents (RFC 8414)", {
        "200": answer("The endpoints, and the version of the agents' gateway protocol.", {
          issuer: text,
          device_authorization_endpoint: text,
          token_endpoint: text,
          revocation_endpoint: text,
          grant_types_supported: texts,
          response_types_supported: texts,
          token_endpoint_auth_methods_supported: texts,
          scopes_supported: texts,
          gateway_protocol_version: { type: "integer" },
        }),
      }),
    },
    "/oauth/device_authorization": {
      post: {
        ...operation("authorizeDevice", "Start a device sign-in", {
          "200": answer("The person opens `verification_uri` and confirms `user_code`.", {
            device_code: text,
            user_code: text,
            verification_uri: text,
            verification_uri_complete: text,
            expires_in: { type: "integer", description: "Seconds." },
            interval: { type: "integer", description: "Seconds between two polls." },
          }),
          "429": oauthError("`slow_down`: too many sign-ins were started from this address."),
        }),
        requestBody: form({}, []),
      },
    },
    "/oauth/token": {
      post: {
        ...operation("issueTokens", "Poll for a device's tokens, or exchange a refresh token", {
          "200": answer("New tokens. The refresh token replaces the previous one.", {
            access_token: text,
            refresh_token: text,
            token_type: { type: "string", enum: ["Bearer"] },
            expires_in: { type: "integer", description: "Seconds." },
          }),
          "400": oauthError(
            "`authorization_pending`, `access_denied`, `expired_token`, `invalid_request` or `unsupported_grant_type`.",
          ),
          "401": oauthError("`invalid_grant`: the sign-in has ended, or its user may no longer call."),
          "429": oauthError("`slow_down`: polled sooner than `interval`."),
        }),
        requestBody: form({ grant_type: text, device_code: text, refresh_token: text }, ["grant_type"]),
      },
    },
    "/oauth/revoke": {
      post: {
        ...operation("revokeToken", "Revoke a sign-in by its access or refresh token", {
          "200": { description: "The sign-in has ended, or there was none.", headers: headersOf("plain") },
          "400": oauthError("`invalid_request`."),
        }),
        requestBody: form({ token: text, token_type_hint: text }, ["token"]),
      },
    },
    "/managed/settings": {
      get: keyed("getAgentSettings", "Get the coding agent settings of the caller's group", {
        "200": answer(
          "The settings, with an `etag`. The checksum is the SHA-256 of `settings` with sorted keys and no white space.",
          {
            uuid: text,
            checksum: text,
            settings: { type: "object" },
          },
        ),
        "304": { description: "Not modified: `if-none-match` equals the `etag`.", headers: headersOf("plain") },
      }),
    },
    "/user/bootstrap": {
      get: keyed("getAgentBootstrap", "Not supported, always 404: settings of the desktop app", {}),
    },
    "/api/oauth/usage": {
      get: keyed("getAgentSpend", "Get the spend and budgets of the caller's agents", {
        "200": answer("Amounts are in cents, utilization in percent. Days, weeks and months are in UTC.", {
          extra_usage: spend,
          limits: { type: "array", items: budget },
        }),
        ...errorsShaped("anthropic", 429),
      }),
    },
    "/protocol": {
      get: operation("getAgentProtocol", "Get the agents' gateway protocol as a document", {
        "200": {
          description: "Markdown.",
          headers: headersOf("plain"),
          content: { "text/markdown": { schema: text } },
        },
      }),
    },
    ...Object.fromEntries(
      ["metrics", "logs", "traces"].map((signal) => [
        `/v1/${signal}`,
        {
          post: keyed(
            `take_${signal}`,
            `Send agent ${signal} (OTLP over HTTP). Forwarded to the gateway's collector if it relays telemetry, otherwise dropped`,
            {
              "200": { description: "Always returned, also for invalid data.", headers: headersOf("plain") },
              ...errorsShaped("anthropic", 413),
            },
          ),
        },
      ]),
    ),
  };
}

const text: JsonSchema = { type: "string" };
const amount: JsonSchema = { type: "number" };
/** null: there is no budget, or its spending cannot be read now. */
const amountOrNull: JsonSchema = { type: ["number", "null"] };
const part: JsonSchema = {
  type: "object",
  properties: { limit: amountOrNull, used_credits: amount, utilization: amountOrNull },
};
const spend: JsonSchema = {
  type: "object",
  properties: {
    is_enabled: { type: "boolean" },
    monthly_limit: amountOrNull,
    used_credits: amount,
    utilization: amountOrNull,
    currency: text,
    daily: part,
    weekly: part,
  },
};
const budget: JsonSchema = {
  type: "object",
  properties: {
    kind: text,
    group: text,
    percent: amountOrNull,
    resets_at: { type: ["string", "null"] },
    severity: { type: "string", enum: ["normal", "warning", "critical"] },
    is_active: { type: "boolean" },
  },
};
const texts: JsonSchema = { type: "array", items: { type: "string" } };

function operation(operationId: string, summary: string, responses: Record<string, Response>): Operation {
  return { operationId, summary, tags: ["agents"], security: [], responses };
}

/** With a key, or the access token of a sign-in. */
function keyed(operationId: string, summary: string, responses: Operation["responses"]): Operation {
  return {
    operationId,
    summary,
    tags: ["agents"],
    responses: { ...responses, ...errorsShaped("anthropic", 401, 403, 404, 405, 500) },
  };
}

function answer(description: string, properties: Readonly<Record<string, JsonSchema>>): Response {
  return {
    description,
    headers: headersOf("plain"),
    content: { "application/json": { schema: { type: "object", properties, required: Object.keys(properties) } } },
  };
}

function oauthError(description: string): Response {
  const properties = { error: text, error_description: text };
  return {
    description,
    headers: headersOf("plain"),
    content: { "application/json": { schema: { type: "object", properties, required: ["error"] } } },
  };
}

function form(properties: Readonly<Record<string, JsonSchema>>, required: readonly string[]) {
  return {
    content: { "application/x-www-form-urlencoded": { schema: { type: "object", properties, required } } },
    required: required.length > 0,
  };
}
