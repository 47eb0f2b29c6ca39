import { Failure } from "#core/index.ts";
import type { AnswerBody, Chance, Clock, OutboundAnswer, OutboundRequest, Transport } from "#ports/index.ts";

const encoder = new TextEncoder();

/** What one attempt met, as the upstream saw it. */
export interface Served {
  readonly attemptId: string;
  readonly outputTokens: number;
  readonly complete: boolean;
}

/**
 * A transport whose upstreams answer, fail, stall and break off as a seed says, in the time of a fake clock. It
 * notes what it served, to be compared with the ledger.
 */
export class PretendedUpstream implements Transport {
  readonly served: Served[] = [];
  onSend: (request: OutboundRequest) => void = () => {};
  readonly #clock: Clock;
  readonly #chance: Chance;

  constructor(clock: Clock, chance: Chance) {
    this.#clock = clock;
    this.#chance = chance;
  }

  async send(request: OutboundRequest, signal: AbortSignal): Promise<OutboundAnswer> {
    this.onSend(request);
    const attemptId = request.headers["x-attempt-id"] ?? "";
    const body = request.body instanceof Uint8Array ? request.body : new Uint8Array();
    const stream = new TextDecoder().decode(body).includes('"stream":true');
    await this.#wait(5 + this.#chance.unit() * 200, signal);
    const lot = this.#chance.unit();
    if (lot < 0.08) throw new Failure("upstream_unreachable", "refused", { retry: "same", unwell: true });
    if (lot < 0.12) throw new Failure("upstream_timeout", "headers", { retry: "other", unwell: true });
    if (lot < 0.2) return this.#whole(attemptId, 500, '{"error":{"message":"broken"}}', 0, false);
    if (lot < 0.26) return this.#whole(attemptId, 429, '{"error":{"message":"slow down"}}', 0, false, "1");
    if (lot < 0.3) return this.#whole(attemptId, 400, '{"error":{"message":"bad"}}', 0, false);
    const tokens = 1 + Math.floor(this.#chance.unit() * 12);
    if (!stream) return this.#whole(attemptId, 200, reply(tokens), tokens, true);
    const cutAfter = this.#chance.unit() < 0.3 ? Math.floor(this.#chance.unit() * tokens) : null;
    return {
      status: 200,
      headers: new Headers({ "content-type": "text/event-stream" }),
      body: this.#stream(attemptId, tokens, cutAfter, signal),
    };
  }

  #whole(
    attemptId: string,
    status: number,
    body: string,
    tokens: number,
    complete: boolean,
    retryAfter?: string,
  ): OutboundAnswer {
    this.served.push({ attemptId, outputTokens: tokens, complete });
    const bytes = encoder.encode(body);
    return {
      status,
      headers: new Headers({
        "content-type": "application/json",
        ...(retryAfter === undefined ? {} : { "retry-after": retryAfter }),
      }),
      body: { read: async () => null, readAll: async () => bytes, cancel: () => {} },
    };
  }

  #stream(attemptId: string, tokens: number, cutAfter: number | null, signal: AbortSignal): AnswerBody {
    let sent = 0;
    let over = false;
    const end = (complete: boolean): void => {
      if (over) return;
      over = true;
      this.served.push({ attemptId, outputTokens: sent, complete });
    };
    const read = async (): Promise<Uint8Array | null> => {
      if (over) return null;
      await this.#wait(1 + this.#chance.unit() * 40, signal).catch((thrown: unknown) => {
        end(false);
        throw thrown;
      });
      if (over) return null;
      if (sent === cutAfter) {
        end(false);
        if (this.#chance.unit() < 0.4) return null;
        throw new Failure("upstream_truncated", "cut", { retry: "other", unwell: true });
      }
      if (sent === tokens) {
        end(true);
        return encoder.encode(`${usageEvent(tokens)}data: [DONE]\n\n`);
      }
      sent++;
      return encoder.encode(contentEvent);
    };
    return { read, readAll: async () => (await read()) ?? new Uint8Array(), cancel: () => end(false) };
  }

  #wait(ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const gone = (): void => {
      stop();
      reject(new Failure("client_closed", "gone"));
    };
    const stop = this.#clock.after(ms, () => {
      signal.removeEventListener("abort", gone);
      resolve();
    });
    if (signal.aborted) gone();
    else signal.addEventListener("abort", gone, { once: true });
    return promise;
  }
}

export const inputTokens = 10;

const contentEvent = 'data: {"choices":[{"index":0,"delta":{"content":"word"},"finish_reason":null}]}\n\n';

const usageOf = (tokens: number): string => `{"prompt_tokens":${inputTokens},"completion_tokens":${tokens}}`;

const usageEvent = (tokens: number): string => `data: {"choices":[],"usage":${usageOf(tokens)}}\n\n`;

const reply = (tokens: number): string =>
  `{"choices":[{"index":0,"message":{"content":"x"},"finish_reason":"stop"}],"usage":${usageOf(tokens)}}`;
