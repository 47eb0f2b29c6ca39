import type { Chance, Clock } from "#ports/index.ts";
import {
  type AnswerScript,
  answerWriters,
  type ScriptedEvent,
  type TrueUsage,
  type UpstreamDialect,
  type UsageReport,
  usageReports,
} from "./scripted-answers.ts";
import { seededChance } from "./seeded-chance.ts";

/** How an answer that began does not reach its end. */
type Break = "cut" | "close" | "stall" | "error";

/** How an upstream behaves for one request. */
type Behavior =
  | { readonly kind: "refuse" | "fail-late"; readonly status: number; readonly retryAfter: string | null }
  | { readonly kind: "unconnected" | "reset" | "silent" | "no-json" | "error-in-200" }
  | {
      readonly kind: "answer";
      readonly usageReport: UsageReport;
      /** The event, or the share of a whole answer's bytes, before which it breaks off. null: it does not. */
      readonly breaks: { readonly how: Break; readonly at: number } | null;
      readonly gapMs: number;
      /** Events arrive one by one, two at once, or in halves. */
      readonly bytes: "events" | "pairs" | "halves";
      readonly otherForm: boolean;
    };

/** One request as the upstream reported it, which the ledger is compared with. */
export interface Served {
  readonly attemptId: string;
  /** The number of the call, from its text. */
  readonly call: number;
  readonly provider: string;
  readonly behavior: Behavior;
  readonly streamed: boolean;
  readonly dialect: UpstreamDialect;
  readonly asksSearch: boolean;
  readonly sentMs: number;
  /** The charge for the whole answer. null: it made none. */
  usage: TrueUsage | null;
  usageReport: UsageReport | null;
  /** Bytes that the gateway has certainly read, with the monotonic time. */
  readonly read: { readonly ms: number; readonly event: ScriptedEvent }[];
  /** Its last event was read. */
  complete: boolean;
}

export const eventTokensMax = 9;
const piecesMax = 24;
const longPiecesMin = 130;
const encoder = new TextEncoder();

/**
 * The upstreams of one process of the gateway, without sockets. They answer, refuse, stall, break off and report odd
 * usage, according to the seeds of the calls, on a fake clock. They know what they did, even for calls of a killed
 * gateway.
 */
export class ScriptedUpstream {
  readonly served: Served[] = [];
  openStreams = 0;
  readonly #clock: Clock;
  readonly #turn: () => number;
  readonly #tries = new Map<number, number>();
  #alive = true;

  /**
   * `turn` returns a number that changes whenever time passes. A piece that is read and given up in the same instant
   * may be lost.
   */
  constructor(clock: Clock, turn: () => number) {
    this.#clock = clock;
    this.#turn = turn;
  }

  /** The gateway was killed: nothing continues or arrives anymore. */
  cut(): void {
    this.#alive = false;
  }

  async answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const text = await request.text();
    const call = Number(/call (\d+) seed (\d+)/.exec(text)?.[1]);
    const seed = Number(/call (\d+) seed (\d+)/.exec(text)?.[2]);
    const tryNumber = (this.#tries.get(call) ?? 0) + 1;
    this.#tries.set(call, tryNumber);
    const chance = seededChance(seed * 31 + tryNumber);
    if (!this.#alive) return await never();
    const dialect = dialectOf(url.pathname);
    const streamed = /"stream":\s*true/.test(text) || url.pathname.includes(":streamGenerate");
    const asksSearch = /"web_search|googleSearch/.test(text);
    const served: Served = {
      attemptId: request.headers.get("x-attempt-id") ?? "",
      call,
      provider: url.hostname,
      behavior: behaviorFor(chance, streamed),
      streamed,
      dialect,
      asksSearch,
      sentMs: this.#clock.monotonic(),
      usage: null,
      usageReport: null,
      read: [],
      complete: false,
    };
    this.served.push(served);
    await this.#wait(2 + chance.unit() * 120, request.signal);
    return await this.#act(served, chance, text.length, request.signal);
  }

  async #act(served: Served, chance: Chance, bytes: number, signal: AbortSignal): Promise<Response> {
    const { behavior, dialect } = served;
    switch (behavior.kind) {
      case "refuse":
        return refusal(behavior.status, behavior.retryAfter);
      case "fail-late":
        await this.#wait(chance.unit() * 300, signal);
        return refusal(behavior.status, behavior.retryAfter);
      case "unconnected":
        throw Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
      case "error-in-200":
        return json('{"error":{"message":"broken","type":"server_error","code":500}}');
      default:
    }
    const isLong = behavior.kind === "answer" && behavior.gapMs <= 30 && chance.unit() < 0.25;
    const count = isLong ? longPiecesMin + chance.unit() * longPiecesMin : chance.unit() * piecesMax;
    const pieces = Array.from({ length: 1 + Math.floor(count) }, () =>
      chance.unit() < 0.7 ? 1 : 5 + Math.floor(chance.unit() * (eventTokensMax - 4)),
    );
    // Never more tokens than bytes.
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
    if (behavior.kind === "reset") throw Object.assign(new Error("reset"), { code: "ECONNRESET" });
    if (behavior.kind === "silent") return await never();
    if (behavior.kind !== "answer") return json("<html>a proxy in between</html>");
    served.usageReport = behavior.usageReport;
    const malformedUsage = malformedUsages[Math.floor(chance.unit() * malformedUsages.length)] ?? '"lots"';
    const id = `up_${served.attemptId}`;
    const script: AnswerScript = { id, pieces, usage: served.usage, usageReport: behavior.usageReport, malformedUsage };
    const streams = served.streamed !== behavior.otherForm;
    return streams ? this.#stream(served, script, signal) : await this.#whole(served, script, chance, signal);
  }

