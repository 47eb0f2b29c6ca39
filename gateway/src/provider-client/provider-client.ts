import { bounds, type CallSignal, type Provider } from "#core/index.ts";
import { type CredentialContext, type Issued, noIdentity } from "#credentials/index.ts";
import type {
  AnswerListener,
  Clock,
  OutboundAnswer,
  OutboundBody,
  ReadClock,
  Transport,
  Workload,
} from "#ports/index.ts";
import {
  type AuthorizeOptions,
  accountRedactor,
  type BadAnswer,
  type OutboundDraft,
  type ProviderKind,
} from "#providers/index.ts";
import { AccountTokens } from "./account-tokens.ts";
import { outboundRequest, type RequestClocks } from "./outbound-request.ts";

/** Bounds for reading an answer. `limitMs` applies to each piece, or to the whole with the clock `total`. */
interface ReadLimits {
  /** For a good answer; a bad one is limited to bounds.errorBodyBytesMax. */
  readonly bytesMax: number;
  readonly limitMs: number;
  /** Default: idle. */
  readonly clock?: ReadClock;
  /** Called with the bytes received so far; may throw. */
  readonly onGrowth?: (bytes: number) => void;
}

/** `now` is the base of a relative Retry-After. */
export type WholeAnswer = BadAnswer & { readonly good: boolean };

/** Sends requests to providers' accounts. One instance for the whole gateway, which shares its tokens. */
export class ProviderClient {
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #tokens: AccountTokens;
  readonly #onRefused: (provider: Provider) => void;
  /** For provider types without tokens; reads the clock only to sign. */
  readonly #tokenless: AuthorizeOptions;

  /** `onRefused`: an upstream refused the credential of this account. */
  constructor(
    transport: Transport,
    clock: Clock,
    workload: Workload,
    onRefused: (provider: Provider) => void = () => {},
  ) {
    this.#onRefused = onRefused;
    this.#transport = transport;
    this.#clock = clock;
    this.#tokens = new AccountTokens(transport, clock, workload);
    this.#tokenless = {
      get now() {
        return clock.now();
      },
      token: null,
    };
  }

  /**
   * Adds the account's credential, the last step before sending. Returns undefined if there is nothing to wait for. Throws
   * the Failure of the token exchange, and client_closed.
   */
  authorize(kind: ProviderKind, draft: OutboundDraft, signal: CallSignal): Promise<void> | undefined {
    draft.headers["user-agent"] ??= "sluice";
    if (draft.provider.unusable !== undefined) return Promise.reject(noIdentity(draft.provider.unusable));
    const issue = kind.tokens?.(draft.provider) ?? null;
    if (issue !== null) return this.#authorizeByToken(kind, issue, draft, signal);
    const authorized = kind.authorize(draft, this.#tokenless);
    return authorized instanceof Promise ? authorized : undefined;
  }

  /** Sends an authorized draft once. Pass `body` to stream a body that is not in the draft. */
  send(
    draft: OutboundDraft,
    clocks: RequestClocks,
    signal: CallSignal,
    body: OutboundBody | null = draft.body,
  ): Promise<OutboundAnswer> {
    return this.#transport.send(outboundRequest(draft, clocks, body), signal);
  }

  /** Like `send`, with the outcome passed to `listener`, perhaps within this call. */
  begin(
    draft: OutboundDraft,
    clocks: RequestClocks,
    signal: CallSignal,
    body: OutboundBody | null,
    listener: AnswerListener,
  ): void {
    this.#transport.begin(outboundRequest(draft, clocks, body), signal, listener);
  }

  /** Reads a whole answer. Redacts the account's keys in a refusal, and renews its token after a 401. */
  async read(
    provider: Provider,
    answer: OutboundAnswer,
    { bytesMax, limitMs, clock = "idle", onGrowth: grown }: ReadLimits,
  ): Promise<WholeAnswer> {
    const good = isGood(answer.status);
    if (answer.status === 401) {
      this.#tokens.tokenRefused(provider);
      this.#onRefused(provider);
    }
    try {
      const most = good ? bytesMax : Math.min(bytesMax, bounds.errorBodyBytesMax);
      const received = await answer.body.readAll(most, clock, limitMs, grown);
      const body = good ? received : this.#tokens.redacted(provider, accountRedactor(provider).bytes(received));
      return { status: answer.status, headers: answer.headers, body, now: this.#clock.now(), good };
    } catch (thrown) {
      answer.body.cancel();
      throw thrown;
    }
  }

  /** Authorizes, sends and reads a request that is safe to repeat: a state, a list, a cancellation. */
  async ask(
    kind: ProviderKind,
    draft: OutboundDraft,
    clocks: RequestClocks,
    signal: CallSignal,
    grown: (bytes: number) => void = () => {},
  ): Promise<WholeAnswer> {
    await this.authorize(kind, draft, signal);
    const answer = await this.send(draft, clocks, signal);
    return this.read(draft.provider, answer, {
      bytesMax: bounds.replyBytesMax,
      limitMs: clocks.headersMs,
      onGrowth: grown,
    });
  }

  async #authorizeByToken(
    kind: ProviderKind,
    issue: (context: CredentialContext) => Promise<Issued>,
    draft: OutboundDraft,
    signal: CallSignal,
  ): Promise<void> {
    const token = await this.#tokens.tokenOf(draft.provider, issue, signal);
    await kind.authorize(draft, { now: this.#clock.now(), token });
  }
}

export function isGood(status: number): boolean {
  return status >= 200 && status <= 299;
}
