/** Something that waits, with the networks it came from, the largest first. */
export interface Waiting {
  readonly networks: readonly string[];
}

/**
 * The `count` that make room for others: of the network with most, of its part with most, the oldest, and so on from what is left.
 * `waiting` is sorted, the oldest first.
 */
export function fromFullestNetworks<Item extends Waiting>(
  waiting: readonly Item[],
  count: number,
  depth = 0,
): readonly Item[] {
  if (count <= 0) return [];
  if (count >= waiting.length || waiting[0]?.networks.length === depth) return waiting.slice(0, count);
  const networks = [...Map.groupBy(waiting, (one) => one.networks[depth] ?? "").values()];
  // The sort is stable: of networks with as many, the one whose oldest is older comes first.
  networks.sort((one, other) => other.length - one.length);
  // The fullest that are cut down to one size, which is at least that of the next.
  let cut = 1;
  let held = networks[0]?.length ?? 0;
  while (held - cut * (networks[cut]?.length ?? 0) < count) held += networks[cut++]?.length ?? 0;
  const kept = held - count;
  return networks.slice(0, cut).flatMap((network, place) => {
    const keeps = Math.floor(kept / cut) + (place >= cut - (kept % cut) ? 1 : 0);
    return fromFullestNetworks(network, network.length - keeps, depth + 1);
  });
}
