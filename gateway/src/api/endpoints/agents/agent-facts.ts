import { wholeOf } from "#bodies/index.ts";
import { bounds, Failure, nanoToUsd } from "#core/index.ts";
import { authenticated } from "../../authenticated.ts";
import { type BodyRules, readBytes, readPieces } from "../../body.ts";
import type { Endpoint, Exchange } from "../../dependencies.ts";
import { originOf } from "../../request-parts.ts";
import { guardHeaders } from "./sign-in.ts";

const protocolText = `# Gateway protocol of coding agents, version 1

This gateway signs programs in as people (RFC 8628) and serves them as it serves callers with keys.

| endpoint | who | what |
|---|---|---|
| GET /.well-known/oauth-authorization-server | anybody | where the following are (RFC 8414) |
| POST /oauth/device_authorization | anybody | begins a sign-in: device_code, user_code, verification_uri, expires_in, interval |
| POST /oauth/token | a device | form: grant_type (device_code or refresh_token). Errors: authorization_pending, slow_down (429), access_denied, expired_token, invalid_grant (401) |
| POST /oauth/revoke | a device | form: token. Always 200 (RFC 7009) |
| POST /v1/messages, /v1/messages/count_tokens, and every other endpoint of /v1 | bearer | calls of models |
| GET /v1/models | bearer | the models that the person may call |
| GET /managed/settings | bearer | uuid, checksum, settings of the person's group, with an ETag; 304 for an equal If-None-Match; 404 where there are none |
| POST /v1/metrics, /v1/logs, /v1/traces | bearer | OTLP over HTTP: taken |
| GET /user/bootstrap | bearer | 404: nothing is managed for the desktop app |
| GET /api/oauth/usage | bearer | what the person's agents have spent and every budget over them: cents and percent |
| HEAD /, HEAD /api/hello | anybody | 200 |

A refused bearer is 401 with x-should-retry: false. Every answer has an x-request-id.
`;

const telemetrySignals = ["metrics", "logs", "traces"] as const;

/** GET: what the caller's group says that agents are to be set to. 404: it says nothing, and an agent starts all the same. */
export const managedSettings: Endpoint = async (dependencies, exchange) => {
  const { group } = await authenticated(dependencies, exchange);
  const settings = await dependencies.agentSettings(group.id, originOf(dependencies, exchange));
  if (settings === null) throw new Failure("not_found", "No settings are managed for this group.");
  const { checksum, text } = settings;
  // An agent sends the hash of nothing before it has anything: only the very same value is a match, and `*` is none.
  if (exchange.request.headers.get("if-none-match") === `"${checksum}"`) {
    return new Response(null, { status: 304, headers: headersOf(exchange) });
  }
  return new Response(`{"uuid":"${checksum}","checksum":"${checksum}","settings":${text}}`, {
    headers: {
      ...headersOf(exchange),
      "content-type": "application/json",
      etag: `"${checksum}"`,
      "cache-control": "no-store",
      vary: "User-Agent",
    },
  });
};

/** GET: what the desktop app would be told. Nobody can say so yet, and the app takes 404 for that. */
export const userBootstrap: Endpoint = async (dependencies, exchange) => {
  await authenticated(dependencies, exchange);
  throw new Failure("not_found", "Nothing is managed for the desktop app.");
};

export const protocol: Endpoint = (_dependencies, exchange) =>
  new Response(protocolText, {
    headers: { ...headersOf(exchange), "content-type": "text/markdown; charset=utf-8" },
  });

/** HEAD: whether there is anybody. */
export const hello: Endpoint = (_dependencies, exchange) =>
  new Response(null, { status: 200, headers: headersOf(exchange) });

/**
 * POST: telemetry of agents (OTLP over HTTP). Whatever it is, the answer is 200, before anything is done with it: an agent that is refused
 * tries again for the rest of its run.
 */
