import type { Remark } from "@sluice/contract/console";
import { asFailure, bounds, Failure, type ModelType, type Provider } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { isObject } from "#protocols/index.ts";
import {
  type Advice,
  accountRedactor,
  adviceFor,
  type GoodAnswer,
  listQuestion,
  noListAdvice,
  type OutboundDraft,
  type ProviderKind,
  readModelsPage,
  smallQuestion,
  taskQuestion,
  testLane,
  type UpstreamModelListed,
} from "#providers/index.ts";
import type { ProviderClient, WholeAnswer } from "./provider-client.ts";

/** What one request to a provider gave. `problem` is null when it answered as it should. */
interface Probe {
  /** 0 when there was no answer. */
  readonly status: number;
  readonly ms: number;
  readonly problem: string | null;
  readonly advice: string | null;
  /** The problem by code; null when it has none. */
  readonly fault: Remark<"testProblem"> | null;
  readonly said: string | null;
  /** The advice by code. */
  readonly remedy: Remark<"testAdvice"> | null;
  readonly body: unknown;
  /** What the provider's clock says, Unix milliseconds; null when it does not tell. */
  readonly date: number | null;
  /** The provider let us in: what went wrong, if anything, is about what was asked. */
  readonly admitted: boolean;
}

/** A list of models, or why there is none. `models` are those that were read before a later page failed. */
interface ListProbe extends Probe {
  readonly models: readonly UpstreamModelListed[] | null;
}

/** Asks providers by the gateway's own way out: same guard, same clocks, same credentials. Never throws for a bad answer. */
export class ProviderProbe {
  readonly #client: ProviderClient;
  readonly #clock: Clock;

  constructor(client: ProviderClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** The models an account may use, all pages within bounds; null for kinds that tell none. */
  async listModels(provider: Provider, kind: ProviderKind, signal: AbortSignal): Promise<ListProbe | null> {
    const models = new Map<string, UpstreamModelListed>();
    let ms = 0;
    let place: string | null = null;
    for (let count = 1; ; count++) {
      const draft = listQuestion(provider, kind, place);
      if (draft === null) return null;
      const leftMs = Math.max(1, bounds.providerProbeMs - ms);
      const probe = await this.#send(kind, draft, { model: null, bytesMax: bounds.modelListBytesMax, leftMs, signal });
      ms += probe.ms;
      if (probe.problem !== null) return { ...probe, ms, models: count === 1 ? null : [...models.values()] };
      const page = readModelsPage(probe.body);
      if (page === null) return { ...probe, ...noList, ms, models: null };
      for (const model of page.models) {
        if (models.size < bounds.modelsListedMax) models.set(model.id, model);
      }
      const last = page.next === null || page.next === place || models.size >= bounds.modelsListedMax;
      if (last || count >= bounds.modelPagesMax) return { ...probe, ms, models: [...models.values()] };
      place = page.next;
    }
  }

  /**
   * Whether an account is reached, by the first page of its list of models: false when it does not answer or is ill. A key that may
   * not list models may call them. Never rejects. null for kinds without a list.
   */
  isReached(provider: Provider, kind: ProviderKind, signal: AbortSignal): Promise<boolean> | null {
    const draft = listQuestion(provider, kind, null);
    if (draft === null) return null;
    const asked = { model: null, bytesMax: bounds.modelListBytesMax, leftMs: bounds.providerProbeMs, signal };
    return this.#send(kind, draft, asked).then(
      ({ status }) => status !== 0 && status < 500,
      () => false,
    );
  }

  /** The smallest question a model of this type can be asked; null when nothing free or nearly free can be asked of it. */
  async ask(
    provider: Provider,
    kind: ProviderKind,
    model: { readonly upstreamModel: string; readonly type: ModelType },
    signal: AbortSignal,
  ): Promise<Probe | null> {
    const lane = testLane(provider, kind, model.upstreamModel, model.type);
    if (lane === null) return null;
    const draft = smallQuestion(provider, lane, model.upstreamModel);
    return await this.#send(kind, draft, { ...small, model: model.upstreamModel, signal });
  }

