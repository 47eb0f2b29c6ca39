import { errorsShaped } from "./error-responses.ts";
import { headersOf } from "./headers.ts";
import type { JsonSchema, Operation, PathItem, Response } from "./types.ts";

/** Sign-in of coding agents: the device flow of RFC 8628, with refresh (RFC 6749) and revocation (RFC 7009). No key is needed. */
export function agentPaths(): Record<string, PathItem> {
  return {
    "/.well-known/oauth-authorization-server": {
      get: operation("getAgentMetadata", "Where agents sign in (RFC 8414)", {
        "200": answer("The endpoints, and the version of the contract for gateways.", {
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
        ...operation("authorizeDevice", "Begin a sign-in: a code for the device, and one for its person", {
          "200": answer("The person opens `verification_uri` and confirms `user_code`.", {
            device_code: text,
            user_code: text,
            verification_uri: text,
            verification_uri_complete: text,
            expires_in: { type: "integer", description: "Seconds." },
            interval: { type: "integer", description: "Seconds between two polls." },
          }),
          "429": oauthError("`slow_down`: too many sign-ins were begun from this address."),
        }),
        requestBody: form({}, []),
      },
    },
    "/oauth/token": {
      post: {
        ...operation("issueTokens", "Poll for a device's tokens, or exchange a refresh token", {
          "200": answer("The refresh token replaces the one before.", {
            access_token: text,
            refresh_token: text,
            token_type: { type: "string", enum: ["Bearer"] },
            expires_in: { type: "integer", description: "Seconds." },
          }),
          "400": oauthError(
            "`authorization_pending`, `access_denied`, `expired_token`, `invalid_request` or `unsupported_grant_type`.",
          ),
          "401": oauthError("`invalid_grant`: the sign-in has ended, or its person may no longer call."),
          "429": oauthError("`slow_down`: polled sooner than `interval`."),
        }),
        requestBody: form({ grant_type: text, device_code: text, refresh_token: text }, ["grant_type"]),
      },
    },
    "/oauth/revoke": {
      post: {
        ...operation("revokeToken", "End a sign-in by either of its tokens", {
          "200": { description: "It has ended, or there was none.", headers: headersOf("plain") },
          "400": oauthError("`invalid_request`."),
        }),
        requestBody: form({ token: text, token_type_hint: text }, ["token"]),
      },
    },
    "/managed/settings": {
      get: keyed("getAgentSettings", "What the caller's group sets coding agents to", {
        "200": answer(
          "With an `etag`; the checksum is the SHA-256 of `settings` with sorted keys and no white space.",
          {
            uuid: text,
            checksum: text,
            settings: { type: "object" },
          },
        ),
        "304": { description: "`if-none-match` is the `etag`.", headers: headersOf("plain") },
      }),
    },
    "/user/bootstrap": { get: keyed("getAgentBootstrap", "For the desktop app: nothing is managed for it, 404", {}) },
    "/api/oauth/usage": {
      get: keyed("getAgentSpend", "What the person's agents have spent, and every budget over them", {
        "200": answer("Amounts in cents, shares in percent; days, weeks and months in UTC.", {
          extra_usage: spend,
          limits: { type: "array", items: budget },
        }),
        ...errorsShaped("anthropic", 429),
      }),
    },
    "/protocol": {
      get: operation("getAgentProtocol", "The contract of coding agents in words", {
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
            `Telemetry of agents (OTLP over HTTP): ${signal}. It is passed on to the gateway's collector, or dropped`,
            {
              "200": { description: "Whatever was sent.", headers: headersOf("plain") },
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
/** null: there is no budget, or what it has spent cannot be read now. */
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
