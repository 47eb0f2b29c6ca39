import type { OutboundBody, OutboundRequest } from "#ports/index.ts";
import { mayReachPrivate, networkOf, type OutboundDraft } from "#providers/index.ts";

/** The clocks of one request, and whether it may go on a kept connection. */
export interface RequestClocks {
  readonly connectMs: number;
  readonly headersMs: number;
  readonly totalMs: number;
  readonly ownConnection?: boolean;
}

/** A draft as the transport sends it: what the account's provider is allowed goes with it. */
export function outboundRequest(
  { method, url, headers, provider }: OutboundDraft,
  { connectMs, headersMs, totalMs, ownConnection = false }: RequestClocks,
  body: OutboundBody | null,
): OutboundRequest {
  const allowPrivateNetwork = mayReachPrivate(provider, url);
  const network = networkOf(provider);
  return { method, url, headers, body, connectMs, headersMs, totalMs, allowPrivateNetwork, ownConnection, network };
}
