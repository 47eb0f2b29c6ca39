import { containerModel, type NanoUsd, type Provider, pricePerCall } from "#core/index.ts";
import { objectOf, parseObject, textOf } from "#protocols/index.ts";
import { containerMemories, type ObjectPrices, objectPricesOf } from "#providers/index.ts";
import type { PassThroughPrice, PassThroughRoute } from "../pass-through/pass-through-call.ts";
import { unsold } from "../pass-through/pass-through-call.ts";

/**
 * The price of a call for an object that a vendor stores. `unknown`: a key with a budget may not make it. A container is charged for
 * its idle life when it is created, and with each later use for the time since the last one. That is never more than its idle life: a
 * container that was idle for longer has ended.
 */
export function objectPrice(
  { provider, owned }: PassThroughRoute,
  method: string,
  body: Uint8Array | null,
  now: number,
): PassThroughPrice {
  const prices = objectPricesOf(provider);
  const endpoint = owned?.endpoint;
  // The deletion of a file in it is a use, its own is free.
  if (endpoint?.collection === "containers" && !(method === "DELETE" && endpoint.path.endsWith("/{id}"))) {
    const object = owned?.object ?? null;
    const container = object === null ? newContainer(body) : usedContainer(object.upstreamModel);
    const { memory, idleMinutes } = container;
    const minutes = object === null ? idleMinutes : Math.min(idleMinutes, Math.max(0, now - object.createdAt) / 60_000);
    const perMinute = prices.containerMinute(memory);
    const nanoUsd = perMinute === null ? null : Math.ceil(perMinute * minutes);
    return priced(provider, modelOf(container), nanoUsd);
  }
  if (method === "POST" && endpoint?.fee !== undefined && endpoint.fee !== "container") {
    return priced(provider, "", feeOf(prices, endpoint.fee));
  }
  return priced(provider, "", 0);
}

function feeOf(prices: ObjectPrices, fee: "vector_store" | "vector_store_search"): NanoUsd | null {
  return fee === "vector_store" ? prices.vectorStore : prices.search;
}

function priced(provider: Provider, upstreamModel: string, nanoUsd: NanoUsd | null): PassThroughPrice {
  if (nanoUsd === 0) return { ...unsold(provider, upstreamModel, null), by: "nothing", floor: null, heldTimes: 1 };
  const floor = nanoUsd === null ? null : pricePerCall(nanoUsd);
  const by = floor === null ? "unknown" : "call";
  return { ...unsold(provider, upstreamModel, floor), by, floor, heldTimes: 1 };
}

interface Container {
  /** One of `containerMemories`; any other has no price. */
  readonly memory: string;
  /** It ends when it was not used for so long. */
  readonly idleMinutes: number;
}

/** Source: OpenAI API reference, "Create container": it ends 20 minutes after its last use, and costs at least five. */
const usualIdleMinutes = 20;
const minutesMin = 5;
/** More than vendors accept; it bounds the price. */
const minutesMax = 1_000_000;
const memories: ReadonlySet<string> = new Set(containerMemories);

function newContainer(body: Uint8Array | null): Container {
  const read = body === null ? null : parseObject(new TextDecoder().decode(body));
  const minutes = Number(objectOf(read?.["expires_after"])["minutes"] ?? usualIdleMinutes);
  const memory = textOf(read?.["memory_limit"]) ?? containerMemories[0];
  return {
    memory: memories.has(memory) ? memory : "other",
    idleMinutes: Number.isNaN(minutes)
      ? usualIdleMinutes
      : Math.min(minutesMax, Math.max(minutesMin, Math.ceil(minutes))),
  };
}

/** The upstream's model in entries and records: `container-4g`, or `container-4g-60m` with a longer idle life than usual. */
function modelOf({ memory, idleMinutes }: Container): string {
  return `${containerModel}${memory}${idleMinutes > usualIdleMinutes ? `-${idleMinutes}m` : ""}`;
}

/** The container of a record. One that a call's tool started is recorded with the call's model. */
function usedContainer(upstreamModel: string): Container {
  const [, memory = containerMemories[0], minutes = usualIdleMinutes] = modelForm.exec(upstreamModel) ?? [];
  return { memory, idleMinutes: Number(minutes) };
}

const modelForm = new RegExp(`^${containerModel}(\\w+)(?:-(\\d+)m)?$`);
