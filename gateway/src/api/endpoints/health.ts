import type { Endpoint } from "../dependencies.ts";

const plain = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" };

/** The process is alive. */
export const healthz: Endpoint = () => new Response("ok\n", { headers: plain });

/** The process can take calls: database open, journal writable, not draining. */
export const readyz: Endpoint = (dependencies) => {
  const reason = dependencies.unready();
  return new Response(reason === null ? "ready\n" : `${reason}\n`, {
    status: reason === null ? 200 : 503,
    headers: plain,
  });
};

export const metrics: Endpoint = async (dependencies) =>
  new Response(await dependencies.metricsText(), {
    headers: { "content-type": dependencies.metricsType, "cache-control": "no-store" },
  });
