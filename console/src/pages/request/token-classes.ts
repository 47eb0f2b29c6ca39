import type { AttemptDetail } from "@sluice/contract";

type UsageByClass = AttemptDetail["usage"];

export interface TokenClass {
  readonly name: string;
  readonly label: string;
  readonly unit: "token" | "image" | "second" | "call";
  /** Told inside another class: shown, and not added up. */
  readonly inside?: string;
}

/** The classes in the order in which a reader looks for them. */
export const tokenClasses: readonly TokenClass[] = [
  { name: "input_uncached", label: "Input", unit: "token" },
  { name: "cache_read", label: "Input from cache", unit: "token" },
  { name: "cache_write_5m", label: "Written to cache, 5 min", unit: "token" },
  { name: "cache_write_1h", label: "Written to cache, 1 h", unit: "token" },
  { name: "audio_input", label: "Audio in", unit: "token" },
  { name: "image_input", label: "Images in", unit: "token" },
  { name: "output", label: "Output", unit: "token" },
  { name: "reasoning", label: "Reasoning", unit: "token", inside: "output" },
  { name: "audio_output", label: "Audio out", unit: "token" },
  { name: "image_output", label: "Images out", unit: "token" },
  { name: "images", label: "Images made", unit: "image" },
  { name: "video_seconds", label: "Video", unit: "second" },
  { name: "web_searches", label: "Web searches", unit: "call" },
  { name: "file_searches", label: "File searches", unit: "call" },
  { name: "code_sessions", label: "Code sessions", unit: "call" },
];

/** A class that a later gateway may have is shown under its own name. */
export function tokenClass(name: string): TokenClass {
  return tokenClasses.find((each) => each.name === name) ?? { name, label: name, unit: "token" };
}

export interface TokenCount {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly images: number;
  readonly videoSeconds: number;
  readonly toolCalls: number;
}

const inputs = ["input_uncached", "cache_read", "cache_write_5m", "cache_write_1h", "audio_input", "image_input"];
const outputs = ["output", "audio_output", "image_output"];

export function countTokens(usages: readonly UsageByClass[]): TokenCount {
  const sum = (names: readonly string[]) =>
    usages.reduce((before, usage) => before + names.reduce((all, name) => all + (usage[name] ?? 0), 0), 0);
  return {
    input: sum(inputs),
    cached: sum(["cache_read"]),
    output: sum(outputs),
    images: sum(["images"]),
    videoSeconds: sum(["video_seconds"]),
    toolCalls: sum(["web_searches", "file_searches", "code_sessions"]),
  };
}

export interface UsageLine {
  readonly name: string;
  readonly label: string;
  readonly unit: TokenClass["unit"];
  readonly units: number;
  /** USD for one unit; null: no price for it. */
  readonly unitUsd: number | null;
  readonly usd: number | null;
  readonly inside: boolean;
}

/** What was used by class, beside what it cost. */
export function usageLines(attempt: Pick<AttemptDetail, "usage" | "cost_lines">): readonly UsageLine[] {
  const costs = new Map(attempt.cost_lines.map((line) => [line.class, line]));
  const names = new Set([...tokenClasses.map((each) => each.name), ...Object.keys(attempt.usage), ...costs.keys()]);
  return [...names].flatMap((name) => {
    const cost = costs.get(name);
    const units = attempt.usage[name] ?? cost?.units ?? 0;
    if (units === 0) return [];
    const { label, unit, inside } = tokenClass(name);
    return [
      {
        name,
        label,
        unit,
        units,
        unitUsd: cost?.unit_usd ?? null,
        usd: cost?.usd ?? null,
        inside: inside !== undefined,
      },
    ];
  });
}
