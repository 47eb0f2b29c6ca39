import { Counter, type Registry } from "./prometheus.ts";

/** One series of a counter as a plain number: adding to it hashes no labels, and the scrape pays for the rest. */
export interface Tally {
  count: number;
}

export interface TallyOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Label[];
  /** What a count is at the scrape, in the unit of the metric. Absent: itself. */
  readonly shown?: (count: number) => number;
}

/** Registers a counter and gives the function that finds the tally of some labels; the same labels, the same tally. */
export function registerTallies<Label extends string>(
  registry: Registry,
  { shown = (count) => count, ...options }: TallyOptions<Label>,
): (labels: Readonly<Record<Label, string>>) => Tally {
  const tallies = new Map<string, { readonly labels: Readonly<Record<Label, string>>; readonly tally: Tally }>();
  new Counter<Label>({
    ...options,
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels, tally } of tallies.values()) this.inc({ ...labels }, shown(tally.count));
    },
  });
  return (labels) => {
    const key = options.labelNames.map((name) => labels[name]).join("\n");
    const known = tallies.get(key);
    if (known !== undefined) return known.tally;
    const tally = { count: 0 };
    tallies.set(key, { labels, tally });
    return tally;
  };
}
