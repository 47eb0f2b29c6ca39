import { Failure } from "#core/index.ts";
import type { AnswerBody, Chance, Clock, OutboundAnswer, OutboundRequest } from "#ports/index.ts";
import { sentText } from "../outbound.ts";
import { SendingTransport } from "../sending-transport.ts";
import { type AnswerFormat, chatFormat, interactionsFormat, responsesFormat } from "./answer-formats.ts";

const encoder = new TextEncoder();

/** The result of one attempt, as the upstream knows it. */
export interface Served {
  readonly attemptId: string;
  readonly outputTokens: number;
  readonly complete: boolean;
}

/** A response that the upstream stores. */
interface StoredResponse {
  readonly tokens: number;
  readonly doneMs: number;
  readonly background: boolean;
  /** Its usage was sent, in an answer or in the last event of a stream. */
  wasSent: boolean;
  /** A stream of it was started and then given up by its reader. */
  stopped: boolean;
}

/**
 * A transport whose upstreams answer, fail, stall and break off according to a seed, on a fake clock. They support chat
 * completions, Responses and Interactions, and store responses. Their results are recorded for comparison with the ledger.
 */
export class SimulatedUpstream extends SendingTransport {
  readonly served: Served[] = [];
  readonly responses = new Map<string, StoredResponse>();
  /** Streams that were neither read to their end nor cancelled. */
  openStreams = 0;
  onSend: (request: OutboundRequest) => void = () => {};
  readonly #clock: Clock;
  readonly #chance: Chance;

  constructor(clock: Clock, chance: Chance) {
    super();
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
    return this.#make(request, formatOf(pathname), signal);
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

  #make(request: OutboundRequest, format: AnswerFormat, signal: AbortSignal): OutboundAnswer {
    const body = sentText(request.body);
    const tokens = 1 + Math.floor(this.#chance.unit() * 12);
    const background = body.includes('"background":true');
    const id = `resp_${this.#chance.unit().toString(36).slice(2)}`;
    const delayMs = background ? this.#chance.unit() * 1_500 : 0;
    const doneMs = this.#clock.monotonic() + delayMs;
    const stored: StoredResponse = { tokens, doneMs, background, wasSent: false, stopped: false };
    if (format === responsesFormat) this.responses.set(id, stored);
    if (body.includes('"stream":true')) return this.#stream(request, { format, id, stored }, signal);
    if (background) {
      this.#note(request, 0, true);
      return whole(format.unfinished(id));
    }
    stored.wasSent = true;
    this.#note(request, tokens, true);
    return whole(format.reply(id, tokens));
  }

  #show(
    request: OutboundRequest,
    target: { readonly id: string; readonly part: string | undefined; readonly streamed: boolean },
    signal: AbortSignal,
  ): OutboundAnswer {
    const { id, part, streamed } = target;
    const stored = this.responses.get(id);
    if (stored === undefined) return whole('{"error":{"message":"no such response"}}', 404);
    if (request.method === "DELETE") return whole(`{"id":"${id}","object":"response","deleted":true}`);
    if (part === "input_items") return whole('{"object":"list","data":[]}');
    if (streamed) return this.#stream(request, { format: responsesFormat, id, stored }, signal);
    if (this.#clock.monotonic() < stored.doneMs) return whole(responsesFormat.unfinished(id));
    stored.wasSent = true;
    return whole(responsesFormat.reply(id, stored.tokens));
  }

  #stream(
    request: OutboundRequest,
    { format, id, stored }: { readonly format: AnswerFormat; readonly id: string; readonly stored: StoredResponse },
    signal: AbortSignal,
  ): OutboundAnswer {
    const { tokens } = stored;
    const fault = this.#chance.unit();
    const cutAfter = fault < 0.3 ? Math.floor(this.#chance.unit() * tokens) : null;
    const brokenAfter = fault > 0.9 ? 1 + Math.floor(this.#chance.unit() * tokens) : null;
    const events = [...format.opening(id), ...Array.from({ length: tokens }, () => format.content)];
    const last = format.closing(id, tokens);
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
      if (!over && at > 0) stored.stopped = true;
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
        stored.wasSent = true;
        end(true);
        return encoder.encode(last);
      }
      if (event === format.content) sent++;
      return encoder.encode(sent === brokenAfter && event === format.content ? `data: {broken\n\n${event}` : event);
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
    const abort = (): void => {
      stop();
      reject(new Failure("client_closed", "aborted"));
    };
    const stop = this.#clock.after(ms, () => {
      signal.removeEventListener("abort", abort);
      resolve();
    });
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    return promise;
  }
}

function formatOf(pathname: string): AnswerFormat {
  if (pathname.endsWith("/responses")) return responsesFormat;
  return pathname.endsWith("/interactions") ? interactionsFormat : chatFormat;
}

function whole(text: string, status = 200, retryAfter?: string): OutboundAnswer {
  const bytes = encoder.encode(text);
  const body: AnswerBody = { read: async () => null, readAll: async () => bytes, cancel: () => {} };
  const more = retryAfter === undefined ? {} : { "retry-after": retryAfter };
  return { status, headers: new Headers({ "content-type": "application/json", ...more }), body };
}
