import { Failure } from "#core/index.ts";
import type { AnswerBody, Chance, Clock, OutboundAnswer, OutboundRequest, Transport } from "#ports/index.ts";
import { chatSpeaker, responsesSpeaker, type Speaker } from "./pretended-speakers.ts";

const encoder = new TextEncoder();

/** What one attempt met, as the upstream saw it. */
export interface Served {
  readonly attemptId: string;
  readonly outputTokens: number;
  readonly complete: boolean;
}

/** An answer that the upstream keeps. */
interface Kept {
  readonly tokens: number;
  readonly doneMs: number;
  readonly background: boolean;
  /** Its usage has left the upstream, in a reply or as the last event of a stream. */
  shown: boolean;
  /** A stream of it that had begun was given up by whoever read it. */
  stopped: boolean;
}

/**
 * A transport whose upstreams answer, fail, stall and break off as a seed says, in the time of a fake clock. They speak chat
 * completions and Responses, and keep the answers of the latter. It notes what it served, to be compared with the ledger.
 */
export class PretendedUpstream implements Transport {
  readonly served: Served[] = [];
  readonly kept = new Map<string, Kept>();
  /** Streams that were neither read to their end nor told to stop. */
  openStreams = 0;
  onSend: (request: OutboundRequest) => void = () => {};
  readonly #clock: Clock;
  readonly #chance: Chance;

  constructor(clock: Clock, chance: Chance) {
    this.#clock = clock;
    this.#chance = chance;
  }

  async send(request: OutboundRequest, signal: AbortSignal): Promise<OutboundAnswer> {
    const { pathname, searchParams } = new URL(request.url);
    const [id, part] = pathname.split("/responses/")[1]?.split("/") ?? [];
    if (id === undefined) this.onSend(request);
    await this.#wait(5 + this.#chance.unit() * 200, signal);
    const accountFault = this.#trouble(request);
    if (accountFault !== null) return accountFault;
    if (id !== undefined) return this.#show(request, { id, part, streamed: searchParams.has("stream") }, signal);
    return this.#make(request, pathname.endsWith("/responses") ? responsesSpeaker : chatSpeaker, signal);
  }

  #trouble(request: OutboundRequest): OutboundAnswer | null {
    const lot = this.#chance.unit();
    if (lot < 0.08) throw new Failure("upstream_unreachable", "refused", { retry: "same", unhealthy: true });
    if (lot < 0.12) throw new Failure("upstream_timeout", "headers", { retry: "other", unhealthy: true });
    const refused = (status: number, message: string, retryAfter?: string): OutboundAnswer => {
      this.#note(request, 0, false);
      return whole(`{"error":{"message":"${message}"}}`, status, retryAfter);
    };
    if (lot < 0.2) return refused(500, "broken");
    if (lot < 0.26) return refused(429, "slow down", "1");
    return lot < 0.3 ? refused(400, "bad") : null;
  }

  #make(request: OutboundRequest, speaker: Speaker, signal: AbortSignal): OutboundAnswer {
    const body = new TextDecoder().decode(request.body instanceof Uint8Array ? request.body : new Uint8Array());
    const tokens = 1 + Math.floor(this.#chance.unit() * 12);
    const background = body.includes('"background":true');
    const id = `resp_${this.#chance.unit().toString(36).slice(2)}`;
    const delayMs = background ? this.#chance.unit() * 1_500 : 0;
    const doneMs = this.#clock.monotonic() + delayMs;
    const kept: Kept = { tokens, doneMs, background, shown: false, stopped: false };
    if (speaker === responsesSpeaker) this.kept.set(id, kept);
    if (body.includes('"stream":true')) return this.#stream(request, { speaker, id, kept }, signal);
    if (background) {
      this.#note(request, 0, true);
      return whole(speaker.unfinished(id));
    }
    kept.shown = true;
    this.#note(request, tokens, true);
    return whole(speaker.reply(id, tokens));
  }

  #show(
    request: OutboundRequest,
    asked: { readonly id: string; readonly part: string | undefined; readonly streamed: boolean },
    signal: AbortSignal,
  ): OutboundAnswer {
    const { id, part, streamed } = asked;
    const kept = this.kept.get(id);
    if (kept === undefined) return whole('{"error":{"message":"no such response"}}', 404);
    if (request.method === "DELETE") return whole(`{"id":"${id}","object":"response","deleted":true}`);
    if (part === "input_items") return whole('{"object":"list","data":[]}');
    if (streamed) return this.#stream(request, { speaker: responsesSpeaker, id, kept }, signal);
    if (this.#clock.monotonic() < kept.doneMs) return whole(responsesSpeaker.unfinished(id));
    kept.shown = true;
    return whole(responsesSpeaker.reply(id, kept.tokens));
  }

  #stream(
    request: OutboundRequest,
    { speaker, id, kept }: { readonly speaker: Speaker; readonly id: string; readonly kept: Kept },
    signal: AbortSignal,
  ): OutboundAnswer {
    const { tokens } = kept;
    const fault = this.#chance.unit();
    const cutAfter = fault < 0.3 ? Math.floor(this.#chance.unit() * tokens) : null;
    const brokenAfter = fault > 0.9 ? 1 + Math.floor(this.#chance.unit() * tokens) : null;
    const events = [...speaker.opening(id), ...Array.from({ length: tokens }, () => speaker.content)];
    const last = speaker.closing(id, tokens);
    let at = 0;
    let sent = 0;
    let over = false;
    this.openStreams++;
    const end = (complete: boolean): void => {
      if (over) return;
      over = true;
      this.openStreams--;
      this.#note(request, sent, complete);
    };
    const giveUp = (): void => {
      if (!over && at > 0) kept.stopped = true;
      end(false);
    };
    const read = async (): Promise<Uint8Array | null> => {
      if (over) return null;
      await this.#wait(1 + this.#chance.unit() * 40, signal).catch((thrown: unknown) => {
        giveUp();
        throw thrown;
      });
      if (over) throw new Failure("client_closed", "stopped");
      if (sent === cutAfter) {
        end(false);
        if (this.#chance.unit() < 0.4) return null;
        throw new Failure("upstream_truncated", "cut", { retry: "other", unhealthy: true });
      }
      const event = events[at++];
      if (event === undefined) {
        kept.shown = true;
        end(true);
        return encoder.encode(last);
      }
      if (event === speaker.content) sent++;
      return encoder.encode(sent === brokenAfter && event === speaker.content ? `data: {broken\n\n${event}` : event);
    };
    return {
      status: 200,
      headers: new Headers({ "content-type": "text/event-stream" }),
      body: { read, readAll: async () => (await read()) ?? new Uint8Array(), cancel: giveUp },
    };
  }

  #note(request: OutboundRequest, outputTokens: number, complete: boolean): void {
    const attemptId = request.headers["x-attempt-id"];
    if (attemptId !== undefined) this.served.push({ attemptId, outputTokens, complete });
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

function whole(text: string, status = 200, retryAfter?: string): OutboundAnswer {
  const bytes = encoder.encode(text);
  const body: AnswerBody = { read: async () => null, readAll: async () => bytes, cancel: () => {} };
  const more = retryAfter === undefined ? {} : { "retry-after": retryAfter };
  return { status, headers: new Headers({ "content-type": "application/json", ...more }), body };
}
