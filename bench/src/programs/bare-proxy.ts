import { readSpec } from "./spec.ts";

/** A proxy of two lines: the runtime's server in front of its fetch. Bodies pass as they come, in both directions. */
interface BareProxySpec {
  readonly port: number;
  readonly upstreamPort: number;
}

const { port, upstreamPort } = readSpec<BareProxySpec>();
Bun.serve({
  hostname: "127.0.0.1",
  port,
  idleTimeout: 0,
  fetch: (request) =>
    fetch(`http://127.0.0.1:${upstreamPort}${new URL(request.url).pathname}`, {
      method: request.method,
      headers: request.headers,
      body: request.body,
    }),
});
