import { type AttemptDetail, type PricedBy, usageTable } from "@sluice/contract";
import { t } from "../../../language/areas/prices.ts";

type UsageByClass = AttemptDetail["usage"];

interface TokenClass {
  readonly name: string;
  readonly label: string;
  readonly by: PricedBy;
  /** Included in another class: shown but not added. */
  readonly inside?: string;
}

/** The classes in display order: input, output, other. */
const tokenClasses: readonly TokenClass[] = [
  ...usageTable.filter(({ side }) => side === "input"),
  ...usageTable.filter(({ side }) => side === "output"),
  ...usageTable.filter(({ side }) => side === null),
].map(({ name, column, by, price }) => ({
  name: column,
  label: t(`prices.usage.${name}`),
  by,
  ...(price === null ? { inside: "output" } : {}),
}));

/** A class that a later gateway may have is shown under its own name. */
export function tokenClass(name: string): TokenClass {
  return tokenClasses.find((each) => each.name === name) ?? { name, label: name, by: "million" };
}

export interface TokenCount {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly images: number;
  readonly videoSeconds: number;
  readonly toolCalls: number;
}

const columnsOf = (side: "input" | "output") =>
  usageTable.filter((row) => row.side === side && row.price !== null).map(({ column }) => column);
const inputs: readonly string[] = columnsOf("input");
const outputs: readonly string[] = columnsOf("output");

export function countTokens(usages: readonly UsageByClass[]): TokenCount {
  const sum = (names: readonly string[]) =>
    usages.reduce((before, usage) => before + names.reduce((all, name) => all + (usage[name] ?? 0), 0), 0);
  return {
    input: sum(inputs),
    cached: sum(["cache_read", "cache_read_audio"]),
    output: sum(outputs),
    images: sum(["images"]),
    videoSeconds: sum(["video_seconds"]),
    toolCalls: sum(["web_searches", "file_searches", "map_searches", "code_sessions"]),
  };
}

export interface UsageLine {
  readonly name: string;
  readonly label: string;
  readonly by: PricedBy;
  readonly units: number;
  /** USD for one unit; null: no price for it. */
  readonly unitUsd: number | null;
  readonly usd: number | null;
  readonly inside: boolean;
}

/** Usage by class, with its cost. */
export function usageLines(attempt: Pick<AttemptDetail, "usage" | "cost_lines">): readonly UsageLine[] {
  const costs = new Map(attempt.cost_lines.map((line) => [line.class, line]));
  const names = new Set([...tokenClasses.map((each) => each.name), ...Object.keys(attempt.usage), ...costs.keys()]);
  return [...names].flatMap((name) => {
    const cost = costs.get(name);
    const units = attempt.usage[name] ?? cost?.units ?? 0;
    if (units === 0) return [];
    const { label, by, inside } = tokenClass(name);
    return [
      {
        name,
        label,
        by,
        units,
        unitUsd: cost?.unit_usd ?? null,
        usd: cost?.usd ?? null,
        inside: inside !== undefined,
      },
    ];
  });
}
