import { bounds, type Provider } from "#core/index.ts";
import type { Clock, Transport } from "#ports/index.ts";
import type { TokenExchange } from "#providers/index.ts";

interface Held {
  readonly token: Promise<string>;
  /** Monotonic milliseconds after which a new one is had. */
  renewMs: number;
}

/**
 * Short-lived tokens of accounts that need them: had once, shared by all calls, renewed ahead of their end. A
 * provider that changes is another object, and gets another token.
 */
export class AccountTokens {
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #held = new WeakMap<Provider, Held>();

  constructor(transport: Transport, clock: Clock) {
    this.#transport = transport;
    this.#clock = clock;
  }

  /** null when the account needs none. Throws the Failure of a refused exchange; the next call tries again. */
  tokenOf(provider: Provider, exchange: TokenExchange): Promise<string | null> | string | null {
    const held = this.#held.get(provider);
    if (held !== undefined && held.renewMs > this.#clock.monotonic()) return held.token;
    return this.#exchange(provider, exchange);
  }

  async #exchange(provider: Provider, exchange: TokenExchange): Promise<string | null> {
    const draft = await exchange.request(provider, this.#clock.now());
    if (draft === null) return null;
    const { connectMs, headersMs } = provider.timeouts;
    const fetched = async (): Promise<string> => {
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
      const { token, expiresInMs } = exchange.read(answer.status, body);
      held.renewMs = this.#clock.monotonic() + expiresInMs * renewShare;
      return token;
    };
    const held: Held = { token: fetched(), renewMs: Number.POSITIVE_INFINITY };
    this.#held.set(provider, held);
    held.token.catch(() => this.#held.delete(provider));
    return held.token;
  }
}

/** Renewed when this share of its life is over. */
const renewShare = 0.8;
