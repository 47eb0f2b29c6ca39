import type { OutboundRequest } from "#ports/index.ts";

/** A request as the relay would send it, to a loopback upstream, with clocks that no test reaches by chance. */
export function outbound(url: string, changes: Partial<OutboundRequest> = {}): OutboundRequest {
  return {
    method: "POST",
    url,
    headers: { "content-type": "application/json" },
    body: new TextEncoder().encode('{"model":"m"}'),
    connectMs: 5_000,
    headersMs: 60_000,
    totalMs: 600_000,
    allowPrivateNetwork: true,
    ...changes,
  };
}
