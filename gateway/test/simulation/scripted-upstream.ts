import type { Chance, Clock } from "#ports/index.ts";
import { seededChance } from "./seeded-chance.ts";
import {
  type SaidEvent,
  type Saying,
  type SpokenDialect,
  type Telling,
  type TrueUsage,
  tellings,
  voices,
} from "./upstream-voices.ts";

/** How an answer that has begun does not come to its end. */
type Break = "cut" | "close" | "stall" | "error";

/** What an upstream does with one request. */
type Deed =
  | { readonly kind: "refuse" | "fail-late"; readonly status: number; readonly retryAfter: string | null }
  | { readonly kind: "unconnected" | "reset" | "silent" | "no-json" | "error-in-200" }
  | {
      readonly kind: "answer";
      readonly telling: Telling;
      /** Before which event, or share of a whole answer's bytes, it breaks off; null: it does not. */
      readonly breaks: { readonly how: Break; readonly at: number } | null;
      readonly gapMs: number;
      /** Events come two at once, or in halves. */
      readonly bytes: "events" | "pairs" | "halves";
      readonly unasked: boolean;
    };

/** One request as the upstream saw it: the truth that the ledger is compared with. */
export interface Served {
  readonly attemptId: string;
  /** The number of the call, which stands in its text. */
  readonly call: number;
  readonly provider: string;
  readonly deed: Deed;
  readonly streamed: boolean;
  readonly dialect: SpokenDialect;
  readonly asksSearch: boolean;
  readonly sentMs: number;
  /** What it would charge for the whole of it; null: nothing was made. */
  usage: TrueUsage | null;
  telling: Telling | null;
  /** What the gateway had read for certain, with the monotonic time. */
  readonly read: { readonly ms: number; readonly event: SaidEvent }[];
  /** Its last word was read. */
  complete: boolean;
}

export const eventTokensMax = 9;
const piecesMax = 24;
const longPiecesMin = 130;
const encoder = new TextEncoder();

/**
 * The upstreams of one process of the gateway, without a socket: they answer, refuse, stall, break off and tell odd things of
 * what was used, as the seeds of the calls say, in the time of a fake clock. They know what they did, also of calls whose
 * gateway died.
 */
export class ScriptedUpstream {
  readonly served: Served[] = [];
  openStreams = 0;
  readonly #clock: Clock;
  readonly #turn: () => number;
  readonly #tries = new Map<number, number>();
  #alive = true;

  /** `turn`: a number that changes whenever time passes. What is read and given up in the same instant may be lost. */
  constructor(clock: Clock, turn: () => number) {
    this.#clock = clock;
    this.#turn = turn;
  }

  /** The gateway is gone: nothing goes on, and nothing is heard any more. */
  cut(): void {
    this.#alive = false;
  }

