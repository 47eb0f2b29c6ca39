import { isTimeZone } from "#core/index.ts";
import type { ImportDraft, ImportedModel } from "#ports/index.ts";
import { Accounts } from "../accounts.ts";
import { isPresent, type Loose, objectIn, textIn, textsIn } from "../loose.ts";
import { Notes } from "../notes.ts";
import { liteLlmCipher } from "./cipher.ts";
import { budgetsOf } from "./litellm-budgets.ts";
import { deploymentsOf, type LiteLlmInput, sectionsOf, variablesOf } from "./litellm-input.ts";
import { addAlias, modelsOf } from "./litellm-models.ts";
import { peopleOf } from "./litellm-people.ts";

/** `variables`: values that LiteLLM's configuration sets, for `${NAME}` in the draft. Throws Failure for a wrong salt key. */
export function fromLiteLlm(input: LiteLlmInput): {
  readonly draft: ImportDraft;
  readonly variables: Readonly<Record<string, string>>;
} {
  const notes = new Notes();
  const cipher = liteLlmCipher(input.saltKey);
  const sections = sectionsOf(input);
  const variables = variablesOf(input, cipher);
  const deployments = deploymentsOf(input, cipher, notes);
  cipher.check();
  const accounts = new Accounts("litellm");
  const models = [...modelsOf(deployments, sections, accounts, notes, input)];
  const groups = new Map<string, string[]>();
  for (const { model, info } of deployments) {
    for (const group of textsIn(info, "access_groups")) groups.set(group, [...(groups.get(group) ?? []), model]);
  }
  const { tables, now } = input;
  const timeZone = timeZoneOf(sections.litellm, notes);
  const { names, ...people } = peopleOf({ tables, now, notes, timeZone, accessGroups: groups });
  const budgets = budgetsOf(tables, names, notes, now);
  addAliases(input, models, notes);
  noteSections(input, sections, notes);
  return {
    draft: {
      product: "litellm",
      providers: accounts.providers,
      models,
      ...people,
      budgets,
      notCarried: notes.list,
    },
    variables,
  };
}

/** Aliases of keys and teams are models for everyone, unless two mean different models. */
function addAliases({ tables }: LiteLlmInput, models: ImportedModel[], notes: Notes): void {
  const targets = new Map<string, Set<string>>();
  const teams = tables.ModelTable.map((row) => objectIn(row, "aliases"));
  const keys = tables.VerificationToken.map((row) => objectIn(row, "aliases"));
  for (const aliases of [...teams, ...keys]) {
    for (const [alias, target] of Object.entries(aliases)) {
      if (typeof target === "string") targets.set(alias, (targets.get(alias) ?? new Set()).add(target));
    }
  }
  for (const [alias, all] of targets) {
    const [target] = all;
    if (all.size > 1 || models.some(({ name }) => name === alias)) {
      notes.add(`alias ${alias}`, "a model has this name, or it means different models for different callers");
    } else if (target !== undefined) addAlias(models, alias, target, notes);
  }
}

/** Where the days of budgets begin; null: UTC. */
function timeZoneOf(litellm: Loose, notes: Notes): string | null {
  const name = textIn(litellm, "timezone");
  const at = textIn(litellm, "budget_reset_time");
  if (at !== null && !/^0?0:00/.test(at)) notes.add("budget_reset_time", "days of budgets begin at midnight");
  if (name === null || name === "UTC") return null;
  if (isTimeZone(name)) return name;
  notes.add(`timezone ${name}`, "unknown time zone; days of budgets begin at midnight UTC");
  return null;
}

function noteSections(
  { tables }: LiteLlmInput,
  { general, litellm, router }: Record<"general" | "litellm" | "router", Loose>,
  notes: Notes,
): void {
  if (isPresent(general["master_key"])) {
    notes.add("the master key", "agents that call with it need a key; scripts of administrators need an admin token");
  }
  for (const [section, fields] of [
    [
      litellm,
      [
        "max_budget",
        "callbacks",
        "success_callback",
        "cache",
        "default_internal_user_params",
        "default_team_params",
        "tag_budget_config",
        "mcp_servers",
      ],
    ],
    [router, ["routing_strategy", "provider_budget_config", "enable_tag_filtering"]],
  ] as const) {
    for (const field of fields)
      if (isPresent(section[field])) notes.add(field, "the setting has no counterpart, or must be set by hand");
  }
  for (const row of tables.EndUserTable) {
    if (isPresent(row["budget_id"]) || row["blocked"] === true)
      notes.add(`end user ${textIn(row, "user_id")}`, "limits of end users are not imported");
  }
  const rotated = tables.DeprecatedVerificationToken.length;
  if (rotated > 0) notes.add(`${rotated} earlier secrets of rotated keys`, "only the current secrets are imported");
}
