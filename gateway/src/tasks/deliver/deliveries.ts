import { createHmac } from "node:crypto";
import { remarkSentence } from "@sluice/contract/words";
import { asFailure, bounds } from "#core/index.ts";
import { isGood } from "#provider-client/index.ts";
import type { VideoTasksOptions } from "../options.ts";
import type { Delivery } from "../store/task-leases.ts";
import { ownSignal } from "../upstream-call.ts";

const deliveryTriesMax = 8;
export const deliveryLeaseMs = 60_000;
const deliveriesInFlightMax = 8;
/** What is kept of why one failed. */
const deliveryErrorCharactersMax = 300;

type Outside = Pick<VideoTasksOptions, "store" | "transport" | "clock" | "chance" | "observer" | "secrets">;

/**
 * Messages to callers about tasks that ended. They lie in the store from the transaction that ended the task, are taken by
 * moving their due time, and tried until the caller's host says 2xx: at least once, never surely only once.
 */
export class Deliveries {
  readonly #outside: Outside;
  #inFlight = 0;
  #delivered = 0;
  #failed = 0;
  #wake: () => void = () => {};

  constructor(outside: Outside) {
    this.#outside = outside;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Tries of this process that the caller's host took, and those that it did not take or that did not reach it. */
  get tries(): { readonly delivered: number; readonly failed: number } {
    return { delivered: this.#delivered, failed: this.#failed };
  }

  /** Who is told that there is something to do. */
  onWake(wake: () => void): void {
    this.#wake = wake;
  }

  wake(): void {
    this.#wake();
  }

  /** Takes what is due, as much as there is room for, and begins to send it. Resolves to how much that was. */
  async pass(): Promise<number> {
    const { store, clock } = this.#outside;
    const room = deliveriesInFlightMax - this.#inFlight;
    if (room <= 0) return 0;
    const due = await store.dueDeliveries(clock.now(), deliveryLeaseMs, room);
    for (const delivery of due) void this.#run(delivery);
    return due.length;
  }

  async #run(delivery: Delivery): Promise<void> {
    this.#inFlight++;
    try {
      await this.#deliver(delivery);
    } catch (thrown) {
      // Not noted: it comes due again when its time is over.
      this.#outside.observer.log("warn", "A message to a caller could not be noted as sent.", {
        delivery: delivery.id,
        error: thrown,
      });
    } finally {
      this.#inFlight--;
    }
  }

  async #deliver(delivery: Delivery): Promise<void> {
    const { store, clock, chance, observer } = this.#outside;
    const tries = delivery.tries + 1;
    const { status, error } = await this.#send(delivery);
    const now = clock.now();
    if (status !== null && isGood(status)) {
      this.#delivered++;
      await store.delivered(delivery, { tries, dueAt: null, lastStatus: status, lastError: null, deliveredAt: now });
      return;
    }
    this.#failed++;
    // 410: the caller's host says that nobody will ever listen there (Standard Webhooks).
    const waitMs = status === 410 ? undefined : waitsMs[tries - 1];
    const givenUp = waitMs === undefined || tries >= deliveryTriesMax;
    const dueAt = givenUp ? null : now + Math.round(waitMs * (0.9 + 0.2 * chance.unit()));
    await store.delivered(delivery, { tries, dueAt, lastStatus: status, lastError: error, deliveredAt: null });
    if (givenUp) {
      observer.log("warn", "A message to a caller was given up.", {
        task: delivery.taskId,
        delivery: delivery.id,
        tries,
      });
    }
  }

  /** The URL is the caller's: into a private network only where an administrator has named the place, and a redirect is an answer like any other. */
  async #send(delivery: Delivery): Promise<{ readonly status: number | null; readonly error: string | null }> {
    const { transport, clock, secrets } = this.#outside;
    const { id, url, body } = delivery;
    try {
      const signed = webhookHeaders(id, body, secrets.webhookSecrets(delivery.workspaceId), clock.now());
      const answer = await transport.send(
        {
          method: "POST",
          url,
          headers: { "content-type": "application/json", "user-agent": "sluice", ...signed },
          body: encoder.encode(body),
          connectMs: bounds.taskPollConnectMs,
          headersMs: bounds.taskPollHeadersMs,
          totalMs: bounds.deliveryTotalMs,
          allowPrivateNetwork: false,
          webhook: true,
        },
        ownSignal(),
      );
      answer.body.cancel();
      const { status } = answer;
      const error = isGood(status) ? null : remarkSentence("callback", { code: "answered", params: { status } });
      return { status, error };
    } catch (thrown) {
      return { status: null, error: webhookProblem(thrown).slice(0, deliveryErrorCharactersMax) };
    }
  }
}

/** Waits after the first try, the second, and so on. */
const waitsMs: readonly number[] = [5_000, 30_000, 120_000, 15 * 60_000, 3_600_000, 3 * 3_600_000, 6 * 3_600_000];

const encoder = new TextEncoder();

/**
 * Why a message did not arrive, for whoever chose its address. All that keeps a connection from standing is told alike:
 * whether a name exists, and whether it leads into our own network, is none of their business.
 */
export function webhookProblem(thrown: unknown): string {
  const { code, message } = asFailure(thrown);
  if (code === "upstream_unreachable") return remarkSentence("callback", { code: "unreachable", params: {} });
  return code === "upstream_timeout" ? remarkSentence("callback", { code: "timeout", params: {} }) : message;
}

/**
 * The headers of Standard Webhooks (standard-webhooks, "Signature scheme"): HMAC-SHA-256 over `id.timestamp.body` with
 * the bytes behind `whsec_`, one signature for each secret. `now` is Unix milliseconds.
 */
export function webhookHeaders(
  id: string,
  body: string,
  secrets: readonly string[],
  now: number,
): Record<string, string> {
  const timestamp = String(Math.floor(now / 1_000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
    if (key.length === 0) throw new Error("a webhook secret is empty");
    return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}
