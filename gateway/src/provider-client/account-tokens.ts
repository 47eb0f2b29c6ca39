import { createHash } from "node:crypto";
import { BoundedMap, bounds, type CallSignal, Failure, type Provider } from "#core/index.ts";
import type { Clock, Transport } from "#ports/index.ts";
import type { OutboundDraft, TokenExchange } from "#providers/index.ts";
import { outboundRequest } from "./outbound-request.ts";

interface Account {
  held: Held | null;
}

interface Held {
  readonly token: Promise<string>;
  /** Monotonic milliseconds: when it came, after which a new one is had, and after which this one is worth nothing. */
  sinceMs: number;
  renewMs: number;
  endMs: number;
}

/**
 * Short-lived tokens of accounts that need them: had once, shared by all calls, renewed ahead of their end. While a
 * renewal fails the old one serves until its end. Providers that say the same of their account share a token, whoever
 * read them and when (the config snapshot is read anew with each change; a task's row has a copy of its own). A changed account
 * gets another.
 */
export class AccountTokens {
  readonly #transport: Transport;
  readonly #clock: Clock;
  /** So that a call does not work out which account it is. */
  readonly #byProvider = new WeakMap<Provider, Account>();
  /** By digest. One that leaves lives on in the providers that know it. */
  readonly #byAccount = new BoundedMap<string, Account>(bounds.tokenAccountsMax);

  constructor(transport: Transport, clock: Clock) {
    this.#transport = transport;
    this.#clock = clock;
  }

  /**
   * null when the account needs none. Throws the Failure of a refused exchange; the next call tries again. A caller that
   * leaves stops waiting; the exchange goes on for the others.
   */
  tokenOf(provider: Provider, exchange: TokenExchange, signal: CallSignal): Promise<string> | null {
    const account = this.#byProvider.get(provider) ?? this.#accountOf(provider);
    const { held } = account;
    if (held !== null && held.renewMs > this.#clock.monotonic()) return unlessAborted(held.token, signal);
    const draft = exchange.request(provider, this.#clock.now());
    return draft === null ? null : unlessAborted(this.#renewed(account, provider, exchange, draft), signal);
  }

  /** The upstream did not take this account's token. The next call has a new one, unless this one came a moment ago. */
  refused(provider: Provider): void {
    const held = this.#byProvider.get(provider)?.held ?? null;
    if (held !== null && held.sinceMs + retryMs <= this.#clock.monotonic()) held.renewMs = Number.NEGATIVE_INFINITY;
  }

  #accountOf(provider: Provider): Account {
    const digest = digestOf(provider);
    const account = this.#byAccount.get(digest) ?? { held: null };
    this.#byAccount.set(digest, account);
    this.#byProvider.set(provider, account);
    return account;
  }

  /** Stands in its place before anything is waited for, so that all calls of a moment share one exchange. */
  #renewed(
    account: Account,
    provider: Provider,
    exchange: TokenExchange,
    draft: Promise<OutboundDraft> | OutboundDraft,
  ): Promise<string> {
    const never = Number.POSITIVE_INFINITY;
    const begin = Promise.withResolvers<string>();
    const held: Held = { token: begin.promise, sinceMs: never, renewMs: never, endMs: never };
    const old = account.held;
    account.held = held;
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
        if (old !== null && old.endMs > nowMs) {
          held.renewMs = Math.min(old.endMs, nowMs + retryMs);
          held.endMs = old.endMs;
          begin.resolve(old.token);
          return;
        }
        account.held = null;
        begin.reject(thrown);
      },
    );
    return held.token;
  }

  async #fetch(provider: Provider, exchange: TokenExchange, drafted: Promise<OutboundDraft> | OutboundDraft) {
    const draft = await drafted;
    const { connectMs, headersMs } = provider.timeouts;
    const clocks = { connectMs, headersMs, totalMs: headersMs * 2 };
    // Shared by many calls: no single one of them may end it. Its own clocks do.
    const { signal } = new AbortController();
    const answer = await this.#transport.send(outboundRequest(draft, clocks, draft.body), signal);
    const body = await answer.body.readAll(bounds.errorBodyBytesMax, "idle", headersMs);
    return exchange.read(answer.status, body);
  }
}

/** What a token is had with and for. A digest, so that no list of secrets is kept. */
function digestOf({ id, kind, baseUrl, secret, settings, allowPrivateNetwork }: Provider): string {
  const account = [id, kind, baseUrl, secret?.reveal() ?? null, settings, allowPrivateNetwork];
  return createHash("sha256").update(JSON.stringify(account)).digest("base64");
}

/** Renewed when this share of its life is over. */
const renewShare = 0.8;
/** How soon a refused renewal is tried again while the old token still serves, and a refused token is renewed. */
const retryMs = 10_000;

/** `pending`, or client_closed as soon as the caller goes away. What is waited for goes on for others. */
function unlessAborted<T>(pending: Promise<T>, signal: CallSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const gone = (): void => reject(new Failure("client_closed", "The caller went away."));
  if (signal.aborted) gone();
  else signal.addEventListener("abort", gone, { once: true });
  pending.then(resolve, reject).finally(() => signal.removeEventListener("abort", gone));
  return promise;
}
