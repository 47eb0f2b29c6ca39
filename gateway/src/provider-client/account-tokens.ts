import { createHash } from "node:crypto";
import { BoundedMap, bounds, type CallSignal, Failure, type Provider } from "#core/index.ts";
import type { Clock, Transport } from "#ports/index.ts";
import type { OutboundDraft, TokenExchange } from "#providers/index.ts";
import { outboundRequest } from "./outbound-request.ts";

interface TokenSlot {
  cached: CachedToken | null;
}

interface CachedToken {
  readonly token: Promise<string>;
  /** Monotonic milliseconds: when the token came, when to renew it, and when it expires. */
  sinceMs: number;
  renewMs: number;
  endMs: number;
}

/**
 * Short-lived tokens, fetched once per account, shared by all calls and renewed before they expire. While a renewal fails,
 * the previous token serves until it expires. Providers with equal account settings share a token; changed settings get
 * another.
 */
export class AccountTokens {
  readonly #transport: Transport;
  readonly #clock: Clock;
  /** Avoids the digest on each call. */
  readonly #byProvider = new WeakMap<Provider, TokenSlot>();
  /** By digest. An evicted slot lives on in its providers. */
  readonly #byAccount = new BoundedMap<string, TokenSlot>(bounds.tokenAccountsMax);

  constructor(transport: Transport, clock: Clock) {
    this.#transport = transport;
    this.#clock = clock;
  }

  /**
   * null: the account needs no token. Throws the Failure of a refused exchange; the next call retries. A caller that leaves
   * stops waiting, the exchange continues for others.
   */
  tokenOf(provider: Provider, exchange: TokenExchange, signal: CallSignal): Promise<string> | null {
    const account = this.#byProvider.get(provider) ?? this.#accountOf(provider);
    const { cached: held } = account;
    if (held !== null && held.renewMs > this.#clock.monotonic()) return unlessAborted(held.token, signal);
    const draft = exchange.request(provider, this.#clock.now());
    return draft === null ? null : unlessAborted(this.#renew(account, provider, exchange, draft), signal);
  }

  /** The upstream refused the token. The next call renews it, unless it is only seconds old. */
  tokenRefused(provider: Provider): void {
    const held = this.#byProvider.get(provider)?.cached ?? null;
    if (held !== null && held.sinceMs + retryMs <= this.#clock.monotonic()) held.renewMs = Number.NEGATIVE_INFINITY;
  }

  #accountOf(provider: Provider): TokenSlot {
    const digest = digestOf(provider);
    const account = this.#byAccount.get(digest) ?? { cached: null };
    this.#byAccount.set(digest, account);
    this.#byProvider.set(provider, account);
    return account;
  }

  /** Stores the pending token first, so that concurrent calls share one exchange. */
  #renew(
    account: TokenSlot,
    provider: Provider,
    exchange: TokenExchange,
    draft: Promise<OutboundDraft> | OutboundDraft,
  ): Promise<string> {
    const never = Number.POSITIVE_INFINITY;
    const begin = Promise.withResolvers<string>();
    const held: CachedToken = { token: begin.promise, sinceMs: never, renewMs: never, endMs: never };
    const previous = account.cached;
    account.cached = held;
    this.#fetch(provider, exchange, draft).then(
      ({ token, expiresInMs }) => {
        const nowMs = this.#clock.monotonic();
        held.sinceMs = nowMs;
        held.renewMs = nowMs + expiresInMs * renewShare;
        held.endMs = nowMs + expiresInMs;
        begin.resolve(token);
      },
      (thrown: unknown) => {
        const nowMs = this.#clock.monotonic();
        if (previous !== null && previous.endMs > nowMs) {
          held.renewMs = Math.min(previous.endMs, nowMs + retryMs);
          held.endMs = previous.endMs;
          begin.resolve(previous.token);
          return;
        }
        account.cached = null;
        begin.reject(thrown);
      },
    );
    return held.token;
  }

  async #fetch(provider: Provider, exchange: TokenExchange, drafted: Promise<OutboundDraft> | OutboundDraft) {
    const draft = await drafted;
    const { connectMs, headersMs } = provider.timeouts;
    const clocks = { connectMs, headersMs, totalMs: headersMs * 2 };
    // Many calls share the exchange: only its own timeouts end it.
    const { signal } = new AbortController();
    const answer = await this.#transport.send(outboundRequest(draft, clocks, draft.body), signal);
    const body = await answer.body.readAll(bounds.errorBodyBytesMax, "idle", headersMs);
    return exchange.read(answer.status, body);
  }
}

/** A digest, so that no list of secrets is kept. */
function digestOf({ id, kind, baseUrl, secret, settings, allowPrivateNetwork }: Provider): string {
  const account = [id, kind, baseUrl, secret?.reveal() ?? null, settings, allowPrivateNetwork];
  return createHash("sha256").update(JSON.stringify(account)).digest("base64");
}

/** The share of its lifetime after which a token is renewed. */
const renewShare = 0.8;
/** Delay before a failed renewal is retried, and the least age at which a refused token is renewed. */
const retryMs = 10_000;

/** Rejects with client_closed as soon as the caller leaves; `pending` continues for others. */
function unlessAborted<T>(pending: Promise<T>, signal: CallSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const gone = (): void => reject(new Failure("client_closed", "The caller went away."));
  if (signal.aborted) gone();
  else signal.addEventListener("abort", gone, { once: true });
  pending.then(resolve, reject).finally(() => signal.removeEventListener("abort", gone));
  return promise;
}