  /** Asks after a video task that is not there; fine when the account is let in. null: the kind makes no videos. */
  async askForTask(
    provider: Provider,
    kind: ProviderKind,
    upstreamModel: string,
    signal: AbortSignal,
  ): Promise<Probe | null> {
    const draft = taskQuestion(provider, kind, upstreamModel);
    if (draft === null) return null;
    const probe = await this.#send(kind, draft, {
      ...small,
      model: null,
      signal,
      // Some vendors refuse a key inside a 200.
      read: (answer) => void kind.video?.readState(answer, provider),
    });
    return probe.admitted ? { ...probe, ...noProblem } : probe;
  }

  async #send(kind: ProviderKind, draft: OutboundDraft, asked: Asked): Promise<Probe> {
    const began = this.#clock.monotonic();
    const took = () => this.#clock.monotonic() - began;
    try {
      await this.#authorize(kind, draft, asked);
      const answer = await this.#ask(draft, asked, Math.max(1, asked.leftMs - took()));
      return this.#judge(kind, draft.provider, { answer, ms: took(), asked });
    } catch (thrown) {
      const failure = accountRedactor(draft.provider).failure(asFailure(thrown));
      if (failure.code === "client_closed") throw failure;
      const advice = adviceFor(kind, { status: 0, failure, location: null, model: asked.model });
      const problem = failure.code === "internal_error" ? "The request could not be made." : failure.message;
      const told = { problem, fault: faultOf(failure, 0), said: null, ...advised(advice) };
      return { status: 0, ms: took(), ...told, body: null, date: null, admitted: false };
    }
  }

  /** The exchange of a token has a patience of its own and may go on; this one waits no longer than for an answer. */
  async #authorize(kind: ProviderKind, draft: OutboundDraft, { leftMs, signal }: Asked): Promise<void> {
    const late = new AbortController();
    const stop = this.#clock.after(leftMs, () => late.abort());
    try {
      await this.#client.authorize(kind, draft, AbortSignal.any([signal, late.signal]));
    } catch (thrown) {
      if (signal.aborted || !late.signal.aborted) throw thrown;
      throw new Failure("upstream_timeout", "The provider's access token did not come in time.");
    } finally {
      stop();
    }
  }

  async #ask(draft: OutboundDraft, { bytesMax, signal }: Asked, leftMs: number): Promise<WholeAnswer> {
    const { connectMs, headersMs, totalMs } = draft.provider.timeouts;
    const clocks = {
      connectMs: Math.min(connectMs, leftMs),
      headersMs: Math.min(headersMs, leftMs),
      totalMs: Math.min(totalMs, leftMs),
    };
    const answer = await this.#client.send(draft, clocks, signal);
    return await this.#client.read(draft.provider, answer, { bytesMax, limitMs: leftMs, clock: "total" });
  }

  #judge(
    kind: ProviderKind,
    provider: Provider,
    { answer, ms, asked }: { readonly answer: WholeAnswer; readonly ms: number; readonly asked: Asked },
  ): Probe {
    const { status, headers, good, body: bytes } = answer;
    const date = Date.parse(headers.get("date") ?? "");
    const facts = { status, ms, date: Number.isNaN(date) ? null : date };
    const sound = bytes.length > 0 && /^(audio\/|application\/octet-stream)/i.test(headers.get("content-type") ?? "");
    const body = sound ? "a sound" : parsed(bytes);
    const hidden = good && body !== null ? hiddenRefusal(answer, asked) : null;
    if (good && body !== null && hidden === null) {
      return { ...facts, ...noProblem, body, admitted: true };
    }
    const failure =
      hidden === null ? (good ? notJson : kind.classify(answer)) : accountRedactor(provider).failure(hidden);
    const theirs = upstreamMessage(body, provider);
    return {
      ...facts,
      body: null,
      problem: theirs === null ? failure.message : `${failure.message} It says: ${theirs}`,
      fault: failure === notJson ? { code: "not_json", params: {} } : faultOf(failure, status),
      said: theirs,
      ...advised(adviceFor(kind, { status, failure, location: placeOf(headers.get("location")), model: asked.model })),
      // A page that is not the API's is no sign of having been let in.
      admitted: failure.accountFault === null && isObject(body) && [400, 404, 409, 422].includes(status),
    };
  }
}

interface Asked {
  readonly model: string | null;
  readonly bytesMax: number;
  readonly leftMs: number;
  readonly signal: AbortSignal;
  /** Throws the Failure of a refusal that hides in a good answer. */
  readonly read?: (answer: GoodAnswer) => void;
}

const small = { bytesMax: bounds.probeAnswerBytesMax, leftMs: bounds.providerProbeMs };

/** Only what is the account's own trouble counts: a task that is not there is what was asked for. */
function hiddenRefusal(answer: GoodAnswer, asked: Asked): Failure | null {
  try {
    asked.read?.(answer);
    return null;
  } catch (thrown) {
    const failure = asFailure(thrown);
    return failure.accountFault === null ? null : failure;
  }
}

const noProblem = { problem: null, fault: null, said: null, advice: null, remedy: null };
const notJson = new Failure("upstream_error", "The answer is not JSON.");
const noList = {
  problem: "The answer is JSON, but no list of models.",
  fault: { code: "no_model_list", params: {} },
  said: null,
  ...advised(noListAdvice),
} as const;

function advised(advice: Advice | null) {
  return { advice: advice?.text ?? null, remedy: advice?.remark ?? null };
}

/** What went wrong, by code. `status` 0: there was no answer. */
function faultOf({ accountFault, code }: Failure, status: number): Remark<"testProblem"> | null {
  if (accountFault !== null) return { code: accountFault, params: {} };
  if (code === "upstream_timeout") return { code: "timeout", params: {} };
  if (code === "upstream_truncated") return { code: "truncated", params: {} };
  if (code === "upstream_unreachable") return { code: "unreachable", params: {} };
  if (status === 429) return { code: "rate_limited", params: {} };
  if (status === 503 || status === 529) return { code: "overloaded", params: {} };
  if (status !== 0) return { code: "answered", params: { status } };
  if (code === "invalid_request") return { code: "not_sendable", params: {} };
  return code === "internal_error" ? { code: "not_made", params: {} } : null;
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as unknown;
  } catch {
    return null;
  }
}

/** Where a redirect leads, without what could be a secret in its query. */
function placeOf(location: string | null): string | null {
  const url = location === null ? null : URL.parse(location);
  return url === null || !/^https?:$/.test(url.protocol) ? null : `${url.origin}${url.pathname}`.slice(0, 300);
}

const messageLengthMax = 300;

/** The upstream's own words, without the account's secrets (some repeat them) and in one line. */
function upstreamMessage(body: unknown, provider: Provider): string | null {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  const error = member(first, "error");
  const message = member(error, "message") ?? error ?? member(first, "message") ?? member(first, "detail");
  if (typeof message !== "string" || message.trim() === "") return null;
  return accountRedactor(provider)
    .text(message)
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .slice(0, messageLengthMax);
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
