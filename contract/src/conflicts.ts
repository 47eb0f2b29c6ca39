import { isReadFromVendor } from "./bill-classes.ts";
import type { ConfigFile, KeyConfig, ModelConfig, ProviderConfig, WorkspaceConfig } from "./config.ts";
import { guardrailConflicts } from "./guardrail-conflicts.ts";
import { ruleConflicts, tokenConflicts, userConflicts } from "./people-conflicts.ts";

/** A problem in the configuration and its path. The message never contains a secret. */
export interface Conflict {
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** For a missing object: the list or object that should contain it. */
  readonly refers?: readonly (string | number)[];
}

/** The group of every workspace that declares none, and of every key that names none. */
export const defaultGroupName = "default";

/** Larger prices per unit do not fit into a safe integer of pico-USD. */
const unitPriceUsdMax = 9_000;

/**
 * Conflicts that the schema of a single object cannot detect: repeated names, references to missing objects, secrets used twice.
 * Returns every conflict in the order of the file.
 */
export function conflictsOf(config: ConfigFile): readonly Conflict[] {
  const providers = config.providers ?? [];
  const models = config.models ?? [];
  const found: Conflict[] = [];
  found.push(...repeated(providers, (provider) => provider.id, ["providers"], "id", "provider"));
  providers.forEach((provider, index) => {
    found.push(...providerConflicts(provider, ["providers", index]));
  });
  found.push(...repeated(models, (model) => model.name, ["models"], "name", "model"));
  const providerIds = new Set(providers.map((provider) => provider.id));
  const modelNames = new Set(models.map((model) => model.name));
  models.forEach((model, index) => {
    found.push(...modelConflicts(model, ["models", index], providerIds, modelNames));
  });
  found.push(...workspaceConflicts(config.workspaces ?? []));
  // A file without providers may grant providers that were created in the console.
  if (config.providers !== undefined) found.push(...grantConflicts(config.workspaces ?? [], providerIds));
  found.push(...repeated(config.guardrails ?? [], ({ name }) => name, ["guardrails"], "name", "guardrail"));
  found.push(...guardrailConflicts(config));
  found.push(...repeated(config.budgets ?? [], ({ name }) => name, ["budgets"], "name", "budget"));
  for (const [index, { budgets = [] }] of (config.workspaces ?? []).entries()) {
    found.push(...repeated(budgets, ({ name }) => name, ["workspaces", index, "budgets"], "name", "budget"));
  }
  const users = config.users ?? [];
  const tokens = config.tokens ?? [];
  found.push(
    ...repeated(users, ({ email }) => email.toLowerCase(), ["users"], "email", "user"),
    ...userConflicts(users),
  );
  found.push(...repeated(tokens, ({ name }) => name, ["tokens"], "name", "token"), ...tokenConflicts(tokens));
  found.push(...repeated(config.oidc ?? [], ({ id }) => id, ["oidc"], "id", "account of single sign-on"));
  found.push(...ruleConflicts(config.oidc ?? []));
  return found;
}

/** `["models", 0, "deployments", 1]` as `models[0].deployments[1]`. */
export function pathText(path: Path): string {
  return path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
    .join("")
    .replace(/^\./, "");
}

type Path = Conflict["path"];

function repeated<T>(
  items: readonly T[],
  name: (item: T) => string,
  path: Path,
  field: string,
  word: string,
): Conflict[] {
  const first = new Map<string, number>();
  const found: Conflict[] = [];
  items.forEach((item, index) => {
    const value = name(item);
    const earlier = first.get(value);
    if (earlier === undefined) first.set(value, index);
    else {
      const where = pathText([...path, earlier]);
      found.push({ path: [...path, index, field], message: `the ${word} "${value}" is already declared at ${where}` });
    }
  });
  return found;
}

function providerConflicts({ base_url, billing }: ProviderConfig, path: Path): Conflict[] {
  const found: Conflict[] = [];
  if (hasCredential(base_url)) {
    found.push({ path: [...path, "base_url"], message: "a credential in the URL would be logged; put it in api_key" });
  }
  if (billing === undefined) return found;
  if (hasCredential(billing.base_url)) {
    const message = "a credential in the URL would be logged; put it in admin_key";
    found.push({ path: [...path, "billing", "base_url"], message });
  }
  if (isReadFromVendor(billing.kind) && billing.admin_key === undefined) {
    const message = `bills of kind ${billing.kind} need an admin_key that may read usage and costs`;
    found.push({ path: [...path, "billing", "admin_key"], message });
  }
  return found;
}

function hasCredential(address: string | undefined): boolean {
  const url = address === undefined ? null : URL.parse(address);
  return url !== null && (url.username !== "" || url.password !== "");
}

