import { isLongContext, type LedgerEntry, type PricedClass, type PriceVersion, pricedClasses } from "#core/index.ts";

/** Members that are equal in all entries of a sum. "": no value. */
const scopeMembers = [
  "workspaceId",
  "groupId",
  "keyId",
  "personId",
  "provider",
  "model",
  "upstreamModel",
  "priceVersion",
  "usageSource",
  "costSource",
  "served",
  "adjustment",
  "adjusts",
] as const;

type ScopeMember = (typeof scopeMembers)[number];

export type FocusScope = { readonly [Member in ScopeMember]: string } & {
  /** Charged at long-context prices. */
  readonly isLong: boolean;
};

type Usage = Partial<Record<PricedClass, number>>;

/** Entries of one day with the same scope. */
export interface FocusSum {
  readonly scope: FocusScope;
  calls: number;
  cost: bigint;
  readonly usage: Usage;
  /** Tags that all of its entries have. */
  tags: Readonly<Record<string, string>>;
}

/** Sums of a workspace's entries by scope. */
export class FocusSums {
  readonly #sums = new Map<string, FocusSum>();

  get size(): number {
    return this.#sums.size;
  }

  add(entry: LedgerEntry, price: PriceVersion | null): void {
    const isLong = price !== null && isLongContext(price.table, entry.usage);
    const key = JSON.stringify([...scopeMembers.map((member) => entry[member] ?? ""), isLong]);
    let sum = this.#sums.get(key);
    if (sum === undefined) {
      sum = { scope: scopeOf(key), calls: 0, cost: 0n, usage: {}, tags: entry.tags };
      this.#sums.set(key, sum);
    } else if (Object.keys(sum.tags).length > 0) sum.tags = commonTags(sum.tags, entry.tags);
    sum.calls += entry.calls ?? 1;
    sum.cost += BigInt(entry.costNanoUsd);
    for (const name of pricedClasses) {
      // Whole, because fractions of an old record would have no exact price.
      const count = Math.round(entry.usage[name]);
      if (count !== 0) sum.usage[name] = (sum.usage[name] ?? 0) + count;
    }
  }

  /** Subtracts sums that were exported before. */
  subtract(lines: string): void {
    for (const line of lines.split("\n")) {
      if (line === "") continue;
      const [key, calls, cost, usage] = JSON.parse(line) as StoredSum;
      const sum = this.#sums.get(key) ?? { scope: scopeOf(key), calls: 0, cost: 0n, usage: {}, tags: {} };
      this.#sums.set(key, sum);
      sum.calls -= calls;
      sum.cost -= BigInt(cost);
      for (const [name, count] of Object.entries(usage) as [PricedClass, number][]) {
        sum.usage[name] = (sum.usage[name] ?? 0) - count;
      }
    }
  }

  /** The sums that are not zero, in a fixed order, and none afterwards. */
  take(): readonly (readonly [key: string, sum: FocusSum])[] {
    const sums = [...this.#sums].filter(([, sum]) => !isZero(sum));
    this.#sums.clear();
    return sums.sort(([one], [other]) => (one < other ? -1 : 1));
  }
}

type StoredSum = readonly [key: string, calls: number, cost: string, usage: Usage];

/** As a line for `subtract`. */
export function storedSum(key: string, { calls, cost, usage }: FocusSum): string {
  return `${JSON.stringify([key, calls, String(cost), usage] satisfies StoredSum)}\n`;
}

function scopeOf(key: string): FocusScope {
  const values = JSON.parse(key) as readonly unknown[];
  const members = scopeMembers.map((member, place) => [member, values[place]]);
  return Object.fromEntries([...members, ["isLong", values.at(-1)]]) as FocusScope;
}

function isZero({ calls, cost, usage }: FocusSum): boolean {
  return calls === 0 && cost === 0n && Object.values(usage).every((count) => count === 0);
}

function commonTags(one: FocusSum["tags"], other: FocusSum["tags"]): FocusSum["tags"] {
  const common = Object.entries(one).filter(([name, value]) => other[name] === value);
  return common.length === Object.keys(one).length ? one : Object.fromEntries(common);
}