  async answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const text = await request.text();
    const call = Number(/call (\d+) seed (\d+)/.exec(text)?.[1]);
    const seed = Number(/call (\d+) seed (\d+)/.exec(text)?.[2]);
    const tried = (this.#tries.get(call) ?? 0) + 1;
    this.#tries.set(call, tried);
    const chance = seededChance(seed * 31 + tried);
    if (!this.#alive) return await never();
    const dialect = dialectOf(url.pathname);
    const streamed = /"stream":\s*true/.test(text) || url.pathname.includes(":streamGenerate");
    const asksSearch = /"web_search|googleSearch/.test(text);
    const served: Served = {
      attemptId: request.headers.get("x-attempt-id") ?? "",
      call,
      provider: url.hostname,
      deed: deedOf(chance, streamed),
      streamed,
      dialect,
      asksSearch,
      sentMs: this.#clock.monotonic(),
      usage: null,
      telling: null,
      read: [],
      complete: false,
    };
    this.served.push(served);
    await this.#wait(2 + chance.unit() * 120, request.signal);
    return await this.#act(served, chance, text.length, request.signal);
  }

  async #act(served: Served, chance: Chance, bytes: number, signal: AbortSignal): Promise<Response> {
    const { deed, dialect } = served;
    switch (deed.kind) {
      case "refuse":
        return refusal(deed.status, deed.retryAfter);
      case "fail-late":
        await this.#wait(chance.unit() * 300, signal);
        return refusal(deed.status, deed.retryAfter);
      case "unconnected":
        throw Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
      case "error-in-200":
        return json('{"error":{"message":"broken","type":"server_error","code":500}}');
      default:
    }
    const isLong = deed.kind === "answer" && deed.gapMs <= 30 && chance.unit() < 0.25;
    const count = isLong ? longPiecesMin + chance.unit() * longPiecesMin : chance.unit() * piecesMax;
    const pieces = Array.from({ length: 1 + Math.floor(count) }, () =>
      chance.unit() < 0.7 ? 1 : 5 + Math.floor(chance.unit() * (eventTokensMax - 4)),
    );
    // Never more tokens than there are bytes.
    const input = 1 + Math.floor((bytes / 2) * chance.unit());
    const cacheRead = chance.unit() < 0.3 ? Math.floor(input * chance.unit()) : 0;
    const written = dialect === "gemini" || chance.unit() < 0.7 ? 0 : Math.floor((input - cacheRead) * chance.unit());
    served.usage = {
      inputUncached: input - cacheRead - written,
      cacheRead,
      cacheWrite5m: written,
      output: pieces.reduce((sum, tokens) => sum + tokens, 0),
      webSearches: served.asksSearch ? 1 + Math.floor(chance.unit() * 3) : 0,
    };
    if (deed.kind === "reset") throw Object.assign(new Error("reset"), { code: "ECONNRESET" });
    if (deed.kind === "silent") return await never();
    if (deed.kind !== "answer") return json("<html>a proxy in between</html>");
    served.telling = deed.telling;
    const nonsense = nonsenses[Math.floor(chance.unit() * nonsenses.length)] ?? '"lots"';
    const id = `up_${served.attemptId}`;
    const saying: Saying = { id, pieces, usage: served.usage, telling: deed.telling, nonsense };
    const streams = served.streamed !== deed.unasked;
    return streams ? this.#stream(served, saying, signal) : await this.#whole(served, saying, chance, signal);
  }

  async #whole(served: Served, saying: Saying, chance: Chance, signal: AbortSignal): Promise<Response> {
    const { deed } = served;
    if (deed.kind !== "answer") throw new Error("no answer");
    await this.#wait(chance.unit() * 400, signal);
    const text = voices[served.dialect].whole(saying);
    const knows = tellsTruly(deed.telling) ? { tellsInput: true as const, tellsAll: true as const } : {};
    const whole: SaidEvent = { text, output: 0, last: true, ...knows };
    const half = Math.ceil(text.length / 2);
    const event = (piece: string, of: SaidEvent | null) => ({ text: piece, event: of });
    const pieces = deed.breaks === null ? [event(text, whole)] : [event(text.slice(0, half), null)];
    const headers = { "content-type": "application/json" };
    return new Response(this.#body(served, pieces, deed.breaks?.how ?? null, signal), { headers });
  }

  #stream(served: Served, saying: Saying, signal: AbortSignal): Response {
    const { deed } = served;
    if (deed.kind !== "answer") throw new Error("no answer");
    const voice = voices[served.dialect];
    const all = voice.events(saying);
    const { breaks } = deed;
    const kept = breaks === null ? all : all.slice(0, Math.min(breaks.at, all.length));
    let pieces: Piece[] = kept.map((event) => ({ text: event.text, event }));
    // Nobody reads on behind the end.
    if (breaks?.how === "error" && breaks.at < all.length) pieces.push({ text: voice.error, event: null });
    if (deed.bytes === "halves") {
      pieces = pieces.flatMap(({ text, event }) => [
        { text: text.slice(0, text.length >> 1), event: null },
        { text: text.slice(text.length >> 1), event },
      ]);
    } else if (deed.bytes === "pairs") pieces = inPairs(pieces);
    const headers = { "content-type": "text/event-stream" };
    const how = breaks === null || breaks.how === "error" ? null : breaks.how;
    return new Response(this.#body(served, pieces, how, signal), { headers });
  }

