import { createHash } from "node:crypto";
import { BoundedMap, bounds, type CallSignal, Failure, type Provider, Redactor, within } from "#core/index.ts";
import {
  type CredentialContext,
  credentialContext,
  type Issued,
  noIdentity,
  type ShortLived,
  secretsIn,
} from "#credentials/index.ts";
import type { Clock, Transport, Workload } from "#ports/index.ts";
import { mayReachPrivate, networkOf } from "#providers/index.ts";

type Issue = (context: CredentialContext) => Promise<Issued>;

interface TokenSlot {
  held: HeldToken | null;
  /** Resolves with the next credential, or with the held one if it cannot be renewed but still lives. */
  pending: Promise<ShortLived> | null;
}

interface HeldToken {
  readonly token: Promise<ShortLived>;
  readonly redactor: Redactor;
  /** Monotonic milliseconds: when the token came, when to renew it, and when it expires. */
  readonly sinceMs: number;
  renewMs: number;
  readonly endMs: number;
  /** The upstream refused it: calls wait for the next one. */
  isRefused: boolean;
}

/**
 * Short-lived credentials, fetched once per account, shared by all calls and renewed in the background before they expire.
 * While a renewal fails, the last one serves until it expires. Providers with equal account settings share a credential;
 * changed settings get another.
 */
export class AccountTokens {
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #workload: Workload;
  /** Avoids the digest on each call. */
  readonly #byProvider = new WeakMap<Provider, TokenSlot>();
  /** By digest. An evicted slot lives on in its providers. */
  readonly #byAccount = new BoundedMap<string, TokenSlot>(bounds.tokenAccountsMax);

  constructor(transport: Transport, clock: Clock, workload: Workload) {
    this.#transport = transport;
    this.#clock = clock;
    this.#workload = workload;
  }

  /**
   * Throws the Failure of a refused exchange; the next call retries. A caller that leaves stops waiting, the exchange
   * continues for others.
   */
  tokenOf(provider: Provider, issue: Issue, signal: CallSignal): Promise<ShortLived> {
    const slot = this.#byProvider.get(provider) ?? this.#slotOf(provider);
    const { held } = slot;
    const nowMs = this.#clock.monotonic();
    if (held !== null && held.renewMs > nowMs) return held.token;
    slot.pending ??= this.#renew(slot, provider, issue);
    if (held !== null && !held.isRefused && held.endMs - waitMs > nowMs) return held.token;
    return unlessAborted(slot.pending, signal);
  }

  /** The upstream refused the token. The next call renews it, unless it is only seconds old. */
  tokenRefused(provider: Provider): void {
    const held = this.#byProvider.get(provider)?.held ?? null;
    if (held === null || held.sinceMs + retryMs > this.#clock.monotonic()) return;
    held.renewMs = Number.NEGATIVE_INFINITY;
    held.isRefused = true;
  }

  /** Without the account's current token, which an upstream may quote. */
  redacted(provider: Provider, body: Uint8Array): Uint8Array {
    return this.#byProvider.get(provider)?.held?.redactor.bytes(body) ?? body;
  }

  #slotOf(provider: Provider): TokenSlot {
    const digest = digestOf(provider);
    const slot = this.#byAccount.get(digest) ?? { held: null, pending: null };
    this.#byAccount.set(digest, slot);
    this.#byProvider.set(provider, slot);
    return slot;
  }

  #renew(slot: TokenSlot, provider: Provider, issue: Issue): Promise<ShortLived> {
    const previous = slot.held;
    const pending = this.#issue(provider, issue).then(
      ({ credential, expiresInMs }) => {
        const nowMs = this.#clock.monotonic();
        slot.pending = null;
        slot.held = {
          token: Promise.resolve(credential),
          redactor: new Redactor(secretsIn(credential)),
          sinceMs: nowMs,
          renewMs: nowMs + expiresInMs * renewShare,
          endMs: nowMs + expiresInMs,
          isRefused: false,
        };
        return credential;
      },
      (thrown: unknown) => {
        const nowMs = this.#clock.monotonic();
        slot.pending = null;
        if (previous === null || previous.endMs <= nowMs) throw thrown;
        previous.renewMs = Math.min(previous.endMs, nowMs + retryMs);
        return previous.token;
      },
    );
    // No call may be waiting for it.
    pending.catch(() => undefined);
    return pending;
  }

  #issue(provider: Provider, issue: Issue): Promise<Issued> {
    // Many calls share the exchange: only its own timeouts end it.
    const ended = new AbortController();
    const context = credentialContext({
      transport: this.#transport,
      clock: this.#clock,
      workload: this.#workload,
      network: networkOf(provider),
      mayReachPrivate: (url) => mayReachPrivate(provider, url),
      signal: ended.signal,
    });
    return within(this.#clock, issueMs, issue(context), () => {
      ended.abort();
      throw noIdentity("The gateway got no credential in time.");
    });
  }
}

/** A digest, so that no list of secrets is kept. */
function digestOf({ id, kind, baseUrl, secret, settings, allowPrivateNetwork }: Provider): string {
  const account = [id, kind, baseUrl, secret?.reveal() ?? null, settings, allowPrivateNetwork];
  return createHash("sha256").update(JSON.stringify(account)).digest("base64");
}

/** The share of its lifetime after which a token is renewed: 20 minutes before the end of an hour, as OpenAI's SDK does. */
const renewShare = 2 / 3;
/** Calls wait for the next token if the current one lives no longer than this. */
const waitMs = 30_000;
/** The longest time for all requests of an exchange. */
const issueMs = 30_000;
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
