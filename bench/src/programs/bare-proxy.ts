import { readSpec } from "./spec.ts";

/** A minimal proxy: the runtime's server and its fetch. Bodies are streamed in both directions. */
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
