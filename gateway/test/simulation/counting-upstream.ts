import { Failure } from "#core/index.ts";
import type { AnswerBody, Chance, Clock, OutboundAnswer, OutboundRequest } from "#ports/index.ts";
import { sentText } from "../outbound.ts";
import { SendingTransport } from "../sending-transport.ts";

/** The real output of one attempt, and the charge of its upstream. */
export interface MadeAnswer {
  readonly attemptId: string;
  outputTokens: number;
  /** Its last event was sent, with its usage. */
  complete: boolean;
}

const encoder = new TextEncoder();
export const upstreamInputTokens = 10;

/**
 * Upstreams that make up to some hundred tokens, whole or as a stream with several tokens per event, and never more
 * than requested. Some refuse, cut off or fail to connect. They know what they made, even for calls of a killed
 * gateway.
 */
export class CountingUpstream extends SendingTransport {
  readonly made = new Map<string, MadeAnswer>();
  openStreams = 0;
  /** The highest number of tokens in one event, which a stream may make before anyone reads them. */
  static readonly eventTokensMax = 40;
  readonly #clock: Clock;
  readonly #chance: Chance;
  #alive = true;

  constructor(clock: Clock, chance: Chance) {
    super();
    this.#clock = clock;
    this.#chance = chance;
  }

  /** The gateway was killed: nothing continues or arrives anymore. */
  cut(): void {
    this.#alive = false;
  }

  async send(request: OutboundRequest, signal: AbortSignal): Promise<OutboundAnswer> {
    const { text, model } = bodyOf(request);
    await this.#wait(5 + this.#chance.unit() * 150, signal);
    const lot = this.#chance.unit();
    if (lot < 0.06)
      throw new Failure("upstream_unreachable", "refused", { retry: "same", unhealthy: true, arrival: "unsent" });
    if (lot < 0.12) return whole('{"error":{"message":"broken"}}', 500);
    if (lot < 0.16) return whole('{"error":{"message":"slow down"}}', 429);
    const requested = Number(/"max_tokens":(\d+)/.exec(text)?.[1] ?? outputMaxOf(model));
    const tokens = 1 + Math.floor(this.#chance.unit() * requested);
    const made: MadeAnswer = { attemptId: request.headers["x-attempt-id"] ?? "", outputTokens: 0, complete: false };
    this.made.set(made.attemptId, made);
    if (text.includes('"stream":true')) return this.#stream(made, tokens, signal);
    await this.#wait(this.#chance.unit() * 300, signal);
    made.outputTokens = tokens;
    made.complete = true;
    return whole(
      `{"choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}],"usage":${usage(tokens)}}`,
    );
  }

  #stream(made: MadeAnswer, tokens: number, signal: AbortSignal): OutboundAnswer {
    const cutAt = this.#chance.unit() < 0.2 ? Math.floor(this.#chance.unit() * tokens) : null;
    let isOver = false;
    this.openStreams++;
    const end = (): void => {
      if (!isOver) this.openStreams--;
      isOver = true;
    };
    const read = async (): Promise<Uint8Array | null> => {
      if (isOver) return null;
      await this.#wait(1 + this.#chance.unit() * 30, signal).catch((thrown: unknown) => {
        end();
        throw thrown;
      });
      if (isOver) throw new Failure("client_closed", "stopped");
      if (cutAt !== null && made.outputTokens >= cutAt) {
        end();
        throw new Failure("upstream_truncated", "cut", { retry: "other", unhealthy: true });
      }
      const more = Math.min(
        tokens - made.outputTokens,
        1 + Math.floor(this.#chance.unit() * CountingUpstream.eventTokensMax),
      );
      if (more === 0) {
        end();
        made.complete = true;
        return encoder.encode(lastEvents(tokens));
      }
      made.outputTokens += more;
      // Four bytes per token, so that a piece's length counts as its tokens.
      return encoder.encode(
        `data: {"choices":[{"index":0,"delta":{"content":"${"word".repeat(more)}"},"finish_reason":null}]}\n\n`,
      );
    };
    const body: AnswerBody = { read, readAll: async () => (await read()) ?? new Uint8Array(), cancel: end };
    return { status: 200, headers: new Headers({ "content-type": "text/event-stream" }), body };
  }

  async #wait(ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onClose = (): void => {
      stop();
      reject(new Failure("client_closed", "aborted"));
    };
    const stop = this.#clock.after(ms, resolve);
    if (signal.aborted) onClose();
    else signal.addEventListener("abort", onClose, { once: true });
    await promise.finally(() => signal.removeEventListener("abort", onClose));
    if (!this.#alive) await new Promise(() => {});
  }
}

/** `chat-500` makes at most five hundred tokens. */
export function outputMaxOf(model: string): number {
  return Number(model.split("-")[1]);
}

function bodyOf(request: OutboundRequest): { readonly text: string; readonly model: string } {
  const text = sentText(request.body);
  return { text, model: /"model":"([^"]+)"/.exec(text)?.[1] ?? "" };
}

const usage = (tokens: number): string =>
  `{"prompt_tokens":${upstreamInputTokens},"completion_tokens":${tokens},"total_tokens":${upstreamInputTokens + tokens}}`;

function lastEvents(tokens: number): string {
  return `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: {"choices":[],"usage":${usage(tokens)}}\n\ndata: [DONE]\n\n`;
}

function whole(text: string, status = 200): OutboundAnswer {
  const bytes = encoder.encode(text);
  const body: AnswerBody = { read: async () => null, readAll: async () => bytes, cancel: () => {} };
  return { status, headers: new Headers({ "content-type": "application/json" }), body };
}