  /** Read a piece at a time. Nothing is made before it is asked for, so what was asked for twice was read once. */
  #body(served: Served, pieces: readonly Piece[], how: Break | null, signal: AbortSignal): ReadableStream<Uint8Array> {
    const { deed } = served;
    const gapMs = deed.kind === "answer" ? deed.gapMs : 0;
    let at = 0;
    let given: { readonly piece: Piece; readonly turn: number } | null = null;
    let over = false;
    this.openStreams++;
    const wasRead = (): void => {
      if (given === null) return;
      for (const event of eventsIn(given.piece)) {
        served.read.push({ ms: this.#clock.monotonic(), event });
        if (event.last === true) served.complete = true;
      }
      given = null;
    };
    const end = (): void => {
      if (!over) this.openStreams--;
      over = true;
    };
    const gone = (): void => {
      // What was given and not asked beyond arrived, unless whoever read it left in that very instant.
      if (given !== null && given.turn !== this.#turn()) wasRead();
      end();
    };
    signal.addEventListener("abort", gone, { once: true });
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      wasRead();
      await this.#wait(gapMs, null);
      if (over) return;
      const piece = pieces[at++];
      if (piece !== undefined) {
        given = { piece, turn: this.#turn() };
        controller.enqueue(encoder.encode(piece.text));
        if (at === pieces.length && how === null) {
          controller.close();
          end();
          wasRead();
        }
        return;
      }
      if (how === "stall") return await never();
      end();
      if (how === "cut") controller.error(new Error("cut"));
      else controller.close();
    };
    return new ReadableStream({ pull, cancel: gone }, { highWaterMark: 0 });
  }

  async #wait(ms: number, signal: AbortSignal | null): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stop = this.#clock.after(ms, resolve);
    const gone = (): void => {
      stop();
      reject(new Error("gone"));
    };
    if (signal?.aborted === true) gone();
    else signal?.addEventListener("abort", gone, { once: true });
    await promise.finally(() => signal?.removeEventListener("abort", gone));
    if (!this.#alive) await never();
  }
}

interface Piece {
  readonly text: string;
  /** What is complete with it; two at once are in `more`. */
  readonly event: SaidEvent | null;
  readonly more?: readonly SaidEvent[];
}

function eventsIn({ event, more }: Piece): readonly SaidEvent[] {
  return [...(event === null ? [] : [event]), ...(more ?? [])];
}

function inPairs(pieces: readonly Piece[]): Piece[] {
  const pairs: Piece[] = [];
  for (let at = 0; at < pieces.length; at += 2) {
    const two = pieces.slice(at, at + 2);
    pairs.push({ text: two.map(({ text }) => text).join(""), event: null, more: two.flatMap(eventsIn) });
  }
  return pairs;
}

/** Whether what it says at the end is what was used. */
export function tellsTruly(telling: Telling | null): boolean {
  return telling !== null && telling !== "missing" && telling !== "malformed" && telling !== "half";
}

/** Usages that say nothing. */
const nonsenses = ['"lots"', "null", "[]", "{}", "17", '{"prompt_tokens":-1,"completion_tokens":-5}', '{"a":{}}'];

const statuses = [400, 401, 404, 409, 429, 500, 503, 529] as const;

function deedOf(chance: Chance, streamed: boolean): Deed {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(chance.unit() * list.length)] as T;
  const lot = chance.unit();
  if (lot < 0.12) {
    const status = pick(statuses);
    return { kind: "refuse", status, retryAfter: status === 429 && chance.unit() < 0.5 ? "1" : null };
  }
  if (lot < 0.16) return { kind: "fail-late", status: pick([500, 502, 503]), retryAfter: null };
  if (lot < 0.28) return { kind: pick(["unconnected", "reset", "silent", "no-json", "error-in-200"] as const) };
  const breaks = chance.unit() < 0.35;
  return {
    kind: "answer",
    telling: chance.unit() < 0.5 ? "right" : pick(tellings),
    breaks: breaks
      ? {
          how: pick(["cut", "close", "stall", ...(streamed ? (["error"] as const) : [])]),
          at: Math.floor(chance.unit() * 30),
        }
      : null,
    gapMs: pick([1, 5, 30, 30, 120, 450]),
    bytes: pick(["events", "events", "pairs", "halves"] as const),
    unasked: chance.unit() < 0.04,
  };
}

function dialectOf(path: string): SpokenDialect {
  if (path.endsWith("/chat/completions")) return "openai-chat";
  if (path.endsWith("/messages")) return "anthropic-messages";
  return path.endsWith("/responses") ? "openai-responses" : "gemini";
}

function json(text: string): Response {
  return new Response(text, { headers: { "content-type": "application/json" } });
}

function refusal(status: number, retryAfter: string | null): Response {
  const headers = new Headers({ "content-type": "application/json" });
  if (retryAfter !== null) headers.set("retry-after", retryAfter);
  return new Response('{"error":{"message":"not now","type":"error"}}', { status, headers });
}

function never(): Promise<never> {
  return new Promise(() => {});
}
