import type { Explainer } from "#ports/index.ts";

/** Stores nothing, for tests about something else. */
export const silentExplainer: Explainer = {
  explain: () => undefined,
  capture: () => undefined,
  fold: () => undefined,
  willCapture: () => undefined,
};
