import { containerModel, type NanoUsd, type Provider, pricePerCall } from "#core/index.ts";
import { objectOf, parseObject, textOf } from "#protocols/index.ts";
import { containerMemories, type ObjectPrices, objectPricesOf } from "#providers/index.ts";
import type { PassThroughPrice, PassThroughRoute } from "../pass-through/pass-through-call.ts";
import { unsold } from "../pass-through/pass-through-call.ts";

/**
 * The price of a call for an object that a vendor stores. `unknown`: a key with a budget may not make it. A container is charged for
 * its idle life when it is created, and with each later use for the time since the last one.
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
    const { memory, minutes } = owned?.object == null ? newContainer(body) : usedContainer(owned.object, now);
    const perMinute = prices.containerMinute(memory);
    const nanoUsd = perMinute === null ? null : Math.ceil(perMinute * minutes);
    return priced(provider, `${containerModel}${memory}`, nanoUsd);
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

interface UsedContainer {
  readonly memory: string;
  readonly minutes: number;
}

/** Source: OpenAI API reference, "Create container": it ends 20 minutes after its last use, and costs at least five. */
const idleMinutes = 20;
const minutesMin = 5;

function newContainer(body: Uint8Array | null): UsedContainer {
  const read = body === null ? null : parseObject(new TextDecoder().decode(body));
  const minutes = Number(objectOf(read?.["expires_after"])["minutes"] ?? idleMinutes);
  return {
    memory: textOf(read?.["memory_limit"]) ?? containerMemories[0],
    minutes: Math.max(minutesMin, Number.isFinite(minutes) ? minutes : idleMinutes),
  };
}

function usedContainer(
  { upstreamModel, createdAt }: { readonly upstreamModel: string; readonly createdAt: number },
  now: number,
): UsedContainer {
  const memory = upstreamModel.startsWith(containerModel) ? upstreamModel.slice(containerModel.length) : "";
  return {
    // One that a call's tool started.
    memory: memory === "" ? containerMemories[0] : memory,
    minutes: Math.max(0, now - createdAt) / 60_000,
  };
}
