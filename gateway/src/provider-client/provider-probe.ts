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

/** The result of one test request. `problem` is null if it succeeded. */
interface Probe {
  /** 0: no answer. */
  readonly status: number;
  readonly ms: number;
  readonly problem: string | null;
  readonly advice: string | null;
  /** The problem by code. */
  readonly fault: Remark<"testProblem"> | null;
  readonly upstreamMessage: string | null;
  /** The advice by code. */
  readonly remedy: Remark<"testAdvice"> | null;
  readonly body: unknown;
  /** The provider's clock, Unix milliseconds; null if unknown. */
  readonly date: number | null;
  /** The credential was accepted; any problem is about the request. */
  readonly admitted: boolean;
}

/** `models` has the pages before the one that failed. */
interface ListProbe extends Probe {
  readonly models: readonly UpstreamModelListed[] | null;
}

/** Tests providers with the same address guard, timeouts and credentials as calls. Never throws for a bad answer. */
export class ProviderProbe {
  readonly #client: ProviderClient;
  readonly #clock: Clock;

  constructor(client: ProviderClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Lists the account's models, all pages within bounds; null if the provider type has no list. */
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
   * Whether the first page of the model list has an answer below 500. A key without access to the list may still call
   * models. Never rejects. null: the provider type has no list.
   */
  isReached(provider: Provider, kind: ProviderKind, signal: AbortSignal): Promise<boolean> | null {
    const draft = listQuestion(provider, kind, null);
    if (draft === null) return null;
    const options = { model: null, bytesMax: bounds.modelListBytesMax, leftMs: bounds.providerProbeMs, signal };
    return this.#send(kind, draft, options).then(
      ({ status }) => status !== 0 && status < 500,
      () => false,
    );
  }

  /** Sends the smallest request for a model of this type; null if every request would be expensive. */
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

  /** Polls a video task that does not exist; succeeds if the credential is accepted. null: the provider type makes no videos. */
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

  async #send(kind: ProviderKind, draft: OutboundDraft, options: ProbeOptions): Promise<Probe> {
    const began = this.#clock.monotonic();
    const elapsedMs = () => this.#clock.monotonic() - began;
    try {
      await this.#authorize(kind, draft, options);
      const answer = await this.#ask(draft, options, Math.max(1, options.leftMs - elapsedMs()));
      return this.#judge(kind, draft.provider, { answer, ms: elapsedMs(), options: options });
    } catch (thrown) {
      const failure = accountRedactor(draft.provider).failure(asFailure(thrown));
      if (failure.code === "client_closed") throw failure;
      const advice = adviceFor(kind, { status: 0, failure, location: null, model: options.model });
      const problem = failure.code === "internal_error" ? "The request could not be built." : failure.message;
      const result = { problem, fault: faultOf(failure, 0), upstreamMessage: null, ...advised(advice) };
      return { status: 0, ms: elapsedMs(), ...result, body: null, date: null, admitted: false };
    }
  }

  /** Limits the wait for a token, whose exchange continues for other calls. */
  async #authorize(kind: ProviderKind, draft: OutboundDraft, { leftMs, signal }: ProbeOptions): Promise<void> {
    const late = new AbortController();
    const stop = this.#clock.after(leftMs, () => late.abort());
    try {
      await this.#client.authorize(kind, draft, AbortSignal.any([signal, late.signal]));
    } catch (thrown) {
      if (signal.aborted || !late.signal.aborted) throw thrown;
      throw new Failure("upstream_timeout", "The provider's access token timed out.");
    } finally {
      stop();
    }
  }

  async #ask(draft: OutboundDraft, { bytesMax, signal }: ProbeOptions, leftMs: number): Promise<WholeAnswer> {
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
    {
      answer,
      ms,
      options: asked,
    }: { readonly answer: WholeAnswer; readonly ms: number; readonly options: ProbeOptions },
  ): Probe {
    const { status, headers, good, body: bytes } = answer;
    const date = Date.parse(headers.get("date") ?? "");
    const facts = { status, ms, date: Number.isNaN(date) ? null : date };
    const isAudio = bytes.length > 0 && /^(audio\/|application\/octet-stream)/i.test(headers.get("content-type") ?? "");
    const body = isAudio ? "a sound" : parsed(bytes);
    const hidden = good && body !== null ? hiddenRefusal(answer, asked) : null;
    if (good && body !== null && hidden === null) {
      return { ...facts, ...noProblem, body, admitted: true };
    }
    const failure =
      hidden === null ? (good ? notJson : kind.classify(answer)) : accountRedactor(provider).failure(hidden);
    const upstreamText = upstreamMessage(body, provider);
    return {
      ...facts,
      body: null,
      problem: upstreamText === null ? failure.message : `${failure.message} Upstream: ${upstreamText}`,
      fault: failure === notJson ? { code: "not_json", params: {} } : faultOf(failure, status),
      upstreamMessage: upstreamText,
      ...advised(
        adviceFor(kind, { status, failure, location: redirectTarget(headers.get("location")), model: asked.model }),
      ),
      // A page of another server does not prove that the credential was accepted.
      admitted: failure.accountFault === null && isObject(body) && [400, 404, 409, 422].includes(status),
    };
  }
}

interface ProbeOptions {
  readonly model: string | null;
  readonly bytesMax: number;
  readonly leftMs: number;
  readonly signal: AbortSignal;
  /** Throws the Failure of a refusal inside a good answer. */
  readonly read?: (answer: GoodAnswer) => void;
}

const small = { bytesMax: bounds.probeAnswerBytesMax, leftMs: bounds.providerProbeMs };

/** Only account failures count: the task is expected to be missing. */
function hiddenRefusal(answer: GoodAnswer, options: ProbeOptions): Failure | null {
  try {
    options.read?.(answer);
    return null;
  } catch (thrown) {
    const failure = asFailure(thrown);
    return failure.accountFault === null ? null : failure;
  }
}

const noProblem = { problem: null, fault: null, upstreamMessage: null, advice: null, remedy: null };
const notJson = new Failure("upstream_error", "The answer is not JSON.");
const noList = {
  problem: "The answer is JSON, but not a list of models.",
  fault: { code: "no_model_list", params: {} },
  upstreamMessage: null,
  ...advised(noListAdvice),
} as const;

function advised(advice: Advice | null) {
  return { advice: advice?.text ?? null, remedy: advice?.remark ?? null };
}

/** The problem by code. `status` 0: no answer. */
function faultOf({ accountFault, code, message }: Failure, status: number): Remark<"testProblem"> | null {
  if (accountFault === "identity") return { code: accountFault, params: { reason: message } };
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

/** Without the query, which may hold secrets. */
function redirectTarget(location: string | null): string | null {
  const url = location === null ? null : URL.parse(location);
  return url === null || !/^https?:$/.test(url.protocol) ? null : `${url.origin}${url.pathname}`.slice(0, 300);
}

const messageLengthMax = 300;

/** The upstream's message in one line, with secrets redacted. */
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
