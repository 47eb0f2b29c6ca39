import { bounds, type ConfigSnapshot, type Model, type ModelPatterns, nameCursor, nameOfCursor } from "#core/index.ts";
import { matches } from "#identity/index.ts";
import type { TimeSlice } from "./time-slice.ts";

export interface ModelPageQuery {
  /** Part of a name; empty: all. */
  readonly part: string;
  readonly cursor: string | null;
  /** Only models that these let through; null: all. */
  readonly visible: ModelPatterns | null;
  /** Which of those that are visible; null: all. */
  readonly fits: ((model: Model) => boolean) | null;
}

/** A page of the config snapshot's models by name. */
export async function modelPage(
  configSnapshot: ConfigSnapshot,
  { part, cursor, visible, fits }: ModelPageQuery,
  slice: TimeSlice,
): Promise<{ readonly models: readonly Model[]; readonly next: string | null }> {
  const after = cursor === null ? "" : nameOfCursor(cursor, "models_cursor");
  const wanted = part.toLowerCase();
  const models: Model[] = [];
  for (const model of byName(configSnapshot)) {
    if (slice.over) await slice.rest();
    if (model.name <= after || !model.name.toLowerCase().includes(wanted)) continue;
    if (visible !== null && !matches(visible, model.name)) continue;
    if (fits !== null && !fits(model)) continue;
    const last = models.at(-1);
    if (models.length === bounds.accessModelsMax && last !== undefined) return { models, next: nameCursor(last.name) };
    models.push(model);
  }
  return { models, next: null };
}

/** Sorted once for a snapshot. */
const sorted = new WeakMap<ConfigSnapshot, readonly Model[]>();

function byName(configSnapshot: ConfigSnapshot): readonly Model[] {
  let models = sorted.get(configSnapshot);
  if (models === undefined) {
    models = [...configSnapshot.models.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
    sorted.set(configSnapshot, models);
  }
  return models;
}
