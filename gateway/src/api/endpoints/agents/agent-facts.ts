import { bounds, Failure } from "#core/index.ts";
import { authenticated } from "../../authenticated.ts";
import { readBytes } from "../../body.ts";
import type { BodyRules } from "../../body-rules.ts";
import type { Endpoint, Exchange } from "../../dependencies.ts";
import { guardHeaders } from "./oauth-answer.ts";
import { protocolText } from "./protocol-text.ts";

export const settingsPath = "/managed/settings";
export const bootstrapPath = "/user/bootstrap";
export const protocolPath = "/protocol";
export const helloPath = "/api/hello";
export const telemetryPaths = ["/v1/metrics", "/v1/logs", "/v1/traces"] as const;

/** GET: what the caller's group says that agents are to be set to. 404: it says nothing, and an agent starts all the same. */
export const managedSettings: Endpoint = async (dependencies, exchange) => {
  const { group } = await authenticated(dependencies, exchange);
  const settings = await dependencies.agentSettings(group.id);
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

/** GET: the contract in words. */
export const protocol: Endpoint = (_dependencies, exchange) =>
  new Response(protocolText, {
    headers: { ...headersOf(exchange), "content-type": "text/markdown; charset=utf-8" },
  });

/** HEAD: whether there is anybody. */
export const hello: Endpoint = (_dependencies, exchange) =>
  new Response(null, { status: 200, headers: headersOf(exchange) });

/** POST: telemetry of agents (OTLP over HTTP). It is taken, whatever it is, and not kept. */
export const takeTelemetry: Endpoint = async (dependencies, exchange) => {
  await authenticated(dependencies, exchange);
  const place = dependencies.bodyRoom.open();
  try {
    await readBytes(exchange, place, telemetryBody);
  } finally {
    place.release();
  }
  return new Response(null, { status: 200, headers: headersOf(exchange) });
};

const telemetryBody: BodyRules = { bytesMax: bounds.agentTelemetryBytesMax, packed: false };

function headersOf({ requestId }: Pick<Exchange, "requestId">): Record<string, string> {
  return { "x-request-id": requestId, ...guardHeaders };
}
