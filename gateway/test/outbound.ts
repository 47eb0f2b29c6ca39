import type { OutboundRequest } from "#ports/index.ts";

/** A request of the relay to a loopback upstream, with timeouts that no test reaches. */
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

/** The text of a body that is not a stream. */
export function sentText(body: OutboundRequest["body"]): string {
  if (body === null || "open" in body) return "";
  return Buffer.concat(body instanceof Uint8Array ? [body] : body).toString();
}
