import { createHash } from "node:crypto";
import { Failure, isSameText } from "#core/index.ts";
import type { Endpoint } from "../dependencies.ts";

const plain = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" };

/** Liveness: the process answers. */
export const healthz: Endpoint = () => new Response("ok\n", { headers: plain });

/**
 * Readiness: the database is open, the journal is writable, the process is not draining. An unreachable limit counter is only reported:
 * every process lacks it, and calls without limits or with `fail: open` still work.
 */
export const readyz: Endpoint = ({ dependencies }) => {
  const reason = dependencies.unready();
  if (reason !== null) return new Response(`${reason}\n`, { status: 503, headers: plain });
  const remark = dependencies.remark();
  return new Response(remark === null ? "ready\n" : `ready, but ${remark}\n`, { headers: plain });
};

/** Throws invalid_api_key if a metrics key is configured and was not sent. */
export const metrics: Endpoint = async ({ dependencies, request }) => {
  const { metricsKey } = dependencies;
  const sent = /^bearer +(.+)$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";
  if (metricsKey !== null && !isSameText(digestOf(sent), digestOf(metricsKey.reveal()))) {
    throw new Failure("invalid_api_key", "Metrics require a key. Send SLUICE_METRICS_KEY as a bearer token.");
  }
  return new Response(await dependencies.metricsText(), {
    headers: { "content-type": dependencies.metricsType, "cache-control": "no-store" },
  });
};

/** HEAD /: clients warm up their connection with it and ignore the answer. */
export const root: Endpoint = () => new Response(null);

/** An operator chose the key, so its length must stay secret too. */
function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
