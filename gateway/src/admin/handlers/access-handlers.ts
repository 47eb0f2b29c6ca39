import type { AccessCheck, ConsoleKey } from "@sluice/contract";
import {
  bounds,
  type ConfigSnapshot,
  Failure,
  invalidRequest,
  type LimitScope,
  type Model,
  type ModelPatterns,
  nameCursor,
  nameOfCursor,
  orNotFound,
  sleep,
  withoutUndefined,
} from "#core/index.ts";
import {
  accessReason,
  deploymentsReady,
  isGranted,
  type KeyAccess,
  matches,
  matchingPattern,
} from "#identity/index.ts";
import type { Clock } from "#ports/index.ts";
import { personScopeOf, personScopes } from "../budgets/limit-scopes.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import type { ConsoleCall, Handlers } from "./calls.ts";

/** Calls for effective access: which keys may call which models. Only administrators see models that the workspace may not call. */
export function accessHandlers(dependencies: ConsoleDependencies) {
  return {
    "access.table": async ({ query, workspace, actor }) => {
      const configSnapshot = dependencies.configSnapshot();
      const slice = new TimeSlice(dependencies.clock);
      const filter = withoutUndefined({ search: query.search === "" ? undefined : query.search, keyId: query.key });
      const keys = await dependencies.reports.keyList(
        { workspaceId: workspace?.id ?? null, now: dependencies.clock.now(), ...filter },
        { sort: "name", visiblePerson: null },
        query.cursor ?? null,
        Math.min(query.limit ?? bounds.accessKeysMax, bounds.accessKeysMax),
      );
      const visible = actor.administrator ? null : (workspace?.models ?? []);
      const persons = await personScopes(dependencies.people, keys.data);
      const fits = modelFilter(query, keys.data[0], (key) => keyAccessOf(key, configSnapshot, persons), configSnapshot);
      const { models, next, total } = await modelPage(configSnapshot, query, visible, fits, slice);
      const rows = [];
      for (const key of keys.data) {
        if (slice.isOver) await slice.yield();
        const access = keyAccessOf(key, configSnapshot, persons);
        // The new group is not in the snapshot of this process yet.
        if (access === null) continue;
        const cells = models.map((model) => accessReason(access, model, configSnapshot));
        rows.push({ id: key.id, name: key.name, group: key.group, cells });
      }
      const columns = models.map(({ name, type }) => ({ name, type }));
      return {
        models: columns,
        keys: rows,
        keys_total: keys.total,
        models_total: total,
        next: keys.next,
        next_models: next,
      };
    },
    "access.check": async (call) => {
      const what = "key in this workspace";
      const stored = await dependencies.controlStore.key(call.workspace?.id ?? null, call.params.key);
      const key = orNotFound(stored, what, "key");
      const persons = await personScopes(dependencies.people, [key]);
      const configSnapshot = dependencies.configSnapshot();
      return accessCheck(call, key, orNotFound(keyAccessOf(key, configSnapshot, persons), what, "key"), configSnapshot);
    },
  } satisfies Partial<Handlers>;
}

/** Filters models by whether one key may call them; null: all. */
function modelFilter(
  { key: keyId, callable }: ConsoleCall<"access.table">["query"],
  key: ConsoleKey | undefined,
  accessOf: (key: ConsoleKey) => KeyAccess | null,
  configSnapshot: ConfigSnapshot,
): ((model: Model) => boolean) | null {
  if (callable === undefined) return null;
  if (keyId === undefined) {
    throw invalidRequest("callable", "`callable` requires `key`.");
  }
  const access = key === undefined ? null : accessOf(key);
  if (access === null) return () => false;
  const wanted = callable === "true";
  return (model) => (accessReason(access, model, configSnapshot) === "yes") === wanted;
}

