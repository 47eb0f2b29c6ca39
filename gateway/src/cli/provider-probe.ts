import { createSimulator } from "@sluice/simulator";
import { asFailure, bounds, type DialectId, type Provider } from "#core/index.ts";
import type { Clock, OutboundAnswer, Transport } from "#ports/index.ts";
import { type Lane, lanesOf, laneUrl, type OutboundDraft, type ProviderKind, rootOf } from "#providers/index.ts";
import { createTransport } from "#upstream/index.ts";

/** What one request to a provider gave. `problem` is null when it answered as it should. */
export interface Probe {
  /** 0 when there was no answer. */
  readonly status: number;
  readonly ms: number;
  readonly problem: string | null;
  /** The body of a good answer. */
  readonly body: unknown;
  /** What the provider's clock says, Unix milliseconds; null when it does not tell. */
  readonly date: number | null;
}

/** Sends to providers by the gateway's own way out: same guard, same time-outs, same credentials. */
export class ProviderProbe {
  readonly #clock: Clock;
  readonly #transport: Transport;

  constructor(clock: Clock) {
    const simulator = createSimulator({ obeysRequests: false, truthRecordsMax: 1 });
    this.#clock = clock;
    this.#transport = createTransport({
      clock,
      inProcess: new Map([["simulator", (request) => simulator.fetch(request)]]),
    });
  }

  /** The models an account may use, for vendors that tell; null for those that do not. */
  listModels(provider: Provider, kind: ProviderKind): Promise<Probe> | null {
    if (kind.listsModels === false) return null;
    const headers = kind.lanes.some(({ dialect }) => dialect === "anthropic-messages") ? anthropicHeaders : {};
    const url = `${rootOf(provider)}/models`;
    return this.#send(kind, draftOf(provider, "", { method: "GET", url, headers, body: null }));
  }

  /** The smallest question there is, in the lane's own dialect. It costs what a few tokens cost. */
  ask(provider: Provider, kind: ProviderKind, lane: Lane, upstreamModel: string): Promise<Probe> {
    const url = laneUrl(provider, lane, upstreamModel, false);
    const body = JSON.stringify(questionIn(lane.dialect, upstreamModel));
    const headers = { "content-type": "application/json" };
    const draft = draftOf(provider, upstreamModel, { method: "POST", url, headers, body });
    lane.adjust?.(draft);
    return this.#send(kind, draft);
  }

  async #send(kind: ProviderKind, draft: OutboundDraft): Promise<Probe> {
    const began = this.#clock.monotonic();
    const { provider } = draft;
    try {
      const exchange = await kind.tokens?.request(provider, this.#clock.now());
      const token = exchange == null ? null : await this.#token(kind, exchange);
      await kind.authorize(draft, { now: this.#clock.now(), token });
      const { answer, bytes } = await this.#fetch(draft);
      return this.#judge(provider, kind, answer, bytes, this.#clock.monotonic() - began);
    } catch (thrown) {
      const problem = asFailure(thrown).message;
      return { status: 0, ms: this.#clock.monotonic() - began, problem, body: null, date: null };
    }
  }

  async #token(kind: ProviderKind, exchange: OutboundDraft): Promise<string | null> {
    const { answer, bytes } = await this.#fetch(exchange);
    return kind.tokens?.read(answer.status, bytes).token ?? null;
  }

  async #fetch(draft: OutboundDraft): Promise<{ readonly answer: OutboundAnswer; readonly bytes: Uint8Array }> {
    const { provider } = draft;
    const { timeouts } = provider;
    const answer = await this.#transport.send(
      {
        method: draft.method,
        url: draft.url,
        headers: draft.headers,
        body: draft.body,
        connectMs: timeouts.connectMs,
        headersMs: Math.min(timeouts.headersMs, probeMs),
        totalMs: Math.min(timeouts.totalMs, probeMs),
        allowPrivateNetwork: provider.allowPrivateNetwork,
      },
      new AbortController().signal,
    );
    return { answer, bytes: await answer.body.readAll(bounds.replyBytesMax, "idle", timeouts.idleMs) };
  }

  #judge(provider: Provider, kind: ProviderKind, answer: OutboundAnswer, bytes: Uint8Array, ms: number): Probe {
    const { status, headers } = answer;
    const date = Date.parse(headers.get("date") ?? "");
    const facts = { status, ms, date: Number.isNaN(date) ? null : date };
    const body = parsed(bytes);
    if (status >= 200 && status < 300) {
      return { ...facts, body, problem: body === null ? "The answer is not JSON." : null };
    }
    const { message } = kind.classify({ status, headers, body: bytes, now: this.#clock.now() });
    const theirs = upstreamMessage(body, provider);
    return { ...facts, body: null, problem: theirs === null ? message : `${message} It says: ${theirs}` };
  }
}

/** The longest an operator waits for one probe. */
const probeMs = 60_000;

const anthropicHeaders = { "anthropic-version": "2023-06-01" };

interface Request {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

function draftOf(provider: Provider, upstreamModel: string, { method, url, headers, body }: Request): OutboundDraft {
  return {
    provider,
    upstreamModel,
    stream: false,
    method,
    url,
    headers: { accept: "application/json", "user-agent": "sluice", ...headers },
    body: body === null ? null : new TextEncoder().encode(body),
  };
}

/** The lane a provider is tested by: chat completions where it has them, else the first that generates text. */
export function testLane(provider: Provider, kind: ProviderKind, upstreamModel: string): Lane | null {
  const lanes = lanesOf(kind, provider).filter((lane) => lane.fits?.(upstreamModel) ?? true);
  const asked = ["chat", "messages", "responses", "generate"] as const;
  for (const endpoint of asked) {
    const lane = lanes.find((one) => one.endpoint === endpoint);
    if (lane !== undefined) return lane;
  }
  return null;
}

const question = "Answer with the word ok.";

function questionIn(dialect: DialectId, model: string): object {
  const messages = [{ role: "user", content: question }];
  switch (dialect) {
    case "anthropic-messages":
      return { model, messages, max_tokens: 16 };
    case "openai-responses":
      return { model, input: question };
    case "gemini":
      return { contents: [{ role: "user", parts: [{ text: question }] }] };
    case "bedrock-converse":
      return { messages: [{ role: "user", content: [{ text: question }] }] };
    default:
      return { model, messages };
  }
}

/** Ids of an answer in the shape of a model list (OpenAI's and Anthropic's, or Google's); null for anything else. */
export function modelIds(body: unknown): readonly string[] | null {
  const list = member(body, "data") ?? member(body, "models");
  if (!Array.isArray(list)) return null;
  return list.flatMap((model: unknown) => {
    const id = member(model, "id") ?? member(model, "name");
    return typeof id === "string" ? [id.replace(/^models\//, "")] : [];
  });
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as unknown;
  } catch {
    return null;
  }
}

const messageLengthMax = 300;

/** The upstream's own words, without the account's secret (some repeat it) and in one line. */
function upstreamMessage(body: unknown, provider: Provider): string | null {
  const error = member(body, "error");
  const message = member(error, "message") ?? error ?? member(body, "message");
  if (typeof message !== "string") return null;
  const secrets = [
    provider.secret?.reveal(),
    provider.settings["secret_access_key"],
    provider.settings["session_token"],
  ];
  let safe = message;
  for (const secret of secrets) {
    if (typeof secret === "string" && secret !== "") safe = safe.replaceAll(secret, "[redacted]");
  }
  return safe
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .slice(0, messageLengthMax);
}
