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

export const metrics: Endpoint = async (dependencies) =>
  new Response(await dependencies.metricsText(), {
    headers: { "content-type": dependencies.metricsType, "cache-control": "no-store" },
  });
