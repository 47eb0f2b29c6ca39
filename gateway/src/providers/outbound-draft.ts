import type { HeaderReader, Provider } from "#core/index.ts";
import type { OutboundMethod } from "#ports/index.ts";

/** A request to an upstream. `body` is null if there is none or it is streamed from elsewhere. */
export interface OutboundDraft {
  readonly provider: Provider;
  readonly upstreamModel: string;
  readonly stream: boolean;
  method: OutboundMethod;
  url: string;
  readonly headers: Record<string, string>;
  body: Uint8Array | null;
}

/** GET without model, stream or body by default. */
export function outboundDraft(
  provider: Provider,
  url: string,
  request: Partial<Omit<OutboundDraft, "provider" | "url">>,
): OutboundDraft {
  return { provider, url, upstreamModel: "", stream: false, method: "GET", headers: {}, body: null, ...request };
}

/** An upstream's refusal. */
export interface BadAnswer {
  readonly status: number;
  readonly headers: HeaderReader;
  readonly body: Uint8Array;
  /** Unix milliseconds, for a Retry-After date. */
  readonly now: number;
}
