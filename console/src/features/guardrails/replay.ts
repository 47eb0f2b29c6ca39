import type { BodyInput, GuardrailReplay } from "@sluice/contract";
import { bodyOf, type GuardrailDraft } from "./guardrail-draft.ts";

export const replayPeriods = ["24h", "7d", "30d"] as const;
export type ReplayPeriod = (typeof replayPeriods)[number];

const hourMs = 3_600_000;
const hours: Readonly<Record<ReplayPeriod, number>> = { "24h": 24, "7d": 168, "30d": 720 };
/** Requests that are listed. */
const shownMax = 50;

/** The first call for a form. */
export function replayBodyOf(draft: GuardrailDraft, period: ReplayPeriod, now: number): BodyInput<"guardrails.replay"> {
  const { check, action, on, at, unreadable, stream, workspaces, groups, keys } = bodyOf(draft);
  return {
    ...{ check, action, on, at, unreadable, stream, groups, keys, from: now - hours[period] * hourMs, to: now },
    ...(workspaces === undefined ? {} : { workspaces }),
  };
}

/** Both parts of a time together. */
export function mergeReplays(first: GuardrailReplay, more: GuardrailReplay): GuardrailReplay {
  return {
    ...more,
    calls: first.calls,
    captured: first.captured + more.captured,
    found: first.found + more.found,
    input: sumOf(first.input, more.input),
    output: sumOf(first.output, more.output),
    types: merged([...first.types, ...more.types], ({ type }) => type, "findings"),
    people: merged([...first.people, ...more.people], ({ person }) => person.id, "requests"),
    keys: merged([...first.keys, ...more.keys], ({ id }) => id, "requests"),
    requests: [...first.requests, ...more.requests].slice(0, shownMax),
  };
}

type Side = GuardrailReplay["input"];

function sumOf(one: Side, other: Side): Side {
  const names = Object.keys(one) as (keyof Side)[];
  return Object.fromEntries(names.map((name) => [name, one[name] + other[name]])) as Side;
}

function merged<Figure extends string, Row extends Readonly<Record<Figure, number>>>(
  rows: readonly Row[],
  idOf: (row: Row) => string,
  figure: Figure,
): Row[] {
  const byId = new Map<string, Row>();
  for (const row of rows) {
    const before = byId.get(idOf(row));
    byId.set(idOf(row), before === undefined ? row : { ...row, [figure]: before[figure] + row[figure] });
  }
  return [...byId.values()].sort((one, other) => other[figure] - one[figure]);
}

/** Requests that would have been stopped. An answer is examined only if its request would not have been. */
export function stoppedIn({ input, output }: Pick<GuardrailReplay, "input" | "output">): number {
  return input.blocked + output.blocked;
}

/** How much of the time was examined, in percent. */
export function progressOf({ from, to, read_until: until }: GuardrailReplay): number {
  return Math.round((100 * (to - until)) / (to - from));
}
