import type { BodyInput, BudgetConfig, ConsoleBudgetPolicy } from "@sluice/contract";
import { slugPattern } from "@sluice/contract/words";
import { t } from "../../../language/areas/limits.ts";

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
  /** Empty: refuse. */
  readonly fallback: string;
  readonly increaseUsd: number | null;
  /** As in a field for date and time. */
  readonly increaseUntil: string;
  readonly increaseReason: string;
}

export interface PolicyFieldsProps {
  readonly draft: PolicyDraft;
  readonly onChange: (changes: Partial<PolicyDraft>) => void;
}

export const splits = ["key", "person", "workspace", "group", "model", "provider", "tag"] as const;

export const emptyPolicy: PolicyDraft = {
  ...{ name: "", enabled: true, budget: null, split: "", splitTag: "", match: {}, tags: [] },
  ...{ fallback: "", increaseUsd: null, increaseUntil: "", increaseReason: "" },
};

export function policyDraftOf({ name, enabled, budget, split_by: split, match }: ConsoleBudgetPolicy): PolicyDraft {
  const { over, increase, ...rest } = budget;
  const { tags = {}, ...others } = match;
  const tag = split?.startsWith("tag:") === true ? split.slice("tag:".length) : null;
  return {
    ...{ name, enabled, budget: rest, match: others },
    split: tag === null ? (split ?? "") : "tag",
    splitTag: tag ?? "",
    tags: Object.entries(tags).flatMap(([of, values]) => [values].flat().map((value) => `${of}=${value}`)),
    fallback: typeof over === "object" ? over.fallback : "",
    increaseUsd: increase?.usd ?? null,
    increaseUntil: increase === undefined ? "" : localTime(Date.parse(increase.until)),
    increaseReason: increase?.reason ?? "",
  };
}

/** Why the form cannot be sent; null if it can. */
export function policyBlockedBy(draft: PolicyDraft): string | null {
  if (!slugPattern.test(draft.name)) return t("limits.policy.nameMissing");
  if (draft.budget === null) return t("limits.policy.amountMissing");
  if (draft.split === "tag" && draft.splitTag.trim() === "") return t("limits.policy.tagMissing");
  if (draft.tags.some((tag) => !/^[^=]+=/.test(tag))) return t("limits.policy.tagWrong");
  const { increaseUsd, increaseUntil, increaseReason } = draft;
  if (increaseUsd === null) return null;
  return increaseUntil === "" || increaseReason.trim() === "" ? t("limits.policy.increaseMissing") : null;
}

export function policyBodyOf(draft: PolicyDraft): BodyInput<"budgets.create"> {
  const { name, enabled, split, splitTag, increaseUsd, increaseUntil } = draft;
  const budget = draft.budget ?? { usd: 0, period: "month" };
  const members = Object.entries(draft.match).filter(([, values]) => values !== undefined && values.length > 0);
  const tags = Map.groupBy(draft.tags, (tag) => tag.slice(0, tag.indexOf("=")).trim());
  const tagged = [...tags].map(([of, all]) => [of, all.map((tag) => tag.slice(tag.indexOf("=") + 1).trim())]);
  const until = increaseUntil === "" ? "" : new Date(increaseUntil).toISOString();
  return {
    ...budget,
    ...{ name, enabled },
    over: draft.fallback === "" ? "refuse" : { fallback: draft.fallback },
    ...(increaseUsd === null ? {} : { increase: { usd: increaseUsd, until, reason: draft.increaseReason.trim() } }),
    ...(split === "" ? {} : { split_by: split === "tag" ? `tag:${splitTag.trim()}` : split }),
    match: { ...Object.fromEntries(members), ...(tagged.length === 0 ? {} : { tags: Object.fromEntries(tagged) }) },
  };
}

/** A change names what it removes. */
export function policyChangeOf(draft: PolicyDraft): BodyInput<"budgets.update"> {
  const {
    time_zone = null,
    rolling = false,
    enforce = true,
    increase = null,
    split_by = null,
    ...body
  } = policyBodyOf(draft);
  return { ...body, time_zone, rolling, enforce, increase, split_by };
}

/** For a field of date and time, in the time zone of the browser. */
function localTime(at: number): string {
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