function modelConflicts(
  model: ModelConfig,
  path: Path,
  providerIds: ReadonlySet<string>,
  modelNames: ReadonlySet<string>,
): Conflict[] {
  const found: Conflict[] = [];
  const targets = new Set<string>();
  model.deployments.forEach((deployment, index) => {
    const at = [...path, "deployments", index];
    if (!providerIds.has(deployment.provider)) {
      found.push({
        path: [...at, "provider"],
        message: `there is no provider "${deployment.provider}"`,
        refers: ["providers"],
      });
    }
    const target = JSON.stringify([deployment.provider, deployment.upstream_model ?? model.name]);
    if (targets.has(target)) {
      found.push({ path: at, message: "the same provider and upstream model are already deployed for this model" });
    }
    targets.add(target);
  });
  const fallbacks = new Set<string>();
  (model.fallbacks ?? []).forEach((fallback, index) => {
    const message = fallbackFault(fallback, model.name, modelNames, fallbacks);
    if (message !== null)
      found.push({
        path: [...path, "fallbacks", index],
        message,
        ...(modelNames.has(fallback) ? {} : { refers: ["models"] }),
      });
    fallbacks.add(fallback);
  });
  for (const unit of ["image", "video"] as const) {
    if ((model.price?.[unit] ?? 0) > unitPriceUsdMax) {
      found.push({ path: [...path, "price", unit], message: `more than ${unitPriceUsdMax} USD for one unit` });
    }
  }
  model.price?.variants?.forEach(({ video }, index) => {
    if ((video ?? 0) <= unitPriceUsdMax) return;
    const at = [...path, "price", "variants", index, "video"];
    found.push({ path: at, message: `more than ${unitPriceUsdMax} USD for one unit` });
  });
  return found;
}

function fallbackFault(
  fallback: string,
  model: string,
  modelNames: ReadonlySet<string>,
  earlier: ReadonlySet<string>,
): string | null {
  if (fallback === model) return "a model cannot fall back to itself";
  if (!modelNames.has(fallback)) return `there is no model "${fallback}"`;
  return earlier.has(fallback) ? `the fallback "${fallback}" is already listed` : null;
}

function workspaceConflicts(workspaces: readonly WorkspaceConfig[]): Conflict[] {
  const found: Conflict[] = repeated(workspaces, (workspace) => workspace.slug, ["workspaces"], "slug", "workspace");
  const secrets = new Map<string, string>();
  workspaces.forEach((workspace, index) => {
    const path: Path = ["workspaces", index];
    const groups = workspace.groups ?? [];
    const keys = workspace.keys ?? [];
    const groupNames = groups.length === 0 ? [defaultGroupName] : groups.map((group) => group.name);
    found.push(...repeated(groups, (group) => group.name, [...path, "groups"], "name", "group"));
    found.push(...repeated(keys, (key) => key.name, [...path, "keys"], "name", "key"));
    found.push(
      ...repeated(workspace.guardrails ?? [], ({ name }) => name, [...path, "guardrails"], "name", "guardrail"),
    );
    const groupNameSet = new Set(groupNames);
    keys.forEach((key, keyIndex) => {
      found.push(...keyConflicts(key, [...path, "keys", keyIndex], groupNameSet, secrets));
    });
  });
  return found;
}

/** Checks the providers in `pass_through` of workspaces, groups and keys. */
function grantConflicts(workspaces: readonly WorkspaceConfig[], providerIds: ReadonlySet<string>): Conflict[] {
  const unknownIn = (granted: readonly string[] | undefined, path: Path): Conflict[] =>
    (granted ?? []).flatMap((id, index) =>
      providerIds.has(id)
        ? []
        : [{ path: [...path, "pass_through", index], message: `there is no provider "${id}"`, refers: ["providers"] }],
    );
  return workspaces.flatMap((workspace, index) => {
    const path: Path = ["workspaces", index];
    return [
      ...unknownIn(workspace.pass_through, path),
      ...(workspace.groups ?? []).flatMap((group, at) => unknownIn(group.pass_through, [...path, "groups", at])),
      ...(workspace.keys ?? []).flatMap((key, at) => unknownIn(key.pass_through, [...path, "keys", at])),
    ];
  });
}

function keyConflicts(
  key: KeyConfig,
  path: Path,
  groupNames: ReadonlySet<string>,
  secrets: Map<string, string>,
): Conflict[] {
  const found: Conflict[] = [];
  const group = key.group ?? defaultGroupName;
  if (!groupNames.has(group)) {
    const message =
      key.group === undefined
        ? `the key names no group and the workspace declares none called "${defaultGroupName}"`
        : `there is no group "${group}" in this workspace`;
    found.push({ path: [...path, "group"], message, refers: [...path.slice(0, 2), "groups"] });
  }
  if (key.secret === undefined) return found;
  const earlier = secrets.get(key.secret);
  if (earlier === undefined) secrets.set(key.secret, pathText(path));
  else found.push({ path: [...path, "secret"], message: `the same secret is already used by the key at ${earlier}` });
  return found;
}
