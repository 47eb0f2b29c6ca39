import { Failure } from "#core/index.ts";
import type { Clock, OutboundAnswer, OutboundRequest, Transport } from "#ports/index.ts";

/** What happens to a request instead of an answer. `lost`: it never arrives, and nobody can tell; `cut`: it arrives, and its answer does not. */
export type Fault = "unreachable" | "lost" | "cut" | { readonly status: number; readonly code?: string };

/** One task as the vendor has it. */
export interface Made {
  readonly id: string;
  readonly key: string;
  readonly attemptId: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly callbackUrl: string | null;
  readonly createdAt: number;
  cancelledAt: number | null;
  /** Its record was deleted, and its result with it. */
  deleted: boolean;
  polls: number;
}

export interface Habits {
  readonly latencyMs?: () => number;
  readonly create?: (body: Readonly<Record<string, unknown>>) => Fault | null;
  readonly poll?: (made: Made) => Fault | null;
  readonly list?: () => Fault | null;
  readonly queuedMs?: number;
  readonly runningMs?: number;
  readonly ends?: (made: Made) => "succeeded" | "failed" | "expired" | "vanished";
  /** Whether its list tells the words of a task. */
  readonly listsPrompts?: boolean;
}

export const tokensOfVideo = 100_000;
export const resultBytes = new TextEncoder().encode("the bytes of a video");

/**
 * Ark's tasks API, a host with results and one that takes messages, behind a transport in the time of a given clock. It keeps
 * the truth: every task it has made, whatever anybody was told.
 */
export class PretendedArk implements Transport {
  readonly made = new Map<string, Made>();
  readonly messages: { readonly url: string; readonly headers: Record<string, string>; readonly body: string }[] = [];
  readonly sent: OutboundRequest[] = [];
  habits: Habits;
  /** What the caller's host answers to a message. */
  messageStatus = 204;
  resultStatus = 200;
  resultType = "video/mp4";
  readonly #clock: Clock;

  constructor(clock: Clock, habits: Habits = {}) {
    this.#clock = clock;
    this.habits = habits;
  }