export const takeTelemetry: Endpoint = async (dependencies, exchange) => {
  const principal = await authenticated(dependencies, exchange);
  const { agentTelemetry } = dependencies;
  const signal = telemetrySignals.find((each) => exchange.path === `/v1/${each}`);
  const place = dependencies.memory.open(principal, "request");
  try {
    if (agentTelemetry === null || signal === undefined || !agentTelemetry.takes(signal)) {
      await readBytes(exchange, place, droppedTelemetry);
    } else {
      const body = await readPieces(dependencies, exchange, place, relayedTelemetry);
      const isJson = exchange.request.headers.get("content-type")?.includes("json") === true;
      agentTelemetry.take({ signal, isJson, body: wholeOf(body).slice(), principal });
    }
  } catch (thrown) {
    // Packed in a way that nobody can unpack.
    if (!(thrown instanceof Failure) || !junk.has(thrown.code)) throw thrown;
  } finally {
    place.release();
  }
  return new Response(null, { status: 200, headers: headersOf(exchange) });
};

const junk: ReadonlySet<string> = new Set(["invalid_request", "invalid_json", "unsupported_media_type"]);
const droppedTelemetry: BodyRules = { bytesMax: bounds.agentTelemetryBytesMax, packed: false };
const relayedTelemetry: BodyRules = { bytesMax: bounds.agentTelemetryBytesMax, packed: true };

function headersOf({ requestId }: Pick<Exchange, "requestId">): Record<string, string> {
  return { "x-request-id": requestId, ...guardHeaders };
}

/**
 * GET: what the person's agents have spent, and every budget over them, as a gateway of Claude Code tells it: amounts in cents,
 * shares in percent, the tightest budget first and active.
 */
export const getSpend: Endpoint = async (dependencies, exchange) => {
  const principal = await authenticated(dependencies, exchange);
  const [spent, statuses] = await Promise.all([
    dependencies.periodSpend(principal),
    dependencies.limitUsage(principal),
  ]);
  const caps = statuses
    .filter(({ kind }) => kind === "budget")
    .map(({ period, limit, used, resets_at }) => ({
      period: period ?? "total",
      cents: limit * 100,
      percent: used === null ? null : percentOf(used, limit),
      resetsAt: resets_at === null ? null : new Date(resets_at * 1_000).toISOString(),
    }))
    .sort((one, other) => (other.percent ?? -1) - (one.percent ?? -1));
  const active = caps[0];
  const capOf = (period: string) => caps.find((cap) => cap.period === period);
  const part = (period: "day" | "week") => ({
    limit: capOf(period)?.cents ?? null,
    used_credits: centsOf(spent[period]),
    utilization: capOf(period)?.percent ?? null,
  });
  const body = {
    extra_usage: {
      is_enabled: true,
      monthly_limit: active?.cents ?? null,
      used_credits: centsOf(spent.month),
      utilization: active?.percent ?? null,
      currency: "USD",
      daily: part("day"),
      weekly: part("week"),
    },
    limits: caps.map(({ period, percent, resetsAt }, place) => ({
      kind: "spend",
      group: groups[period] ?? period,
      percent,
      resets_at: resetsAt,
      severity: severityOf(percent ?? 0),
      is_active: place === 0,
    })),
  };
  return Response.json(body, { headers: { ...headersOf(exchange), "cache-control": "no-store" } });
};

const groups: Readonly<Record<string, string>> = { day: "daily", week: "weekly", month: "monthly" };

/** From these shares of a budget on. */
function severityOf(percent: number): "normal" | "warning" | "critical" {
  if (percent >= 100) return "critical";
  return percent >= 75 ? "warning" : "normal";
}

/** A budget of nothing is spent from the start. */
function percentOf(used: number, limit: number): number {
  return limit <= 0 ? 100 : Math.round((used / limit) * 10_000) / 100;
}

function centsOf(nanoUsd: number): number {
  return Math.round(nanoToUsd(nanoUsd) * 10_000) / 100;
}
