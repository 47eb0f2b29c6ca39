import { createHash } from "node:crypto";
import { Failure, isSameText } from "#core/index.ts";
import type { Endpoint } from "../dependencies.ts";

const plain = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" };

/** The process is alive. */
export const healthz: Endpoint = () => new Response("ok\n", { headers: plain });

/**
 * The process can take calls: database open, journal writable, not draining. A counter of limits that is away is only told of:
 * it is away from every process, and calls without limits, or with such as say `fail: open`, are still answered.
 */
export const readyz: Endpoint = (dependencies) => {
  const reason = dependencies.unready();
  if (reason !== null) return new Response(`${reason}\n`, { status: 503, headers: plain });
  const remark = dependencies.remark();
  return new Response(remark === null ? "ready\n" : `ready, but ${remark}\n`, { headers: plain });
};

/** Throws `invalid_api_key` where they have a key that is not sent. */
export const metrics: Endpoint = async (dependencies, { request }) => {
  const { metricsKey } = dependencies;
  const sent = /^bearer +(.+)$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";
  if (metricsKey !== null && !isSameText(digestOf(sent), digestOf(metricsKey.reveal()))) {
    throw new Failure("invalid_api_key", "Metrics need their key: send SLUICE_METRICS_KEY as a bearer token.");
  }
  return new Response(await dependencies.metricsText(), {
    headers: { "content-type": dependencies.metricsType, "cache-control": "no-store" },
  });
};

/** HEAD / : clients warm up their connection with it and do not look at the answer. */
export const root: Endpoint = (_dependencies, { requestId }) =>
  new Response(null, { status: 200, headers: { "x-request-id": requestId } });

/** An operator chose the key, so its length is hidden too. */
function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
