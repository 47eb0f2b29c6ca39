import type { Chance } from "#ports/index.ts";

/** How often, per step, each fault happens. */
export interface Troubles {
  /** Messages take no time, so every refusal can be judged at once. */
  readonly isQuick: boolean;
  readonly cut: number;
  readonly outage: number;
  readonly pass: number;
  readonly death: number;
  readonly leaving: number;
  readonly edit: number;
  readonly topUp: number;
  readonly emptying: number;
  readonly wallJump: number;
  readonly setBack: number;
}

const rates = {
  cut: 0.02,
  outage: 0.006,
  pass: 0.015,
  death: 0.006,
  leaving: 0.008,
  edit: 0.02,
  topUp: 0.05,
  emptying: 0.003,
  wallJump: 0.01,
  setBack: 0.004,
} as const;

/** Not every world has every trouble: some bugs show only where nothing else happens. */
export function troublesOf(chance: Chance): Troubles {
  const isQuick = chance.unit() < 0.6;
  const chosen = Object.entries(rates).map(([name, rate]) => [
    name,
    chance.unit() < likelihood(name, isQuick) ? rate : 0,
  ]);
  const troubles = { isQuick, ...(Object.fromEntries(chosen) as { [Name in keyof typeof rates]: number }) };
  // The process that seeds an emptied server holds a lock by the server's own clock, which no world moves.
  return troubles.emptying > 0 ? { ...troubles, death: 0, outage: 0 } : troubles;
}

/** Runs that judge refusals rarely have events that make them unfair. */
function likelihood(name: string, isQuick: boolean): number {
  if (name === "topUp" || name === "edit") return 0.7;
  return isQuick ? 0.2 : 0.5;
}
