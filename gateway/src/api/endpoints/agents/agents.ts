import { wholeOf } from "#bodies/index.ts";
import { bounds, Failure, nanoToUsd } from "#core/index.ts";
import { withKey } from "../../authenticated.ts";
import { readBytes, readPieces, withPlace } from "../../body.ts";
import type { Endpoint } from "../../dependencies.ts";
import { originOf } from "../../request-parts.ts";
import { agentAnswer } from "./sign-in.ts";

const protocolText = `# Gateway protocol of coding agents, version 1

This gateway signs in programs on behalf of people (RFC 8628) and serves them as it serves callers with keys.

| endpoint | credential | purpose |
|---|---|---|
| GET /.well-known/oauth-authorization-server | none | addresses of the endpoints below (RFC 8414) |
| POST /oauth/device_authorization | none | starts a sign-in: device_code, user_code, verification_uri, expires_in, interval |
| POST /oauth/token | device code or refresh token | form: grant_type (device_code or refresh_token). Errors: authorization_pending, slow_down (429), access_denied, expired_token, invalid_grant (401) |
| POST /oauth/revoke | token | form: token. Always 200 (RFC 7009) |
| POST /v1/messages, /v1/messages/count_tokens, and every other endpoint of /v1 | bearer | model calls |
| GET /v1/models | bearer | models that the user may call |
| GET /managed/settings | bearer | uuid, checksum and settings of the user's group, with an ETag; 304 if If-None-Match is equal; 404 if there are none |
| POST /v1/metrics, /v1/logs, /v1/traces | bearer | OTLP over HTTP: accepted |
| GET /user/bootstrap | bearer | 404: no settings for the desktop app |
| GET /api/oauth/usage | bearer | spend of the user's agents and every budget that applies: cents and percent |
| HEAD /, HEAD /api/hello | none | 200 |

A refused bearer token is answered with 401 and x-should-retry: false. Every answer has an x-request-id.
`;

/** GET: the agent settings of the caller's group. On 404 an agent starts without any. */
export const managedSettings = withKey(async (exchange, { group }) => {
  const settings = await exchange.dependencies.agentSettings(group.id, originOf(exchange));
  if (settings === null) throw new Failure("not_found", "No settings are managed for this group.");
  const { checksum, text } = settings;
  // An agent without settings sends the hash of an empty text: only an equal value matches, and `*` does not.
  if (exchange.request.headers.get("if-none-match") === `"${checksum}"`) return agentAnswer(304, null);
  return agentAnswer(200, `{"uuid":"${checksum}","checksum":"${checksum}","settings":${text}}`, {
    "content-type": "application/json",
    etag: `"${checksum}"`,
    "cache-control": "no-store",
    vary: "User-Agent",
  });
});

/** GET: settings of the desktop app, which the gateway does not manage. The app accepts a 404. */
export const userBootstrap = withKey(() => {
  throw new Failure("not_found", "Nothing is managed for the desktop app.");
});

export const protocol: Endpoint = () =>
  agentAnswer(200, protocolText, { "content-type": "text/markdown; charset=utf-8" });

/** HEAD: a check that the gateway answers. */
export const hello: Endpoint = () => agentAnswer(200, null);

/** POST: telemetry of agents (OTLP over HTTP). The answer is 200 even for bad telemetry: a refused agent repeats it until it exits. */
export const takeTelemetry = withKey(async (exchange, principal) => {
  const { path, request, dependencies } = exchange;
  const { agentTelemetry } = dependencies;
  const signal = (["metrics", "logs", "traces"] as const).find((each) => path === `/v1/${each}`);
  const rules = { bytesMax: bounds.agentTelemetryBytesMax, packed: true };
  try {
    await withPlace(exchange, principal, async (place) => {
      if (agentTelemetry === null || signal === undefined || !agentTelemetry.takes(signal)) {
        await readBytes(exchange, place, rules);
        return;
      }
      const body = await readPieces(exchange, place, rules);
      const isJson = request.headers.get("content-type")?.includes("json") === true;
      agentTelemetry.take({ signal, isJson, body: wholeOf(body).slice(), principal });
    });
  } catch (thrown) {
    if (!(thrown instanceof Failure) || !unreadable.has(thrown.code)) throw thrown;
  }
  return agentAnswer(200, null);
});

/** Failures of a body that cannot be decompressed. */
const unreadable: ReadonlySet<string> = new Set(["invalid_request", "invalid_json", "unsupported_media_type"]);

/**
 * GET: the spend of the caller's agents and every budget that applies, in the format of Claude Code's gateways: amounts in cents,
 * shares in percent, the tightest budget first and active.
 */
export const getSpend = withKey(async ({ dependencies }, principal) => {
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
  const part = (period: "day" | "week") => {
    const cap = caps.find((each) => each.period === period);
    return {
      limit: cap?.cents ?? null,
      used_credits: centsOf(spent[period]),
      utilization: cap?.percent ?? null,
    };
  };
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
    limits: caps.map(({ period, percent, resetsAt }, index) => ({
      kind: "spend",
      group: groups[period] ?? period,
      percent,
      resets_at: resetsAt,
      severity: severityOf(percent ?? 0),
      is_active: index === 0,
    })),
  };
  const headers = { "content-type": "application/json;charset=utf-8", "cache-control": "no-store" };
  return agentAnswer(200, JSON.stringify(body), headers);
});

const groups: Readonly<Record<string, string>> = { day: "daily", week: "weekly", month: "monthly" };

/** `percent`: the part of a budget that is spent. */
function severityOf(percent: number): "normal" | "warning" | "critical" {
  if (percent >= 100) return "critical";
  return percent >= 75 ? "warning" : "normal";
}

/** A budget of zero is spent from the start. */
function percentOf(used: number, limit: number): number {
  return limit <= 0 ? 100 : Math.round((used / limit) * 10_000) / 100;
}

function centsOf(nanoUsd: number): number {
  return Math.round(nanoToUsd(nanoUsd) * 10_000) / 100;
}
