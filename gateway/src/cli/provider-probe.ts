import { createSimulator } from "@sluice/simulator";
import { asFailure, bounds, type Provider } from "#core/index.ts";
import type { Clock, OutboundAnswer, Transport } from "#ports/index.ts";
import type { ProviderKind } from "#providers/index.ts";
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

  /** The models an account may use, for vendors that tell. */
  listModels(provider: Provider, kind: ProviderKind): Promise<Probe> {
    return this.#send(provider, kind, "GET", "/models", null);
  }

  /** The smallest chat there is. It costs what a few tokens cost. */
  chat(provider: Provider, kind: ProviderKind, path: string, upstreamModel: string): Promise<Probe> {
    const body = { model: upstreamModel, messages: [{ role: "user", content: "Answer with the word ok." }] };
    return this.#send(provider, kind, "POST", path, body);
  }

  async #send(
    provider: Provider,
    kind: ProviderKind,
    method: "GET" | "POST",
    path: string,
    content: object | null,
  ): Promise<Probe> {
    const began = this.#clock.monotonic();
    const { timeouts } = provider;
    const headers: Record<string, string> = { accept: "application/json", "user-agent": "sluice" };
    if (content !== null) headers["content-type"] = "application/json";
    try {
      kind.authorize(provider, headers);
      const answer = await this.#transport.send(
        {
          method,
          url: provider.baseUrl + path,
          headers,
          body: content === null ? null : new TextEncoder().encode(JSON.stringify(content)),
          connectMs: timeouts.connectMs,
          headersMs: Math.min(timeouts.headersMs, probeMs),
          totalMs: Math.min(timeouts.totalMs, probeMs),
          allowPrivateNetwork: provider.allowPrivateNetwork,
        },
        new AbortController().signal,
      );
      const bytes = await answer.body.readAll(bounds.replyBytesMax, "idle", timeouts.idleMs);
      return this.#judge(provider, kind, answer, bytes, this.#clock.monotonic() - began);
    } catch (thrown) {
      const problem = asFailure(thrown).message;
      return { status: 0, ms: this.#clock.monotonic() - began, problem, body: null, date: null };
    }
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

/** Ids of an answer in the shape of a model list; null when it is something else. */
export function modelIds(body: unknown): readonly string[] | null {
  const data = typeof body === "object" && body !== null ? Reflect.get(body, "data") : null;
  if (!Array.isArray(data)) return null;
  return data.flatMap((model: unknown) => {
    const id: unknown = typeof model === "object" && model !== null ? Reflect.get(model, "id") : null;
    return typeof id === "string" ? [id] : [];
  });
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
  const error: unknown = typeof body === "object" && body !== null ? Reflect.get(body, "error") : null;
  const message: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "message") : error;
  if (typeof message !== "string") return null;
  const secret = provider.secret?.reveal() ?? "";
  const safe = secret === "" ? message : message.replaceAll(secret, "[redacted]");
  return safe
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .slice(0, messageLengthMax);
}
