import { type UsageClassName, usageTable } from "@sluice/contract/words";

/**
 * Classes that do not overlap: their sum is what was processed. `reasoning` is the one exception: it is reported inside
 * `output`. Counts are whole numbers ≥ 0. What the classes are stands in the contract's table.
 */
export type Usage = { readonly [Class in UsageClassName]: number };

/** Where the numbers come from: told by the upstream, estimated by us, or nothing was used. */
export type UsageSource = "upstream" | "estimated" | "none";

export const usageClasses: readonly UsageClassName[] = usageTable.map(({ name }) => name);

export const noUsage: Usage = Object.freeze(
  Object.fromEntries(usageClasses.map((name) => [name, 0])) as Record<UsageClassName, number>,
);

/** Charged by something other than tokens. */
export type CountedClass = Extract<(typeof usageTable)[number], { readonly side: null }>["name"];

export const countedClasses: readonly CountedClass[] = usageTable.flatMap((row) =>
  row.side === null ? [row.name] : [],
);

/** Every token that counts towards a tokens-per-minute limit: all classes but `reasoning`, which output holds. */
export function tokensOf(usage: Usage): number {
  return (
    usage.inputUncached +
    usage.cacheRead +
    usage.cacheWrite5m +
    usage.cacheWrite1h +
    usage.output +
    usage.audioInput +
    usage.audioOutput +
    usage.imageInput +
    usage.imageOutput
  );
}
