import type { Chance } from "#ports/index.ts";

export const systemChance: Chance = Object.freeze({ unit: () => Math.random() });