  async send(request: OutboundRequest, signal: AbortSignal): Promise<OutboundAnswer> {
    this.sent.push(request);
    const latencyMs = this.habits.latencyMs?.() ?? 0;
    if (latencyMs > 0) await this.#wait(latencyMs, signal);
    const url = new URL(request.url);
    if (url.hostname === "caller.example") return this.#message(request);
    if (url.hostname === "results.example") return this.#result(request, url);
    const id = /\/contents\/generations\/tasks\/([^/]+)$/.exec(url.pathname)?.[1];
    if (request.method === "POST") return this.#create(request);
    if (id === undefined) return this.#faulty(this.habits.list?.() ?? null, () => this.#list(keyOf(request)));
    const made = this.made.get(id);
    if (made === undefined || made.key !== keyOf(request) || isGone(this.#state(made))) return notFound();
    if (request.method === "DELETE") return this.#cancel(made);
    made.polls++;
    return this.#faulty(this.habits.poll?.(made) ?? null, () => jsonAnswer(200, this.#bodyOf(made)));
  }

  state(id: string): string {
    const made = this.made.get(id);
    return made === undefined ? "unknown" : this.#state(made);
  }

  #create(request: OutboundRequest): OutboundAnswer {
    const text = new TextDecoder().decode(request.body instanceof Uint8Array ? request.body : new Uint8Array());
    const body = JSON.parse(text);
    return this.#faulty(this.habits.create?.(body) ?? null, () => {
      const id = `cgt-${String(this.made.size + 1).padStart(6, "0")}`;
      const callbackUrl = typeof body.callback_url === "string" ? body.callback_url : null;
      const attemptId = request.headers["x-attempt-id"] ?? "";
      const createdAt = this.#clock.now();
      this.made.set(id, {
        id,
        key: keyOf(request),
        attemptId,
        body,
        callbackUrl,
        createdAt,
        cancelledAt: null,
        deleted: false,
        polls: 0,
      });
      return jsonAnswer(200, { id });
    });
  }

  #faulty(fault: Fault | null, act: () => OutboundAnswer): OutboundAnswer {
    if (fault === "unreachable")
      throw new Failure("upstream_unreachable", "refused", { retry: "other", unhealthy: true, arrival: "unsent" });
    if (fault === "lost") throw new Failure("upstream_timeout", "headers", { retry: "other", unhealthy: true });
    if (fault === "cut") {
      act();
      throw new Failure("upstream_unreachable", "reset", { retry: "other", unhealthy: true });
    }
    if (fault !== null)
      return jsonAnswer(fault.status, { error: { code: fault.code ?? "Odd", message: `status ${fault.status}` } });
    return act();
  }

  #state(made: Made): string {
    if (made.deleted) return "deleted";
    if (made.cancelledAt !== null) return "cancelled";
    const ageMs = this.#clock.now() - made.createdAt;
    const queuedMs = this.habits.queuedMs ?? 2_000;
    const end = this.habits.ends?.(made) ?? "succeeded";
    if (ageMs < queuedMs) return "queued";
    if (end === "vanished") return end;
    return ageMs < queuedMs + (this.habits.runningMs ?? 20_000) ? "running" : end;
  }

  #bodyOf(made: Made): object {
    const status = this.#state(made);
    const seconds = (ms: number): number => Math.floor(ms / 1_000);
    return {
      id: made.id,
      model: made.body["model"],
      status,
      ...(status === "succeeded"
        ? {
            content: { video_url: `https://results.example/${made.id}.mp4` },
            usage: { completion_tokens: tokensOfVideo, total_tokens: tokensOfVideo },
          }
        : this.habits.listsPrompts === true
          ? { content: made.body["content"] }
          : {}),
      ...(status === "failed"
        ? { error: { code: "OutputVideoSensitiveContentDetected", message: "not this one" } }
        : {}),
      ...("safety_identifier" in made.body ? { safety_identifier: made.body["safety_identifier"] } : {}),
      created_at: seconds(made.createdAt),
      updated_at: seconds(this.#clock.now()),
      duration: 5,
    };
  }

  #list(key: string): OutboundAnswer {
    const items = [...this.made.values()].filter((made) => made.key === key && !isGone(this.#state(made)));
    return jsonAnswer(200, { total: items.length, items: items.reverse().map((made) => this.#bodyOf(made)) });
  }

  /** What waits is cancelled; of what has ended the record is deleted. */
  #cancel(made: Made): OutboundAnswer {
    const state = this.#state(made);
    if (state === "running" || state === "cancelled")
      return jsonAnswer(409, { error: { code: "OperationDenied.InvalidState", message: `it is ${state}` } });
    if (state === "queued") made.cancelledAt = this.#clock.now();
    else made.deleted = true;
    return jsonAnswer(200, {});
  }

  #message(request: OutboundRequest): OutboundAnswer {
    const body = new TextDecoder().decode(request.body instanceof Uint8Array ? request.body : new Uint8Array());
    this.messages.push({ url: request.url, headers: request.headers, body });
    return answer(this.messageStatus, {}, new Uint8Array());
  }

  #result(request: OutboundRequest, url: URL): OutboundAnswer {
    if (url.pathname.startsWith("/moved/")) {
      return answer(302, { location: `https://results.example/${url.pathname.slice(7)}` }, new Uint8Array());
    }
    if (this.resultStatus !== 200) return answer(this.resultStatus, {}, new Uint8Array());
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers["range"] ?? "");
    const type = { "content-type": this.resultType, "set-cookie": "vendor=1" };
    if (range === null) return answer(200, { ...type, "content-length": String(resultBytes.length) }, resultBytes);
    const part = resultBytes.slice(Number(range[1]), Number(range[2]) + 1);
    const contentRange = `bytes ${range[1]}-${range[2]}/${resultBytes.length}`;
    return answer(206, { ...type, "content-length": String(part.length), "content-range": contentRange }, part);
  }

  #wait(ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const gone = (): void => reject(new Failure("client_closed", "gone"));
    this.#clock.after(ms, resolve);
    if (signal.aborted) gone();
    else signal.addEventListener("abort", gone, { once: true });
    return promise;
  }
}

function isGone(state: string): boolean {
  return state === "vanished" || state === "deleted";
}

function keyOf(request: OutboundRequest): string {
  return request.headers["authorization"] ?? "";
}

function notFound(): OutboundAnswer {
  return jsonAnswer(404, { error: { code: "NotFound.Task", message: "no such task" } });
}

/** A whole answer, as a transport gives it. */
export function jsonAnswer(
  status: number,
  value: object,
  headers: Readonly<Record<string, string>> = {},
): OutboundAnswer {
  return answer(
    status,
    { ...headers, "content-type": "application/json" },
    new TextEncoder().encode(JSON.stringify(value)),
  );
}

function answer(status: number, headers: Record<string, string>, bytes: Uint8Array): OutboundAnswer {
  let unread: Uint8Array | null = bytes.length === 0 ? null : bytes;
  const read = async (): Promise<Uint8Array | null> => {
    const piece = unread;
    unread = null;
    return piece;
  };
  const readAll = async (): Promise<Uint8Array> => (await read()) ?? new Uint8Array();
  return { status, headers: new Headers(headers), body: { read, readAll, cancel: () => {} } };
}
