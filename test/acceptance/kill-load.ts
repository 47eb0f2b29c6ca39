import type { Script } from "@sluice/simulator";
import { chat } from "./chat-call.ts";

/** A call as its caller experienced it. */
export interface CallRecord {
  /** Null if there was no answer. */
  readonly requestId: string | null;
  readonly stream: boolean;
  /** A complete answer or [DONE] arrived. */
  readonly finished: boolean;
  /** Content events that arrived. */
  readonly delivered: number;
}

/** Callers that continue even while the gateway is killed, with whole and streamed calls; some abort during the answer. */
export class KillLoad {
  readonly #urls: readonly string[];
  readonly #clients: number;
  readonly #abortShare: number;
  readonly #failShare: number;
  readonly #calls: CallRecord[] = [];
  #state: number;
  #served = 0;
  #failures = 0;
  #stopped = false;

  /** `urls`: interchangeable gateways; each call goes to a random one. */
  constructor(
    urls: readonly string[],
    options: {
      readonly clients: number;
      readonly abortShare: number;
      readonly seed: number;
      /** The share of calls that the upstream refuses on the first attempt, so that there is a second one. Default 0. */
      readonly failShare?: number;
    },
  ) {
    this.#urls = urls;
    this.#clients = options.clients;
    this.#abortShare = options.abortShare;
    this.#failShare = options.failShare ?? 0;
    this.#state = options.seed >>> 0;
  }

  /** Resolves when every caller has stopped, after `stop` was called. */
  async run(): Promise<readonly CallRecord[]> {
    await Promise.all(Array.from({ length: this.#clients }, () => this.#client()));
    return this.#calls;
  }

  /** How many calls have ended, successfully or not. */
  get made(): number {
    return this.#calls.length;
  }

  /** How many calls received a complete answer. */
  get finished(): number {
    return this.#calls.filter(({ finished }) => finished).length;
  }

  /** How many calls were answered with a success status, even if the caller aborted afterwards. */
  get served(): number {
    return this.#served;
  }

  stop(): void {
    this.#stopped = true;
  }

  between(min: number, max: number): number {
    return min + Math.floor(this.#chance() * (max - min + 1));
  }

  async #client(): Promise<void> {
    while (!this.#stopped) {
      const call = await this.#call();
      if (call === null) await Bun.sleep(10);
      else this.#calls.push(call);
    }
  }

  /** Resolves to null if no gateway answered. */
  async #call(): Promise<CallRecord | null> {
    const url = this.#urls[this.between(0, this.#urls.length - 1)] ?? "";
    const stream = this.#chance() < 0.5;
    const script = { ...this.#script(stream), ...this.#failure() };
    const abort = new AbortController();
    const abortMs = this.#chance() < this.#abortShare ? this.between(1, 60) : null;
    const timer = abortMs === null ? null : setTimeout(() => abort.abort(), abortMs);
    let requestId: string | null = null;
    let text = "";
    let whole = false;
    try {
      const prompt = "word ".repeat(this.between(1, 30)).trim();
      const answer = await chat(url, { stream, script, prompt }, abort.signal);
      requestId = answer.headers.get("x-request-id");
      if (answer.ok) this.#served += 1;
      const decoder = new TextDecoder();
      for await (const bytes of answer.body ?? []) text += decoder.decode(bytes, { stream: true });
      whole = answer.status === 200;
    } catch {
      if (requestId === null && !abort.signal.aborted) return null;
    } finally {
      if (timer !== null) clearTimeout(timer);
    }
    const finished = whole && (stream ? text.endsWith("data: [DONE]\n\n") : text.endsWith("}"));
    return { requestId, stream, finished, delivered: text.match(/"delta":\{"content":" /g)?.length ?? 0 };
  }

  /** Whole answers, short streams, and sometimes a stream so long that only its checkpoints survive a kill. */
  #script(stream: boolean): Script {
    const cached_tokens = this.between(0, 3);
    if (!stream) return { tokens: this.between(1, 40), cached_tokens, latency_ms: this.between(0, 40) };
    const long = this.#chance() < 0.15;
    return long
      ? { tokens: this.between(150, 400), cached_tokens, event_ms: this.between(2, 5) }
      : { tokens: this.between(1, 40), cached_tokens, event_ms: this.between(0, 6) };
  }

  #failure(): Script {
    if (this.#failShare === 0 || this.#chance() >= this.#failShare) return {};
    const status = [429, 500, 503][this.between(0, 2)] ?? 500;
    return { name: `call-${this.#failures++}`, fail_first: 1, status };
  }

  /** A small seeded generator (mulberry32), so that a run can be repeated. */
  #chance(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
}
