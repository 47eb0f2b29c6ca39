import type { BudgetConfig } from "@sluice/contract/config-file";
import type { ImportDraft, ImportedKey } from "#ports/index.ts";
import { budgetUsdOf, periodOf, usdOf } from "./budgets.ts";
import { type Loose, numberIn, rowsIn, textIn, timeIn } from "./loose.ts";
import { lineOf, UniqueNames } from "./names.ts";
import { Notes } from "./notes.ts";

/** The spend of the current period by `limit_reset`. */
const usageFields: Readonly<Record<BudgetConfig["period"], string>> = {
  hour: "usage",
  day: "usage_daily",
  week: "usage_weekly",
  month: "usage_monthly",
  total: "usage",
};

/** The answer of /api/v1/keys. OpenRouter shows a secret only once, so keys need new ones. */
export function fromOpenRouter(answer: Loose, now: number): ImportDraft {
  const notes = new Notes();
  const names = new UniqueNames();
  const keys = rowsIn(answer, "data").flatMap((row): ImportedKey[] => {
    const name = names.take(lineOf(textIn(row, "name") ?? textIn(row, "label") ?? "key"));
    const expires = timeIn(row, "expires_at");
    if (expires !== null && expires <= now) {
      notes.add(`key ${name}`, "it has expired");
      return [];
    }
    return [
      {
        ...{ name, secret: null, ...budgetIn(row, name, notes) },
        ...(row["disabled"] === true ? { enabled: false } : {}),
        ...(expires === null ? {} : { expires_at: new Date(expires).toISOString() }),
      },
    ];
  });
  notes.add("models", "OpenRouter serves all of its models; create the ones that are used");
  return {
    product: "openrouter",
    providers: [{ id: "openrouter-openrouter", kind: "openrouter", api_key: `\${OPENROUTER_API_KEY}` }],
    models: [],
    workspaces: [{ slug: "openrouter", name: "OpenRouter", keys }],
    users: [],
    budgets: [],
    notCarried: notes.list,
  };
}

function budgetIn(row: Loose, name: string, notes: Notes): Pick<ImportedKey, "budget" | "spent"> {
  const limit = numberIn(row, "limit");
  if (limit === null || limit < 0) return {};
  const reset = textIn(row, "limit_reset");
  const period = periodOf(reset);
  if (period === null) {
    notes.add(`key ${name}`, `a limit of ${limit} USD that resets ${reset}`);
    return {};
  }
  const spent = usdOf(numberIn(row, usageFields[period]) ?? 0);
  return { budget: { usd: budgetUsdOf(limit), period }, ...(spent > 0 ? { spent } : {}) };
}
