import { bounds, type CallSignal, type Provider } from "#core/index.ts";
import type { Clock, OutboundAnswer, OutboundBody, ReadClock, Transport } from "#ports/index.ts";
import {
  type AuthorizeOptions,
  accountRedactor,
  type BadAnswer,
  type OutboundDraft,
  type ProviderKind,
} from "#providers/index.ts";
import { AccountTokens } from "./account-tokens.ts";
import { outboundRequest, type RequestClocks } from "./outbound-request.ts";

/** How much of an answer is read, and how long each piece is waited for. */
interface ReadLimits {
  /** Of a good answer; of a bad one never more than bounds.errorBodyBytesMax. */
  readonly bytesMax: number;
  readonly limitMs: number;
  /** Default: idle. */
  readonly clock?: ReadClock;
  /** Is told how much is here each time there is more, and may throw. */
  readonly grown?: (bytes: number) => void;
}

/** A whole answer, good or bad; `now` is what a Retry-After counts from. */
export type WholeAnswer = BadAnswer & { readonly good: boolean };

/** The one way to the accounts of providers. There is one for the whole gateway: what it keeps is shared by all. */
export class ProviderClient {
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #tokens: AccountTokens;
  /** For kinds without tokens; only those that sign ask for the time. */
  readonly #tokenless: AuthorizeOptions;

  constructor(transport: Transport, clock: Clock) {
    this.#transport = transport;
    this.#clock = clock;
    this.#tokens = new AccountTokens(transport, clock);
    this.#tokenless = {
      get now() {
        return clock.now();
      },
      token: null,
    };
  }

  /**
   * Puts the account's credential on a draft, as the last thing before it is sent. Returns nothing where nothing has to be
   * waited for. Throws the Failure of a token that cannot be had, and client_closed.
   */
  authorize(kind: ProviderKind, draft: OutboundDraft, signal: CallSignal): Promise<void> | undefined {
    draft.headers["user-agent"] ??= "sluice";
    if (kind.tokens !== undefined) return this.#authorizeByToken(kind, kind.tokens, draft, signal);
    const authorized = kind.authorize(draft, this.#tokenless);
    return authorized instanceof Promise ? authorized : undefined;
  }

  /** Sends an authorised draft once. `body`: where it is not the draft's own, because it is not held whole. */
  send(
    draft: OutboundDraft,
    clocks: RequestClocks,
    signal: CallSignal,
    body: OutboundBody | null = draft.body,
  ): Promise<OutboundAnswer> {
    return this.#transport.send(outboundRequest(draft, clocks, body), signal);
  }

  /** The rest of an answer; of a refused credential the next call has a new token. A refusal comes without the keys of the account that it may quote. */
  async read(
    provider: Provider,
    answer: OutboundAnswer,
    { bytesMax, limitMs, clock = "idle", grown }: ReadLimits,
  ): Promise<WholeAnswer> {
    const good = isGood(answer.status);
    if (answer.status === 401) this.#tokens.refused(provider);
    try {
      const most = good ? bytesMax : Math.min(bytesMax, bounds.errorBodyBytesMax);
      const said = await answer.body.readAll(most, clock, limitMs, grown);
      const body = good ? said : accountRedactor(provider).bytes(said);
      return { status: answer.status, headers: answer.headers, body, now: this.#clock.now(), good };
    } catch (thrown) {
      answer.body.cancel();
      throw thrown;
    }
  }

  /** Authorises, sends and reads: for what may be asked at any time, as a state, a list, a cancellation. */
  async ask(
    kind: ProviderKind,
    draft: OutboundDraft,
    clocks: RequestClocks,
    signal: CallSignal,
    grown: (bytes: number) => void = () => {},
  ): Promise<WholeAnswer> {
    await this.authorize(kind, draft, signal);
    const answer = await this.send(draft, clocks, signal);
    return this.read(draft.provider, answer, { bytesMax: bounds.replyBytesMax, limitMs: clocks.headersMs, grown });
  }

  async #authorizeByToken(
    kind: ProviderKind,
    exchange: NonNullable<ProviderKind["tokens"]>,
    draft: OutboundDraft,
    signal: CallSignal,
  ): Promise<void> {
    const token = await this.#tokens.tokenOf(draft.provider, exchange, signal);
    await kind.authorize(draft, { now: this.#clock.now(), token });
  }
}

export function isGood(status: number): boolean {
  return status >= 200 && status <= 299;
}
