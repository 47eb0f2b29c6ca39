import type { ConfigFile, WorkspaceConfig } from "./config.ts";
import { guardrailFaults, modelOfCheck } from "./guardrail-faults.ts";
import type { GuardrailConfig, WorkspaceGuardrailConfig } from "./guardrail-fields.ts";

interface GuardrailConflict {
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly refers?: readonly (string | number)[];
}

type Path = GuardrailConflict["path"];

/**
 * Conflicts of the guardrails of a config file: wrong fields, and missing models, groups and keys. Guardrails of the installation may name
 * workspaces that were created in the console.
 */
export function guardrailConflicts(config: ConfigFile): readonly GuardrailConflict[] {
  // A file without models may name models that were created in the console.
  const models = config.models && new Map(config.models.map(({ name, type = "chat" }) => [name, type]));
  const own = (config.guardrails ?? []).flatMap((guardrail, index) =>
    fieldConflicts(guardrail, ["guardrails", index], models),
  );
  const inWorkspaces = (config.workspaces ?? []).flatMap((workspace, index) =>
    (workspace.guardrails ?? []).flatMap((guardrail, at) => {
      const path = ["workspaces", index, "guardrails", at];
      return [...fieldConflicts(guardrail, path, models), ...scopeConflicts(guardrail, path, workspace)];
    }),
  );
  return [...own, ...inWorkspaces];
}

function fieldConflicts(
  guardrail: GuardrailConfig | WorkspaceGuardrailConfig,
  path: Path,
  models: ReadonlyMap<string, string> | undefined,
): readonly GuardrailConflict[] {
  const found: GuardrailConflict[] = guardrailFaults(guardrail).map(({ path: field, message }) => ({
    path: [...path, ...field],
    message,
  }));
  const wanted = modelOfCheck(guardrail.check);
  if (wanted === null || models === undefined) return found;
  const at = [...path, "check", "model"];
  const type = models.get(wanted.name);
  if (type === undefined) found.push({ path: at, message: `there is no model "${wanted.name}"`, refers: ["models"] });
  else if (type !== wanted.type) {
    found.push({ path: at, message: `the model "${wanted.name}" has the type ${type}, not ${wanted.type}` });
  }
  return found;
}

function scopeConflicts(
  guardrail: WorkspaceGuardrailConfig,
  path: Path,
  { groups = [], keys = [] }: Pick<WorkspaceConfig, "groups" | "keys">,
): readonly GuardrailConflict[] {
  const existing = {
    // A workspace without groups has this one.
    groups: new Set(groups.length === 0 ? ["default"] : groups.map(({ name }) => name)),
    keys: new Set(keys.map(({ name }) => name)),
  };
  return (["groups", "keys"] as const).flatMap((kind) =>
    (guardrail[kind] ?? []).flatMap((name, index): GuardrailConflict[] => {
      if (existing[kind].has(name)) return [];
      const message = `there is no ${kind === "groups" ? "group" : "key"} "${name}" in this workspace`;
      return [{ path: [...path, kind, index], message, refers: [...path.slice(0, 2), kind] }];
    }),
  );
}
