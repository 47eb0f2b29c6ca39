import type { Explainer } from "#ports/index.ts";

/** Keeps nothing, for tests that are about something else. */
export const silentExplainer: Explainer = {
  explain: () => undefined,
  capture: () => undefined,
  willCapture: () => undefined,
};
