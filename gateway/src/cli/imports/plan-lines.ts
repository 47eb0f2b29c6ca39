import type { BudgetConfig, LimitsConfig } from "@sluice/contract/config-file";
import { Secret } from "#core/index.ts";
import type { ImportDraft, ImportedKey, ImportResult } from "#ports/index.ts";

/** A line for each object that is made, with what matters of it, and never a secret. */
export function planLines(draft: ImportDraft, { changes }: Pick<ImportResult, "changes">): readonly string[] {
  const details = detailsOf(draft);
  return changes.flatMap(({ action, object }) => {
    if (
      action !== "create" ||
      object.startsWith("import ") ||
      object.startsWith("deployment ") ||
      firstGroup.test(object)
    )
      return [];
    const detail = details.get(object);
    return [`+ ${object}${detail === undefined || detail === "" ? "" : `: ${detail}`}`];
  });
}

/** It comes with its workspace. */
const firstGroup = /^group [^/]+\/default$/;

/** By the object's label in the audit log. */
function detailsOf(draft: ImportDraft): ReadonlyMap<string, string> {
  const details = new Map<string, string>();
  for (const { id, kind, base_url, api_key, allow_private_network } of draft.providers) {
    const key = api_key === undefined ? "no API key" : api_key.startsWith("${") ? `API key ${api_key}` : "API key set";
    details.set(`provider ${id}`, listed([kind, base_url, key, allow_private_network === true && "private network"]));
  }
  for (const { name, deployments, fallbacks = [], price, price_origin } of draft.models) {
    const places = deployments.map(({ provider, upstream_model }) => `${provider}/${upstream_model ?? name}`);
    const origin =
      price === undefined ? "no price" : price_origin === undefined ? "own price" : "price of the price list";
    details.set(`model ${name}`, listed([...places, origin, fallbacks.length > 0 && `then ${fallbacks.join(", ")}`]));
  }
  for (const { name, usd, period, match = {}, increase } of draft.budgets) {
    const calls = Object.entries(match).map(([member, names]) => `${member} ${JSON.stringify(names)}`);
    const more = increase !== undefined && `${increase.usd} USD more until ${increase.until.slice(0, 10)}`;
    details.set(`budget ${name}`, listed([`${usd} USD/${period}`, ...calls, more]));
  }
  for (const { slug, groups = [], keys, ...scope } of draft.workspaces) {
    details.set(`workspace ${slug}`, scopeWords(scope));
    for (const group of groups) details.set(`group ${slug}/${group.name}`, scopeWords(group));
    for (const key of keys) details.set(`key ${slug}/${key.name}`, listed([scopeWords(key), ...keyWords(key)]));
  }
  for (const { email, workspaces } of draft.users) {
    details.set(`user ${email}`, "");
    for (const { workspace, role, ...scope } of workspaces) {
      details.set(`member ${workspace}/${email}`, listed([role, scopeWords(scope)]));
    }
  }
  return details;
}

interface Scope {
  readonly models?: readonly string[] | undefined;
  readonly limits?: LimitsConfig | undefined;
  readonly budget?: BudgetConfig | undefined;
  readonly enabled?: boolean | undefined;
  readonly spent?: number | undefined;
}

function scopeWords({ models, limits = {}, budget, enabled, spent = 0 }: Scope): string {
  return listed([
    enabled === false && "disabled",
    models !== undefined &&
      `models ${models.length === 0 ? "none" : models.slice(0, 5).join(" ")}${models.length > 5 ? " …" : ""}`,
    budget !== undefined && `${budget.usd} USD/${budget.period}${spent === 0 ? "" : `, of which ${spent} spent`}`,
    ...Object.entries(limits).map(([name, value]) => `${name} ${value}`),
  ]);
}

function keyWords({ group, owner, secret, expires_at }: ImportedKey): readonly (string | false)[] {
  const isDigest = secret !== null && !(secret instanceof Secret);
  return [
    group !== undefined && `group ${group}`,
    owner !== undefined && `owner ${owner}`,
    expires_at !== undefined && `until ${expires_at.slice(0, 10)}`,
    secret === null
      ? "needs a new secret"
      : isDigest && secret.lastFour !== ""
        ? `keeps its secret …${secret.lastFour}`
        : "keeps its secret",
  ];
}

function listed(parts: readonly (string | false | undefined)[]): string {
  return parts.filter((part) => part !== false && part !== undefined && part !== "").join(", ");
}
