import type { BodyInput, BudgetConfig, ConsoleBudgetPolicy, RehearsedChange } from "@sluice/contract";
import { slugPattern } from "@sluice/contract/words";
import { t } from "../../../language/areas/limits.ts";
import { policyChange } from "../../rehearsals/button/change-of.ts";
import { budgetBlockedBy } from "../budget-increase.ts";

/** The state of the form of a budget policy. */
export interface PolicyDraft {
  readonly name: string;
  readonly enabled: boolean;
  /** null: no amount yet. */
  readonly budget: BudgetConfig | null;
  /** Empty: one amount for all calls. `tag`: by `splitTag`. */
  readonly split: string;
  readonly splitTag: string;
  readonly match: Omit<NonNullable<ConsoleBudgetPolicy["match"]>, "tags">;
  /** `team=search` */
  readonly tags: readonly string[];
}

export interface PolicyFieldsProps {
  readonly draft: PolicyDraft;
  readonly onChange: (changes: Partial<PolicyDraft>) => void;
}

export const splits = ["key", "person", "workspace", "group", "model", "provider", "tag"] as const;

export const emptyPolicy: PolicyDraft = {
  ...{ name: "", enabled: true, budget: null, split: "", splitTag: "", match: {}, tags: [] },
};

export function policyDraftOf({ name, enabled, budget, split_by: split, match }: ConsoleBudgetPolicy): PolicyDraft {
  const { tags = {}, ...others } = match;
  const tag = split?.startsWith("tag:") === true ? split.slice("tag:".length) : null;
  return {
    ...{ name, enabled, budget, match: others },
    split: tag === null ? (split ?? "") : "tag",
    splitTag: tag ?? "",
    tags: Object.entries(tags).flatMap(([of, values]) => [values].flat().map((value) => `${of}=${value}`)),
  };
}

/** Why the form cannot be sent; null if it can. */
export function policyBlockedBy(draft: PolicyDraft): string | null {
  if (!slugPattern.test(draft.name)) return t("limits.policy.nameMissing");
  if (draft.budget === null) return t("limits.policy.amountMissing");
  if (draft.split === "tag" && draft.splitTag.trim() === "") return t("limits.policy.tagMissing");
  if (draft.tags.some((tag) => !/^[^=]+=/.test(tag))) return t("limits.policy.tagWrong");
  return budgetBlockedBy(draft.budget);
}

export function policyBodyOf(draft: PolicyDraft): BodyInput<"budgets.create"> {
  const { name, enabled, split, splitTag } = draft;
  const budget = draft.budget ?? { usd: 0, period: "month" };
  const members = Object.entries(draft.match).filter(([, values]) => values !== undefined && values.length > 0);
  const tags = Map.groupBy(draft.tags, (tag) => tag.slice(0, tag.indexOf("=")).trim());
  const tagged = [...tags].map(([of, all]) => [of, all.map((tag) => tag.slice(tag.indexOf("=") + 1).trim())]);
  return {
    ...budget,
    ...{ name, enabled },
    ...(split === "" ? {} : { split_by: split === "tag" ? `tag:${splitTag.trim()}` : split }),
    match: { ...Object.fromEntries(members), ...(tagged.length === 0 ? {} : { tags: Object.fromEntries(tagged) }) },
  };
}

/** The body with the defaults of empty fields, because a field that is left out keeps its value. */
export function policyChangeOf(draft: PolicyDraft): BodyInput<"budgets.update"> {
  const {
    time_zone = null,
    rolling = false,
    enforce = true,
    over = "refuse",
    increase = null,
    split_by = null,
    ...body
  } = policyBodyOf(draft);
  return { ...body, time_zone, rolling, enforce, over, increase, split_by };
}

/** The form as a change for a rehearsal; null: it is incomplete or changes nothing that can be replayed. `policy` null: a new one. */
export function rehearsedPolicy(
  draft: PolicyDraft,
  policy: ConsoleBudgetPolicy | null,
  workspace: string | null,
): RehearsedChange | null {
  if (policyBlockedBy(draft) !== null) return null;
  // The stored name, because a rehearsal finds the policy by its name.
  const name = policy?.name ?? draft.name;
  if (!draft.enabled) return policy?.enabled === true ? policyChange(workspace, { name, enabled: false }) : null;
  const fields = { ...policyChangeOf(draft), name };
  const before = policy && { ...policyChangeOf(policyDraftOf(policy)), name };
  return JSON.stringify(fields) === JSON.stringify(before) ? null : policyChange(workspace, fields);
}
