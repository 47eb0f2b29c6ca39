import { BoundedMap, bounds, LastingFault, type Principal, sleep, within } from "#core/index.ts";
import type { AgentTelemetry, Clock, Observer, OtlpSettings, RelayedTelemetry } from "#ports/index.ts";
import { type CollectorNetwork, openCollector, type SendToCollector } from "./collector-client.ts";
import { ExportQueue, ListStore } from "./export-queue.ts";
import { type Attribution, attributedJson, attributedProtobuf, MalformedTelemetry } from "./relayed-export.ts";

type RelayedSignal = RelayedTelemetry["signal"];

export interface TelemetryRelayOptions extends CollectorNetwork {
  readonly settings: OtlpSettings;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
  /** null if the user no longer exists. */
  readonly emailOf: (userId: string) => Promise<string | null>;
}

const signals = ["traces", "metrics", "logs"] as const;

/**
 * Forwards the telemetry of coding agents to the gateway's own collector. `take` only adds to a bounded queue and never fails. Before
 * a message is sent, its attributes about the user are replaced by those of the key it came with.
 */
export class TelemetryRelay implements AgentTelemetry {
  /** Messages that the collector accepted, and lost messages. */
  readonly counts = { relayed: 0, lost: 0 };
  readonly #options: TelemetryRelayOptions;
  readonly #queues: ReadonlyMap<RelayedSignal, ExportQueue<RelayedTelemetry, readonly RelayedTelemetry[]>>;
  readonly #emails: BoundedMap<string, string>;
  #bytes = 0;
  #closed = false;

  private constructor(options: TelemetryRelayOptions, senders: ReadonlyMap<RelayedSignal, SendToCollector>) {
    this.#options = options;
    const life = { clock: options.clock, ms: bounds.relayedEmailMs };
    this.#emails = new BoundedMap(bounds.relayedEmailsMax, { life });
    this.#queues = new Map([...senders].map(([signal, send]) => [signal, this.#openQueue(signal, send)]));
  }

  /** Throws when a certificate cannot be read. */
  static async open(options: TelemetryRelayOptions): Promise<TelemetryRelay> {
    const senders = new Map<RelayedSignal, SendToCollector>();
    for (const signal of signals) {
      const own = options.settings[signal];
      if (own !== null) senders.set(signal, await openCollector(own, options));
    }
    return new TelemetryRelay(options, senders);
  }

  takes(signal: RelayedSignal): boolean {
    return this.#queues.has(signal);
  }

  take(message: RelayedTelemetry): void {
    const queue = this.#queues.get(message.signal);
    if (queue === undefined || this.#closed || message.body.length === 0) return;
    if (queue.size >= bounds.relayedMessagesMax || this.#bytes + message.body.length > bounds.relayedBytesMax) {
      this.counts.lost++;
      return;
    }
    this.#bytes += message.body.length;
    queue.add(message);
  }

  /** Sends what waits, within a time limit. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const flushed = Promise.all([...this.#queues.values()].map((queue) => queue.flush()));
    await within(this.#options.clock, bounds.otlpFlushMs, flushed, () => undefined);
  }

  #openQueue(signal: RelayedSignal, send: SendToCollector): ExportQueue<RelayedTelemetry, readonly RelayedTelemetry[]> {
    const { clock, observer } = this.#options;
    const fault = new LastingFault({
      ...{ clock, observer, level: "warn" },
      fault: `failed to forward ${signal} of agents to the telemetry collector; they are dropped`,
      over: `${signal} of agents are forwarded to the telemetry collector again`,
    });
    const batchMax = bounds.relayedBatchMax;
    return new ExportQueue({
      clock,
      batch: { delayMs: bounds.relayedDelayMs, timeoutMs: 0, queueMax: bounds.relayedMessagesMax, batchMax },
      store: new ListStore<RelayedTelemetry>(),
      send: async (messages) => {
        try {
          for (const { bodies, isJson } of await this.#prepare(messages)) {
            const { problem } = await send(Buffer.concat(bodies), isJson ? "http/json" : "http/protobuf");
            this.counts[problem === null ? "relayed" : "lost"] += bodies.length;
            if (problem === null) fault.succeeded();
            else fault.failed({ problem });
          }
          return true;
        } finally {
          for (const { body } of messages) this.#bytes -= body.length;
        }
      },
      onLost: (count, why) => {
        this.counts.lost += count;
        if (why === "full") fault.failed({ dropped: count });
      },
    });
  }

  /**
   * Joins the protobuf messages of one key into one request: concatenated export requests are a valid one. Requests of different keys
   * stay separate, so that a rejected one costs only its sender.
   */
  async #prepare(messages: readonly RelayedTelemetry[]): Promise<readonly Export[]> {
    const joined = new Map<string, Export>();
    const single: Export[] = [];
    for (const message of messages) {
      const body = await this.#attributed(message);
      const { isJson, principal } = message;
      const before = joined.get(principal.key.id);
      if (body === null) this.counts.lost++;
      else if (isJson) single.push({ bodies: [body], isJson });
      else if (before === undefined) joined.set(principal.key.id, { bodies: [body], isJson });
      else before.bodies.push(body);
      // Lets the event loop run between large messages.
      if (message.body.length > bounds.relayedTurnBytes) await sleep(this.#options.clock, 0, null);
    }
    return [...joined.values(), ...single];
  }

  /** null if the message is malformed. */
  async #attributed({ body, signal, isJson, principal }: RelayedTelemetry): Promise<Uint8Array | null> {
    const service = this.#options.settings.resource["service.name"] ?? "sluice";
    const context = { attribution: await this.#attributionOf(principal), service };
    try {
      return isJson ? attributedJson(body, signal, context) : attributedProtobuf(body, signal, context);
    } catch (thrown) {
      if (thrown instanceof MalformedTelemetry) return null;
      throw thrown;
    }
  }

  async #attributionOf({ person, workspace, group, key }: Principal): Promise<Attribution> {
    const ofKey = {
      "sluice.workspace": workspace.slug,
      "sluice.workspace.id": workspace.id,
      "sluice.group": group.name,
      "sluice.key.id": key.id,
    };
    if (person === null) return ofKey;
    const email = await this.#emailOf(person);
    return { "user.id": person, ...(email === null ? {} : { "user.email": email }), ...ofKey };
  }

  async #emailOf(userId: string): Promise<string | null> {
    const cached = this.#emails.get(userId);
    if (cached !== undefined) return cached;
    const found = await this.#options.emailOf(userId).catch(() => null);
    if (found !== null) this.#emails.set(userId, found);
    return found;
  }
}

interface Export {
  readonly bodies: Uint8Array[];
  readonly isJson: boolean;
}