function accessCheck(
  { query, actor }: ConsoleCall<"access.check">,
  key: ConsoleKey,
  access: KeyAccess,
  configSnapshot: ConfigSnapshot,
) {
  const seesAll = actor.administrator;
  const model = configSnapshot.models.get(query.model);
  const hidden = !seesAll && !matches(access.workspace.models, query.model);
  if (model === undefined && !hidden) {
    throw new Failure("not_found", `Model ${query.model} not found.`, { param: "model" });
  }
  const about = { key: { id: key.id, name: key.name }, model: query.model, steps: stepsOf(key, access, query.model) };
  if (model === undefined || hidden) {
    // The answer must not reveal whether a model exists that the workspace may not call.
    const reason: AccessCheck["reason"] = access.workspace.enabled ? "workspace_models" : "workspace_disabled";
    return { ...about, allowed: false, reason, deployments: 0, fallbacks: [] };
  }
  const reason = accessReason(access, model, configSnapshot);
  const fallbacks = model.fallbacks
    .filter((name) => seesAll || matches(access.workspace.models, name))
    .map((name) => ({ model: name, allowed: isGranted(access, name) }));
  return { ...about, allowed: reason === "yes", reason, deployments: deploymentsReady(model), fallbacks };
}

function stepsOf(key: ConsoleKey, { workspace, group }: KeyAccess, model: string) {
  const step = (
    scope: "workspace" | "group" | "key",
    label: string,
    enforced: readonly string[] | null,
    shadow: readonly string[] | undefined,
  ) => {
    const patterns = shadow ?? enforced;
    const matched = patterns === null ? null : matchingPattern(patterns, model);
    return { scope, label, patterns, matched, allowed: shadow !== undefined || patterns === null || matched !== null };
  };
  return [
    step("workspace", workspace.scope.label, workspace.models, workspace.shadowModels),
    step("group", group.scope.label, group.models, group.shadowModels),
    step(
      "key",
      `key ${workspace.slug}/${key.name}`,
      key.models,
      key.enforce_models ? undefined : (key.models ?? undefined),
    ),
  ];
}

function keyAccessOf(
  key: ConsoleKey,
  configSnapshot: ConfigSnapshot,
  persons: ReadonlyMap<string, LimitScope>,
): KeyAccess | null {
  const workspace = configSnapshot.workspaces.get(key.workspace.id);
  const group = configSnapshot.groups.get(key.group.id);
  if (workspace === undefined || group === undefined) return null;
  const person = persons.get(personScopeOf(key) ?? "");
  const scopes = [workspace.scope, group.scope, key, ...(person === undefined ? [] : [person])];
  return { workspace, group, models: key.enforce_models ? key.models : null, state: key.state, scopes };
}

/** A page of models by name. `visible`: patterns to match; null: all. `fits`: a further filter; null: all. */
async function modelPage(
  configSnapshot: ConfigSnapshot,
  query: ConsoleCall<"access.table">["query"],
  visible: ModelPatterns | null,
  fits: ((model: Model) => boolean) | null,
  slice: TimeSlice,
): Promise<{ readonly models: readonly Model[]; readonly next: string | null; readonly total: number }> {
  const after = query.models_cursor === undefined ? "" : nameOfCursor(query.models_cursor, "models_cursor");
  const wanted = query.model?.toLowerCase() ?? "";
  const models: Model[] = [];
  let total = 0;
  let next: string | null = null;
  for (const model of byName(configSnapshot)) {
    if (slice.isOver) await slice.yield();
    if (!model.name.toLowerCase().includes(wanted)) continue;
    if (visible !== null && !matches(visible, model.name)) continue;
    if (fits !== null && !fits(model)) continue;
    total += 1;
    const last = models.at(-1);
    if (model.name <= after) continue;
    if (models.length < bounds.accessModelsMax) models.push(model);
    else if (last !== undefined) next = nameCursor(last.name);
  }
  return { models, next, total };
}

/** Cached per snapshot. */
const modelsByName = new WeakMap<ConfigSnapshot, readonly Model[]>();

function byName(configSnapshot: ConfigSnapshot): readonly Model[] {
  let models = modelsByName.get(configSnapshot);
  if (models === undefined) {
    models = [...configSnapshot.models.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
    modelsByName.set(configSnapshot, models);
  }
  return models;
}

/** Long work is split into slices, so that model calls do not wait for it. */
class TimeSlice {
  readonly #clock: Clock;
  #endMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#endMs = clock.monotonic() + bounds.consoleSliceMs;
  }

  get isOver(): boolean {
    return this.#clock.monotonic() >= this.#endMs;
  }

  /** Lets waiting work run before the next slice. */
  async yield(): Promise<void> {
    await sleep(this.#clock, 0, null);
    this.#endMs = this.#clock.monotonic() + bounds.consoleSliceMs;
  }
}
