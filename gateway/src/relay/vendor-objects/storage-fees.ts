import { type ApiKey, LastingFault, type NanoUsd, type Provider, type UpstreamObject } from "#core/index.ts";
import type { Adjustments, OwnedAdjustment } from "#ledger/index.ts";
import type { UpstreamObjectStore } from "#ports/index.ts";
import { parseObject } from "#protocols/index.ts";
import { type OutboundDraft, objectPricesOf } from "#providers/index.ts";
import type { RelayDependencies } from "../call.ts";
import { passThroughRoute } from "../pass-through/pass-through-call.ts";

export interface StorageFeesOptions
  extends Pick<RelayDependencies, "configSnapshot" | "sharesAccount" | "providerClient" | "clock" | "observer"> {
  readonly objectStore: Pick<UpstreamObjectStore, "everywhere" | "put">;
  readonly adjustments: Pick<Adjustments, "book" | "isBooked">;
  readonly keyById: (id: string) => Promise<ApiKey | null>;
  /** The last day that was charged completely (`2026-11-30`); null: none. */
  readonly readMark: () => Promise<string | null>;
  readonly writeMark: (day: string) => Promise<void>;
}

const gigabyte = 1e9;
/** Of an account, shared by its stores in proportion to their size. Source: OpenAI's prices of 2026-11. */
const freeBytes = gigabyte;
const pageRows = 500;
const readTogether = 8;
const retryMs = 3_600_000;

interface Measured {
  readonly store: UpstreamObject;
  readonly bytes: number;
}

/**
 * Charges a day (UTC) of what vector stores contain, by the size that the vendor reports when it is read. `run` does nothing for a day that
 * is complete. A store is charged once a day, also after a crash or by two processes. A store that could not be read or
 * charged, because its account has no price or is disabled, is tried again every hour of the day.
 */
export class StorageFees {
  readonly #options: StorageFeesOptions;
  readonly #fault: LastingFault;
  /** Monotonic. */
  #retryAtMs = Number.NEGATIVE_INFINITY;
  /** Accounts that were charged completely, or were reported because they cannot be charged, on this day. */
  #today = { day: "", charged: new Set<string>(), reported: new Set<string>() };

