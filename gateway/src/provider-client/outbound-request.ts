import type { OutboundBody, OutboundRequest } from "#ports/index.ts";
import { mayReachPrivate, networkOf, type OutboundDraft } from "#providers/index.ts";

/** Timeouts of one request. `ownConnection`: do not reuse a kept connection. */
export interface RequestClocks {
  readonly connectMs: number;
  readonly headersMs: number;
  readonly totalMs: number;
  readonly ownConnection?: boolean;
  /** See OutboundRequest. */
  readonly beforeSending?: (() => void) | undefined;
}

/** Adds the account's network settings to a draft. */
export function outboundRequest(
  { method, url, headers, provider }: OutboundDraft,
  { connectMs, headersMs, totalMs, ownConnection = false, beforeSending }: RequestClocks,
  body: OutboundBody | null,
): OutboundRequest {
  const allowPrivateNetwork = mayReachPrivate(provider, url);
  const network = networkOf(provider);
  return {
    method,
    url,
    headers,
    body,
    connectMs,
    headersMs,
    totalMs,
    allowPrivateNetwork,
    ownConnection,
    network,
    beforeSending,
  };
}
