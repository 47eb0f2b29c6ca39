import { bounds, Failure, type Provider } from "#core/index.ts";
import type { OutboundAnswer } from "#ports/index.ts";
import { type BadAnswer, type OutboundDraft, type ProviderKind, withoutQuotedKeys } from "#providers/index.ts";
import type { VideoTasksOptions } from "./options.ts";

/** What is needed to ask an upstream something. */
export type Outside = Pick<VideoTasksOptions, "transport" | "tokens" | "clock">;

/** The clocks of one request. */
export interface Waits {
  readonly connectMs: number;
  readonly headersMs: number;
  readonly totalMs: number;
  readonly ownConnection?: boolean;
}

const pollWaits: Waits = {
  connectMs: bounds.taskPollConnectMs,
  headersMs: bounds.taskPollHeadersMs,
  totalMs: bounds.taskPollTotalMs,
};

/** Puts the account's credential on a draft, as the last thing before it is sent. */
export async function authorize(
  { tokens, clock }: Outside,
  kind: ProviderKind,
  draft: OutboundDraft,
  signal: AbortSignal,
): Promise<void> {
  const token = kind.tokens === undefined ? null : await tokens.tokenOf(draft.provider, kind.tokens, signal);
  draft.headers["user-agent"] ??= "sluice";
  await kind.authorize(draft, { now: clock.now(), token });
}

/** Sends a draft that is authorised. */
export function sendDraft(
  { transport }: Outside,
  draft: OutboundDraft,
  waits: Waits,
  signal: AbortSignal,
): Promise<OutboundAnswer> {
  const { method, url, headers, body, provider } = draft;
  return transport.send(
    { method, url, headers, body, ...waits, allowPrivateNetwork: provider.allowPrivateNetwork },
    signal,
  );
}

/** A whole answer; `now` is what a Retry-After counts from. */
export type WholeAnswer = BadAnswer & { readonly good: boolean };

/** A refusal is read without the keys of the account that it may quote. */
export async function readWhole(
  { clock }: Outside,
  provider: Provider,
  answer: OutboundAnswer,
  limitMs: number,
): Promise<WholeAnswer> {
  const good = isGood(answer.status);
  try {
    const bytesMax = good ? bounds.replyBytesMax : bounds.errorBodyBytesMax;
    const said = await answer.body.readAll(bytesMax, "idle", limitMs);
    const body = good ? said : withoutQuotedKeys(said, provider);
    return { status: answer.status, headers: answer.headers, body, now: clock.now(), good };
  } catch (thrown) {
    answer.body.cancel();
    throw thrown;
  }
}

/** Asks an upstream something that may be asked again: a look, a list, a cancellation. */
export async function ask(
  outside: Outside,
  kind: ProviderKind,
  draft: OutboundDraft,
  signal: AbortSignal,
): Promise<WholeAnswer> {
  await authorize(outside, kind, draft, signal);
  return readWhole(outside, draft.provider, await sendDraft(outside, draft, pollWaits, signal), pollWaits.headersMs);
}

export function isGood(status: number): boolean {
  return status >= 200 && status <= 299;
}

/** A signal that nobody gives: what it belongs to is bounded by its own clocks. */
export function ownSignal(): AbortSignal {
  return new AbortController().signal;
}

export function adapterGone(kind: string): Failure {
  return new Failure("internal_error", `Nothing here knows how the kind "${kind}" makes videos.`);
}
