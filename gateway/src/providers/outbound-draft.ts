import type { HeaderReader, Provider } from "#core/index.ts";
import type { OutboundMethod } from "#ports/index.ts";

/** A request that is about to be sent. `body` is null for one without, or one that is streamed from elsewhere. */
export interface OutboundDraft {
  readonly provider: Provider;
  readonly upstreamModel: string;
  readonly stream: boolean;
  method: OutboundMethod;
  url: string;
  readonly headers: Record<string, string>;
  body: Uint8Array | null;
}

/** A draft with the usual values: GET without a model, a stream or a body. */
export function outboundDraft(
  provider: Provider,
  url: string,
  request: Partial<Omit<OutboundDraft, "provider" | "url">>,
): OutboundDraft {
  return { provider, url, upstreamModel: "", stream: false, method: "GET", headers: {}, body: null, ...request };
}

/** An upstream's refusal, with what little of it is safe and useful to read. */
export interface BadAnswer {
  readonly status: number;
  readonly headers: HeaderReader;
  readonly body: Uint8Array;
  /** Unix milliseconds, to read a Retry-After date. */
  readonly now: number;
}
