import { BoundedMap } from "./bounded-map.ts";

/**
 * The model that served, where an answer names another one than was asked for; null: the same one, or none is named. A dated
 * snapshot is the model that it is a snapshot of.
 */
export function otherModel(named: string | undefined, upstreamModel: string): string | null {
  if (named === undefined || named === upstreamModel || undated(named) === undated(upstreamModel)) return null;
  return named;
}

/** Finds the prices of a model by the name that an answer gives it: that name itself, else the name without its date. */
export function findByModelName<Found>(known: ReadonlyMap<string, Found>, named: string): Found | undefined {
  return known.get(named) ?? known.get(bare(named)) ?? known.get(undated(named));
}

function undated(name: string): string {
  const known = undatedNames.get(name);
  if (known !== undefined) return known;
  const short = bare(name).toLowerCase().replace(prefix, "").replace(version, "").replace(snapshot, "");
  undatedNames.set(name, short);
  return short;
}

/** Every answer names its model, and most name one of few. */
const undatedNames = new BoundedMap<string, string>(1_000);

/** Without the folders that vendors write in front of it: `models/gemini-3-flash`, `openai/gpt-6`, an ARN. */
function bare(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}

/** Of Bedrock: `us.anthropic.`, and `-v1:0` at the end. */
const prefix = /^(?:[a-z]+(?:-[a-z]+)*\.)+(?=[a-z])/;
const version = /-v\d{1,2}(?::\d{1,2})?$/;
/** `-2026-08-07`, `-20260807`, `@20260807`, `-250615`, `-0613`, `-05-20`, `-09-2026`, `-001`, `-latest`. */
const snapshot = /(?:[-@](?:\d{4}-\d{2}-\d{2}|\d{8}|\d{6}|\d{2}-\d{2}(?:\d{2})?|\d{3,4}|latest|default))$/;
