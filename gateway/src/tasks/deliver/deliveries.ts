import { remarkSentence } from "@sluice/contract/words";
import { asFailure, bounds, type WebhookDelivery, webhookSignature } from "#core/index.ts";
import { isGood } from "#provider-client/index.ts";
import type { VideoTasksOptions } from "../options.ts";
import { neverAborted } from "../upstream-call.ts";

const deliveryTriesMax = 8;
export const deliveryLeaseMs = 60_000;
const deliveriesInFlightMax = 8;
/** Longest stored error of a delivery. */
const deliveryErrorCharactersMax = 300;

type Dependencies = Pick<VideoTasksOptions, "store" | "transport" | "clock" | "chance" | "observer" | "secrets">;

/**
 * Webhooks for ended tasks. They are stored in the transaction that ends the task and retried until the receiver answers
 * 2xx: at-least-once delivery.
 */
export class Deliveries {
  readonly #dependencies: Dependencies;
  #inFlight = 0;
  #delivered = 0;
  #failed = 0;
  #wake: () => void = () => {};

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Attempts of this process: with a 2xx answer, and all others. */
  get tries(): { readonly delivered: number; readonly failed: number } {
    return { delivered: this.#delivered, failed: this.#failed };
  }

  onWake(wake: () => void): void {
    this.#wake = wake;
  }

  wake(): void {
    this.#wake();
  }

  /** Leases and starts due deliveries up to the concurrency limit. Resolves to their number. */
  async pass(): Promise<number> {
    const { store, clock } = this.#dependencies;
    const room = deliveriesInFlightMax - this.#inFlight;
    if (room <= 0) return 0;
    const due = await store.dueDeliveries(clock.now(), deliveryLeaseMs, room);
    for (const delivery of due) void this.#run(delivery);
    return due.length;
  }

  async #run(delivery: WebhookDelivery): Promise<void> {
    this.#inFlight++;
    try {
      await this.#deliver(delivery);
    } catch (thrown) {
      // Its lease ends and it is sent again.
      this.#dependencies.observer.log("warn", "failed to record the result of a webhook; sending it again", {
        delivery: delivery.id,
        error: thrown,
      });
    } finally {
      this.#inFlight--;
    }
  }

  async #deliver(delivery: WebhookDelivery): Promise<void> {
    const { store, clock, chance, observer } = this.#dependencies;
    const tries = delivery.tries + 1;
    const { status, error } = await this.#send(delivery);
    const now = clock.now();
    if (status !== null && isGood(status)) {
      this.#delivered++;
      await store.recordDelivery(delivery, {
        tries,
        dueAt: null,
        lastStatus: status,
        lastError: null,
        deliveredAt: now,
      });
      return;
    }
    this.#failed++;
    // Standard Webhooks: 410 means that the endpoint was removed.
    const waitMs = status === 410 ? undefined : waitsMs[tries - 1];
    const isLast = waitMs === undefined || tries >= deliveryTriesMax;
    const dueAt = isLast ? null : now + Math.round(waitMs * (0.9 + 0.2 * chance.unit()));
    await store.recordDelivery(delivery, { tries, dueAt, lastStatus: status, lastError: error, deliveredAt: null });
    if (isLast) {
      observer.log("warn", "gave up on a webhook", {
        task: delivery.taskId,
        delivery: delivery.id,
        tries,
      });
    }
  }

  /** The caller chose the URL: redirects are not followed, and a private network needs an exemption. */
  async #send(delivery: WebhookDelivery): Promise<{ readonly status: number | null; readonly error: string | null }> {
    const { transport, clock, secrets } = this.#dependencies;
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
        neverAborted(),
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

/** Delay after each failed attempt. */
const waitsMs: readonly number[] = [5_000, 30_000, 120_000, 15 * 60_000, 3_600_000, 3 * 3_600_000, 6 * 3_600_000];

const encoder = new TextEncoder();

/** The error that the caller may see. All connection failures look alike, so that callers cannot scan our network. */
function webhookProblem(thrown: unknown): string {
  const { code, message } = asFailure(thrown);
  if (code === "upstream_unreachable") return remarkSentence("callback", { code: "unreachable", params: {} });
  return code === "upstream_timeout" ? remarkSentence("callback", { code: "timeout", params: {} }) : message;
}

/** Signature headers of Standard Webhooks: HMAC-SHA-256 over `id.timestamp.body`, one signature per secret. `now` is Unix milliseconds. */
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
    return webhookSignature(key, id, timestamp, body);
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}
