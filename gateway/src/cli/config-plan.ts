import type { ConfigFile } from "@sluice/contract/config-file";
import type { ApplyReport, ConfigChange } from "#ports/index.ts";

/** What applying a config file would do, for people and for machines. */
export interface PlanShown {
  readonly changes: readonly PlannedChange[];
  /** Objects that the file declares and that would stay as they are. */
  readonly unchanged: number;
}

interface PlannedChange {
  readonly action: ConfigChange["action"];
  readonly object: string;
  /** What would change, by field: before and after. */
  readonly fields: Readonly<Record<string, readonly [unknown, unknown]>>;
}

export function shownPlan(changes: ApplyReport, config: ConfigFile): PlanShown {
  const planned = changes.map(({ action, object, before, after }) => ({
    action,
    object,
    fields: differing(before, after),
  }));
  const declared = new Set(planned.filter(({ action }) => !removals.has(action)).map(({ object }) => object));
  return { changes: planned, unchanged: Math.max(0, declaredObjects(config) - declared.size) };
}

export function planLines({ changes, unchanged }: PlanShown): readonly string[] {
  if (changes.length === 0) return [`no changes; ${unchanged} unchanged`];
  const lines = changes.flatMap(({ action, object, fields }) => [
    `${marks[action] ?? "~"} ${action} ${object}`,
    ...Object.entries(fields).map(
      ([name, [before, after]]) => `    ${name}: ${valueText(before)} -> ${valueText(after)}`,
    ),
  ]);
  return [...lines, `${changes.length} to change, ${unchanged} unchanged; nothing was applied`];
}

const removals: ReadonlySet<string> = new Set(["suspend", "release", "remove", "revoke"]);

const marks: Readonly<Record<string, string>> = { create: "+", resume: "+", suspend: "-", remove: "-", revoke: "-" };

/** An object that comes or goes is named, not spelled out. */
function differing(before: ConfigChange["before"], after: ConfigChange["after"]): PlannedChange["fields"] {
  if (before === null || after === null) return {};
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  names.delete("managed_by");
  const changed = [...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return Object.fromEntries(changed.map((name) => [name, [before[name] ?? null, after[name] ?? null] as const]));
}

function valueText(value: unknown): string {
  return value === null ? "(none)" : JSON.stringify(value);
}

function declaredObjects(config: ConfigFile): number {
  const { providers = [], models = [], workspaces = [], users = [], tokens = [], oidc = [] } = config;
  const within = workspaces.reduce(
    (sum, { groups = [], keys = [] }) => sum + Math.max(1, groups.length) + keys.length,
    0,
  );
  return [providers, models, workspaces, users, tokens, oidc].reduce((sum, { length }) => sum + length, within);
}