  async #whole(served: Served, script: AnswerScript, chance: Chance, signal: AbortSignal): Promise<Response> {
    const { behavior } = served;
    if (behavior.kind !== "answer") throw new Error("no answer");
    await this.#wait(chance.unit() * 400, signal);
    const text = answerWriters[served.dialect].whole(script);
    const reported = reportsCorrectUsage(behavior.usageReport)
      ? { reportsInput: true as const, reportsUsage: true as const }
      : {};
    const whole: ScriptedEvent = { text, output: 0, last: true, ...reported };
    const half = Math.ceil(text.length / 2);
    const event = (piece: string, of: ScriptedEvent | null) => ({ text: piece, event: of });
    const pieces = behavior.breaks === null ? [event(text, whole)] : [event(text.slice(0, half), null)];
    const headers = { "content-type": "application/json" };
    return new Response(this.#body(served, pieces, behavior.breaks?.how ?? null, signal), { headers });
  }

  #stream(served: Served, script: AnswerScript, signal: AbortSignal): Response {
    const { behavior } = served;
    if (behavior.kind !== "answer") throw new Error("no answer");
    const writer = answerWriters[served.dialect];
    const all = writer.events(script);
    const { breaks } = behavior;
    const sentEvents = breaks === null ? all : all.slice(0, Math.min(breaks.at, all.length));
    let pieces: Piece[] = sentEvents.map((event) => ({ text: event.text, event }));
    // Readers do not read past the end.
    if (breaks?.how === "error" && breaks.at < all.length) pieces.push({ text: writer.error, event: null });
    if (behavior.bytes === "halves") {
      pieces = pieces.flatMap(({ text, event }) => [
        { text: text.slice(0, text.length >> 1), event: null },
        { text: text.slice(text.length >> 1), event },
      ]);
    } else if (behavior.bytes === "pairs") pieces = inPairs(pieces);
    const headers = { "content-type": "text/event-stream" };
    const how = breaks === null || breaks.how === "error" ? null : breaks.how;
    return new Response(this.#body(served, pieces, how, signal), { headers });
  }

  /**
   * A body that is read piece by piece. Pieces are made on demand, so when the next piece is requested, the last one
   * was read.
   */
  #body(served: Served, pieces: readonly Piece[], how: Break | null, signal: AbortSignal): ReadableStream<Uint8Array> {
    const { behavior } = served;
    const gapMs = behavior.kind === "answer" ? behavior.gapMs : 0;
    let at = 0;
    let offered: { readonly piece: Piece; readonly turn: number } | null = null;
    let isOver = false;
    this.openStreams++;
    const wasRead = (): void => {
      if (offered === null) return;
      for (const event of eventsIn(offered.piece)) {
        served.read.push({ ms: this.#clock.monotonic(), event });
        if (event.last === true) served.complete = true;
      }
      offered = null;
    };
    const end = (): void => {
      if (!isOver) this.openStreams--;
      isOver = true;
    };
    const abort = (): void => {
      // An offered piece arrived, unless its reader stopped in the same instant.
      if (offered !== null && offered.turn !== this.#turn()) wasRead();
      end();
    };
    signal.addEventListener("abort", abort, { once: true });
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      wasRead();
      await this.#wait(gapMs, null);
      if (isOver) return;
      const piece = pieces[at++];
      if (piece !== undefined) {
        offered = { piece, turn: this.#turn() };
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
    return new ReadableStream({ pull, cancel: abort }, { highWaterMark: 0 });
  }

  async #wait(ms: number, signal: AbortSignal | null): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stop = this.#clock.after(ms, resolve);
    const abort = (): void => {
      stop();
      reject(new Error("aborted"));
    };
    if (signal?.aborted === true) abort();
    else signal?.addEventListener("abort", abort, { once: true });
    await promise.finally(() => signal?.removeEventListener("abort", abort));
    if (!this.#alive) await never();
  }
}

interface Piece {
  readonly text: string;
  /** The event that this piece completes. A piece with two events has them in `more`. */
  readonly event: ScriptedEvent | null;
  readonly more?: readonly ScriptedEvent[];
}

function eventsIn({ event, more }: Piece): readonly ScriptedEvent[] {
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

/** Whether the usage that it reports at the end is correct. */
export function reportsCorrectUsage(usageReport: UsageReport | null): boolean {
  return usageReport !== null && usageReport !== "missing" && usageReport !== "malformed" && usageReport !== "half";
}

/** Usage values without information. */
const malformedUsages = ['"lots"', "null", "[]", "{}", "17", '{"prompt_tokens":-1,"completion_tokens":-5}', '{"a":{}}'];

const statuses = [400, 401, 404, 409, 429, 500, 503, 529] as const;

function behaviorFor(chance: Chance, streamed: boolean): Behavior {
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
    usageReport: chance.unit() < 0.5 ? "right" : pick(usageReports),
    breaks: breaks
      ? {
          how: pick(["cut", "close", "stall", ...(streamed ? (["error"] as const) : [])]),
          at: Math.floor(chance.unit() * 30),
        }
      : null,
    gapMs: pick([1, 5, 30, 30, 120, 450]),
    bytes: pick(["events", "events", "pairs", "halves"] as const),
    otherForm: chance.unit() < 0.04,
  };
}

function dialectOf(path: string): UpstreamDialect {
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
