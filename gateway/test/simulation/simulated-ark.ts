import { Failure } from "#core/index.ts";
import type { Clock, OutboundAnswer, OutboundRequest } from "#ports/index.ts";
import { sentText } from "../outbound.ts";
import { SendingTransport } from "../sending-transport.ts";

/**
 * The fate of a request that gets no answer. `lost`: it never arrives, and the caller cannot know. `cut`: it
 * arrives, but its answer does not.
 */
export type Fault = "unreachable" | "lost" | "cut" | { readonly status: number; readonly code?: string };

/** A task at the vendor. */
export interface VendorTask {
  readonly id: string;
  readonly key: string;
  readonly attemptId: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly callbackUrl: string | null;
  readonly createdAt: number;
  cancelledAt: number | null;
  /** Its record and its result were deleted. */
  deleted: boolean;
  polls: number;
}

export interface ArkBehavior {
  readonly latencyMs?: () => number;
  readonly create?: (body: Readonly<Record<string, unknown>>) => Fault | null;
  readonly poll?: (task: VendorTask) => Fault | null;
  readonly list?: () => Fault | null;
  readonly queuedMs?: number;
  readonly runningMs?: number;
  readonly ends?: (task: VendorTask) => "succeeded" | "failed" | "expired" | "vanished";
  /** Whether the list contains the prompts of tasks. */
  readonly listsPrompts?: boolean;
}

export const tokensOfVideo = 100_000;
export const resultBytes = new TextEncoder().encode("the bytes of a video");

/**
 * Ark's tasks API, a host with results and a host that receives messages, behind a transport on a given clock. It
 * stores every task that it created, even if its answer was an error.
 */
export class SimulatedArk extends SendingTransport {
  readonly tasks = new Map<string, VendorTask>();
  readonly messages: { readonly url: string; readonly headers: Record<string, string>; readonly body: string }[] = [];
  readonly sent: OutboundRequest[] = [];
  behavior: ArkBehavior;
  /** The status with which the caller's host answers messages. */
  messageStatus = 204;
  resultStatus = 200;
  resultType = "video/mp4";
  readonly #clock: Clock;

  constructor(clock: Clock, behavior: ArkBehavior = {}) {
    super();
    this.#clock = clock;
    this.behavior = behavior;
  }

  async send(request: OutboundRequest, signal: AbortSignal): Promise<OutboundAnswer> {
    this.sent.push(request);
    const latencyMs = this.behavior.latencyMs?.() ?? 0;
    if (latencyMs > 0) await this.#wait(latencyMs, signal);
    const url = new URL(request.url);
    if (url.hostname === "caller.example") return this.#message(request);
    if (url.hostname === "results.example") return this.#result(request, url);
    const id = /\/contents\/generations\/tasks\/([^/]+)$/.exec(url.pathname)?.[1];
    if (request.method === "POST") return this.#create(request);
    if (id === undefined) return this.#faulty(this.behavior.list?.() ?? null, () => this.#list(keyOf(request)));
    const task = this.tasks.get(id);
    if (task === undefined || task.key !== keyOf(request) || isGone(this.#state(task))) return notFound();
    if (request.method === "DELETE") return this.#cancel(task);
    task.polls++;
    return this.#faulty(this.behavior.poll?.(task) ?? null, () => jsonAnswer(200, this.#bodyOf(task)));
  }

  state(id: string): string {
    const task = this.tasks.get(id);
    return task === undefined ? "unknown" : this.#state(task);
  }

  #create(request: OutboundRequest): OutboundAnswer {
    const text = sentText(request.body);
    const body = JSON.parse(text);
    return this.#faulty(this.behavior.create?.(body) ?? null, () => {
      const id = `cgt-${String(this.tasks.size + 1).padStart(6, "0")}`;
      const callbackUrl = typeof body.callback_url === "string" ? body.callback_url : null;
      const attemptId = request.headers["x-attempt-id"] ?? "";
      const createdAt = this.#clock.now();
      this.tasks.set(id, {
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

  #faulty(fault: Fault | null, run: () => OutboundAnswer): OutboundAnswer {
    if (fault === "unreachable")
      throw new Failure("upstream_unreachable", "refused", { retry: "other", unhealthy: true, arrival: "unsent" });
    if (fault === "lost") throw new Failure("upstream_timeout", "headers", { retry: "other", unhealthy: true });
    if (fault === "cut") {
      run();
      throw new Failure("upstream_unreachable", "reset", { retry: "other", unhealthy: true });
    }
    if (fault !== null)
      return jsonAnswer(fault.status, { error: { code: fault.code ?? "Odd", message: `status ${fault.status}` } });
    return run();
  }

  #state(task: VendorTask): string {
    if (task.deleted) return "deleted";
    if (task.cancelledAt !== null) return "cancelled";
    const ageMs = this.#clock.now() - task.createdAt;
    const queuedMs = this.behavior.queuedMs ?? 2_000;
    const end = this.behavior.ends?.(task) ?? "succeeded";
    if (ageMs < queuedMs) return "queued";
    if (end === "vanished") return end;
    return ageMs < queuedMs + (this.behavior.runningMs ?? 20_000) ? "running" : end;
  }

  #bodyOf(task: VendorTask): object {
    const status = this.#state(task);
    const seconds = (ms: number): number => Math.floor(ms / 1_000);
    return {
      id: task.id,
      model: task.body["model"],
      status,
      ...(status === "succeeded"
        ? {
            content: { video_url: `https://results.example/${task.id}.mp4` },
            usage: { completion_tokens: tokensOfVideo, total_tokens: tokensOfVideo },
          }
        : this.behavior.listsPrompts === true
          ? { content: task.body["content"] }
          : {}),
      ...(status === "failed"
        ? { error: { code: "OutputVideoSensitiveContentDetected", message: "not this one" } }
        : {}),
      ...("safety_identifier" in task.body ? { safety_identifier: task.body["safety_identifier"] } : {}),
      created_at: seconds(task.createdAt),
      updated_at: seconds(this.#clock.now()),
      duration: 5,
    };
  }

  #list(key: string): OutboundAnswer {
    const items = [...this.tasks.values()].filter((task) => task.key === key && !isGone(this.#state(task)));
    return jsonAnswer(200, { total: items.length, items: items.reverse().map((task) => this.#bodyOf(task)) });
  }

  /** Cancels a queued task, and deletes the record of an ended one. */
  #cancel(task: VendorTask): OutboundAnswer {
    const state = this.#state(task);
    if (state === "running" || state === "cancelled")
      return jsonAnswer(409, { error: { code: "OperationDenied.InvalidState", message: `it is ${state}` } });
    if (state === "queued") task.cancelledAt = this.#clock.now();
    else task.deleted = true;
    return jsonAnswer(200, {});
  }

  #message(request: OutboundRequest): OutboundAnswer {
    const body = sentText(request.body);
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
    const abort = (): void => reject(new Failure("client_closed", "aborted"));
    this.#clock.after(ms, resolve);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
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

/** A complete answer as a transport returns it. */
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