  constructor(options: StorageFeesOptions) {
    const { clock, observer } = options;
    this.#options = options;
    this.#fault = new LastingFault({
      ...{ clock, observer, level: "warn" },
      fault: "failed to charge the storage of vector stores; retrying",
      over: "the storage of vector stores is charged again",
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      await this.#run(signal);
    } catch (error) {
      if (!signal.aborted) this.#fault.failed({ error });
      throw error;
    }
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, configSnapshot, readMark, writeMark } = this.#options;
    const now = clock.now();
    const day = new Date(now).toISOString().slice(0, 10);
    if ((await readMark()) === day || clock.monotonic() < this.#retryAtMs) return;
    if (this.#today.day !== day) this.#today = { day, charged: new Set(), reported: new Set() };
    let [isComplete, hasFailed] = [true, false];
    for (const [providerId, stores] of await this.#storesByAccount(now)) {
      const provider = configSnapshot().providers.get(providerId);
      const price = provider === undefined ? null : objectPricesOf(provider).storageDay;
      if (provider === undefined || price === 0 || this.#today.charged.has(providerId)) continue;
      if (price === null || !provider.enabled) {
        isComplete = false;
        this.#reportUncharged(providerId, price === null ? "it has no price of stored data" : "it is disabled");
        continue;
      }
      const measured = await this.#measure(provider, stores, signal);
      if (signal.aborted) return;
      await this.#charge(measured.filter(isStored), price, day, now);
      if (measured.length === stores.length) this.#today.charged.add(providerId);
      else [isComplete, hasFailed] = [false, true];
    }
    if (!hasFailed) this.#fault.succeeded();
    if (isComplete) await writeMark(day);
    else this.#retryAtMs = clock.monotonic() + retryMs;
  }

  /** Once a day for each account. */
  #reportUncharged(provider: string, reason: string): void {
    const { day, reported } = this.#today;
    if (reported.has(provider)) return;
    reported.add(provider);
    const message = "storage of vector stores not charged; retrying until the end of the day";
    this.#options.observer.log("warn", message, { provider, day, reason });
  }

  async #storesByAccount(now: number): Promise<ReadonlyMap<string, readonly UpstreamObject[]>> {
    const { objectStore } = this.#options;
    const accounts = new Map<string, Map<string, UpstreamObject>>();
    for (let after: UpstreamObject | null = null; ; ) {
      const page = await objectStore.everywhere("vector_store", { now, after, limit: pageRows });
      for (const store of page) {
        const stores = accounts.get(store.provider) ?? new Map<string, UpstreamObject>();
        accounts.set(store.provider, stores.set(store.id, store));
      }
      after = page.at(-1) ?? null;
      if (page.length < pageRows) break;
    }
    return new Map([...accounts].map(([provider, stores]) => [provider, [...stores.values()]]));
  }

  /** The stores that could be read. One that the vendor no longer has is empty. */
  async #measure(
    provider: Provider,
    stores: readonly UpstreamObject[],
    signal: AbortSignal,
  ): Promise<readonly Measured[]> {
    const measured: Measured[] = [];
    for (let at = 0; at < stores.length && !signal.aborted; at += readTogether) {
      const reading = stores.slice(at, at + readTogether).map(async (store): Promise<Measured | null> => {
        try {
          return { store, bytes: await this.#sizeOf(provider, store, signal) };
        } catch (error) {
          if (!signal.aborted) this.#fault.failed({ provider: provider.id, store: store.id, error });
          return null;
        }
      });
      for (const one of await Promise.all(reading)) if (one !== null) measured.push(one);
    }
    return measured;
  }

  async #sizeOf(provider: Provider, store: UpstreamObject, signal: AbortSignal): Promise<number> {
    const { providerClient, objectStore, clock } = this.#options;
    const path = `/v1/vector_stores/${encodeURIComponent(store.id)}`;
    const { kind, target } = passThroughRoute(this.#options, provider.id, path, "");
    const draft: OutboundDraft = {
      ...{ provider, upstreamModel: "", stream: false, method: "GET", url: target.url, headers: {}, body: null },
    };
    const answer = await providerClient.ask(kind, draft, provider.timeouts, signal);
    if (answer.status === 404) {
      const now = clock.now();
      await objectStore.put({ ...store, expiresAt: now, createdAt: Math.max(now, store.createdAt) });
      return 0;
    }
    if (!answer.good) throw kind.classify(answer);
    const bytes = parseObject(new TextDecoder().decode(answer.body))?.["usage_bytes"];
    if (typeof bytes === "number" && Number.isSafeInteger(bytes) && bytes >= 0) return bytes;
    throw new Error("the vendor's answer has no usage_bytes");
  }

  async #charge(stores: readonly Measured[], price: NanoUsd, day: string, at: number): Promise<void> {
    const total = stores.reduce((sum, { bytes }) => sum + bytes, 0);
    const charged = Math.max(0, total - freeBytes);
    if (charged === 0) return;
    const { adjustments } = this.#options;
    for (const { store, bytes } of stores) {
      const id = `storage/${store.provider}/${store.id}/${day}`;
      if (await adjustments.isBooked(id)) continue;
      const costNanoUsd = Math.ceil(price * (bytes / gigabyte) * (charged / total));
      await adjustments.book([await this.#adjustment(store, { id, at, costNanoUsd })]);
    }
  }

  /** For the key that made the store, also if it is revoked; without its key, for the workspace. */
  async #adjustment(
    store: UpstreamObject,
    money: Pick<OwnedAdjustment, "id" | "at" | "costNanoUsd">,
  ): Promise<OwnedAdjustment> {
    const key = await this.#options.keyById(store.keyId);
    const owner = {
      workspaceId: store.workspaceId,
      groupId: key?.groupId ?? "",
      keyId: key?.id ?? "",
      ...(store.personId === null ? {} : { personId: store.personId }),
      tags: key?.tags ?? {},
    };
    return { ...money, reason: "storage", adjusts: store.id, provider: store.provider, model: "", owner };
  }
}

const isStored = ({ bytes }: Measured): boolean => bytes > 0;
