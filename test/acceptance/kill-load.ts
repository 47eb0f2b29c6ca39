import type { Script } from "@sluice/simulator";
import { chat } from "./chat-call.ts";

/** What one caller saw of one call. */
export interface CallSeen {
  /** Null when no answer came. */
  readonly requestId: string | null;
  readonly stream: boolean;
  /** A whole reply or a [DONE] arrived. */
  readonly finished: boolean;
  /** Content events that arrived. */
  readonly delivered: number;
}

/** Callers that go on, whatever happens to the gateway: whole and streamed calls mixed, some leaving in the middle. */
export class KillLoad {
  readonly #urls: readonly string[];
  readonly #clients: number;
  readonly #abortShare: number;
  readonly #failShare: number;
  readonly #seen: CallSeen[] = [];
  #state: number;
  #served = 0;
  #calls = 0;
  #stopped = false;

  /** `urls`: of gateways that serve alike; each call goes to one of them by chance. */
  constructor(
    urls: readonly string[],
    options: {
      readonly clients: number;
      readonly abortShare: number;
      readonly seed: number;
      /** Of calls whose first attempt the upstream refuses, so that there is a second one. Default 0. */
      readonly failShare?: number;
    },
  ) {
    this.#urls = urls;
    this.#clients = options.clients;
    this.#abortShare = options.abortShare;
    this.#failShare = options.failShare ?? 0;
    this.#state = options.seed >>> 0;
  }

  /** Resolves when every caller has ended after `stop`. */
  async run(): Promise<readonly CallSeen[]> {
    await Promise.all(Array.from({ length: this.#clients }, () => this.#client()));
    return this.#seen;
  }

  /** How many calls have ended in whatever way. */
  get made(): number {
    return this.#seen.length;
  }

  /** How many of them brought a whole answer. */
  get finished(): number {
    return this.#seen.filter(({ finished }) => finished).length;
  }

  /** How many were begun to be answered with success, whether their callers have stayed or not. */
  get served(): number {
    return this.#served;
  }

  stop(): void {
    this.#stopped = true;
  }

  between(least: number, most: number): number {
    return least + Math.floor(this.#chance() * (most - least + 1));
  }

  async #client(): Promise<void> {
    while (!this.#stopped) {
      const seen = await this.#call();
      if (seen === null) await Bun.sleep(10);
      else this.#seen.push(seen);
    }
  }

  /** Null when there was nobody to call. */
  async #call(): Promise<CallSeen | null> {
    const url = this.#urls[this.between(0, this.#urls.length - 1)] ?? "";
    const stream = this.#chance() < 0.5;
    const script = { ...this.#script(stream), ...this.#failure() };
    const leaving = new AbortController();
    const leaveMs = this.#chance() < this.#abortShare ? this.between(1, 60) : null;
    const timer = leaveMs === null ? null : setTimeout(() => leaving.abort(), leaveMs);
    let requestId: string | null = null;
    let text = "";
    let whole = false;
    try {
      const prompt = "word ".repeat(this.between(1, 30)).trim();
      const answer = await chat(url, { stream, script, prompt }, leaving.signal);
      requestId = answer.headers.get("x-request-id");
      if (answer.ok) this.#served += 1;
      const decoder = new TextDecoder();
      for await (const bytes of answer.body ?? []) text += decoder.decode(bytes, { stream: true });
      whole = answer.status === 200;
    } catch {
      if (requestId === null && !leaving.signal.aborted) return null;
    } finally {
      if (timer !== null) clearTimeout(timer);
    }
    const finished = whole && (stream ? text.endsWith("data: [DONE]\n\n") : text.endsWith("}"));
    return { requestId, stream, finished, delivered: text.match(/"delta":\{"content":" /g)?.length ?? 0 };
  }

  /** Whole replies, short streams, and now and then one so long that only its checkpoints survive a kill. */
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
    return { name: `call-${this.#calls++}`, fail_first: 1, status };
  }

  /** A small generator with a seed (mulberry32), so that a run's choices can be made again. */
  #chance(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
}
