import { bounds, type Provider } from "#core/index.ts";
import type { Clock, Transport } from "#ports/index.ts";
import type { OutboundDraft, TokenExchange } from "#providers/index.ts";
import { unlessAborted } from "./attempt/unless-aborted.ts";

interface Held {
  readonly token: Promise<string>;
  /** Monotonic milliseconds after which a new one is had, and after which this one is worth nothing. */
  renewMs: number;
  endMs: number;
}

/**
 * Short-lived tokens of accounts that need them: had once, shared by all calls, renewed ahead of their end. While a
 * renewal fails the old one serves until its end. A provider that changes is another object, and gets another token.
 */
export class AccountTokens {
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #held = new WeakMap<Provider, Held>();

  constructor(transport: Transport, clock: Clock) {
    this.#transport = transport;
    this.#clock = clock;
  }

  /**
   * null when the account needs none. Throws the Failure of a refused exchange; the next call tries again. A caller that
   * leaves stops waiting; the exchange goes on for the others.
   */
  tokenOf(provider: Provider, exchange: TokenExchange, signal: AbortSignal): Promise<string> | null {
    const held = this.#held.get(provider);
    if (held !== undefined && held.renewMs > this.#clock.monotonic()) return unlessAborted(held.token, signal);
    const draft = exchange.request(provider, this.#clock.now());
    return draft === null ? null : unlessAborted(this.#renewed(provider, exchange, draft, held), signal);
  }

  /** Stands in its place before anything is waited for, so that all calls of a moment share one exchange. */
  #renewed(
    provider: Provider,
    exchange: TokenExchange,
    draft: Promise<OutboundDraft> | OutboundDraft,
    old: Held | undefined,
  ): Promise<string> {
    const never = Number.POSITIVE_INFINITY;
    const begin = Promise.withResolvers<string>();
    const held: Held = { token: begin.promise, renewMs: never, endMs: never };
    this.#held.set(provider, held);
    this.#fetch(provider, exchange, draft).then(
      ({ token, expiresInMs }) => {
        const nowMs = this.#clock.monotonic();
        held.renewMs = nowMs + expiresInMs * renewShare;
        held.endMs = nowMs + expiresInMs;
        begin.resolve(token);
      },
      (thrown: unknown) => {
        const nowMs = this.#clock.monotonic();
        const serves = old !== undefined && old.endMs > nowMs;
        if (serves) {
          held.renewMs = Math.min(old.endMs, nowMs + retryMs);
          held.endMs = old.endMs;
          begin.resolve(old.token);
          return;
        }
        this.#held.delete(provider);
        begin.reject(thrown);
      },
    );
    return held.token;
  }

  async #fetch(provider: Provider, exchange: TokenExchange, drafted: Promise<OutboundDraft> | OutboundDraft) {
    const draft = await drafted;
    const { connectMs, headersMs } = provider.timeouts;
    const answer = await this.#transport.send(
      {
        method: draft.method,
        url: draft.url,
        headers: draft.headers,
        body: draft.body,
        connectMs,
        headersMs,
        totalMs: headersMs * 2,
        allowPrivateNetwork: provider.allowPrivateNetwork,
      },
      // Shared by many calls: no single one of them may end it. Its own clocks do.
      new AbortController().signal,
    );
    const body = await answer.body.readAll(bounds.errorBodyBytesMax, "idle", headersMs);
    return exchange.read(answer.status, body);
  }
}

/** Renewed when this share of its life is over. */
const renewShare = 0.8;
/** How soon a refused renewal is tried again while the old token still serves. */
const retryMs = 10_000;
