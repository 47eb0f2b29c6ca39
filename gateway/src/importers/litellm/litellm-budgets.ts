import type { BudgetPolicyConfig } from "@sluice/contract/config-file";
import { budgetUsdOf, periodOf, usdOf } from "../budgets.ts";
import { isLoose, type Loose, numberIn, objectIn, rowsIn, textIn, timeIn } from "../loose.ts";
import { slugOf, UniqueNames } from "../names.ts";
import type { Notes } from "../notes.ts";
import type { LiteLlmTables } from "./litellm-input.ts";
import { tagOf } from "./litellm-tags.ts";

/** Names of the imported objects by their ids at LiteLLM. */
export interface ImportedNames {
  /** Slugs by team. */
  readonly teams: ReadonlyMap<string, string>;
  /** `slug/name` by the digest of the key. */
  readonly keys: ReadonlyMap<string, string>;
}

type Match = NonNullable<BudgetPolicyConfig["match"]>;

/** Budgets of organizations, tags, single models, and further budgets of teams and keys: each becomes a budget policy. */
export function budgetsOf(
  tables: LiteLlmTables,
  imported: ImportedNames,
  notes: Notes,
  now: number,
): readonly BudgetPolicyConfig[] {
  const names = new UniqueNames();
  const budgets: BudgetPolicyConfig[] = [];
  const stored = new Map(tables.BudgetTable.map((row) => [textIn(row, "budget_id") ?? "", row]));
  const add = (label: string, name: string, budget: Loose, match: Match) => {
    const usd = numberIn(budget, "max_budget") ?? numberIn(budget, "budget_limit");
    const duration = textIn(budget, "budget_duration") ?? textIn(budget, "time_period");
    const period = periodOf(duration);
    if (usd === null) return;
    if (period === null || usd < 0 || budgets.length >= policiesMax) {
      const reason =
        period === null ? `a budget of ${usd} USD for ${duration}` : "there are too many budgets of this kind";
      notes.add(label, reason);
      return;
    }
    const increase = increaseOf(budget, now);
    budgets.push({
      name: names.take(slugOf(`litellm-${name}`, "litellm")),
      usd: budgetUsdOf(usd),
      period,
      ...increase,
      match,
    });
  };
  for (const row of tables.OrganizationTable) {
    const alias = textIn(row, "organization_alias") ?? textIn(row, "organization_id") ?? "";
    const teams = tables.TeamTable.filter((team) => team["organization_id"] === row["organization_id"]);
    const workspaces = teams.flatMap((team) => imported.teams.get(textIn(team, "team_id") ?? "") ?? []);
    const budget = stored.get(textIn(row, "budget_id") ?? "");
    if (budget !== undefined && workspaces.length > 0)
      add(`organization ${alias}`, `organization-${alias}`, budget, { workspaces });
  }
  for (const row of tables.TagTable) {
    const word = textIn(row, "tag_name") ?? "";
    const budget = stored.get(textIn(row, "budget_id") ?? "");
    if (budget !== undefined) add(`tag ${word}`, `tag-${word}`, budget, { tags: Object.fromEntries([tagOf(word)]) });
  }
  for (const row of tables.TeamTable) {
    const slug = imported.teams.get(textIn(row, "team_id") ?? "");
    if (slug !== undefined) addFurther(row, `team ${slug}`, slug, { workspaces: [slug] }, add);
  }
  for (const row of tables.VerificationToken) {
    const name = imported.keys.get(textIn(row, "token") ?? "");
    if (name !== undefined) addFurther(row, `key ${name}`, name, { keys: [name] }, add);
  }
  return budgets;
}

/** Leaves room for policies that exist already. */
const policiesMax = 150;

/** `budget_limits`, and budgets of single models. */
function addFurther(
  row: Loose,
  label: string,
  name: string,
  match: Match,
  add: (label: string, name: string, budget: Loose, match: Match) => void,
): void {
  for (const budget of rowsIn(row, "budget_limits")) add(label, name, budget, match);
  for (const [model, budget] of Object.entries(objectIn(row, "model_max_budget"))) {
    if (isLoose(budget)) add(`${label}, model ${model}`, `${name}-${model}`, budget, { ...match, models: [model] });
  }
}

function increaseOf(budget: Loose, now: number): Pick<BudgetPolicyConfig, "increase"> {
  const usd = numberIn(budget, "temp_budget_increase");
  const ends = timeIn(budget, "temp_budget_expiry") ?? 0;
  if (usd === null || usd <= 0 || !(ends > now)) return {};
  return { increase: { usd: usdOf(usd), until: new Date(ends).toISOString(), reason: "imported from LiteLLM" } };
}
