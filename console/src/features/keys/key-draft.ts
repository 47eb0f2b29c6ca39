import type { BodyInput, BudgetConfig, Capture, ConsoleKey, LimitsConfig } from "@sluice/contract";
import { t } from "../../language/areas/keys.ts";
import { budgetBlockedBy } from "../limits/budget-increase.ts";
import { isIpRange } from "./ip-range.ts";

/** The state of a key form. */
export interface KeyDraft {
  readonly name: string;
  /** Group id; empty until the groups are loaded, which means the gateway's default. */
  readonly group: string;
  /** null: all models of the group. */
  readonly models: readonly string[] | null;
  /** false: shadow mode. */
  readonly enforceModels: boolean;
  /** Ids of providers. */
  readonly passThrough: readonly string[];
  readonly allowedIps: readonly string[];
  readonly enforceAllowedIps: boolean;
  readonly expiresAt: number | null;
  readonly limits: LimitsConfig;
  readonly budget: BudgetConfig | null;
  /** `name=value` each. */
  readonly tags: readonly string[];
  readonly capture: Capture;
  /** Only set when the key is created. */
  readonly service: boolean;
  /** The owner's user ID; null: shared. */
  readonly owner: string | null;
  /** Whether it can have an owner: not for service tokens and keys of agents. */
  readonly ownable: boolean;
}

export const emptyDraft: KeyDraft = Object.freeze({
  name: "",
  group: "",
  models: null,
  enforceModels: true,
  passThrough: [],
  allowedIps: [],
  enforceAllowedIps: true,
  expiresAt: null,
  limits: {},
  budget: null,
  tags: [],
  capture: "none",
  service: false,
  owner: null,
  ownable: true,
});

export function draftOf(key: ConsoleKey): KeyDraft {
  return {
    name: key.name,
    group: key.group.id,
    models: key.models,
    enforceModels: key.enforce_models,
    passThrough: key.pass_through,
    allowedIps: key.allowed_ips ?? [],
    enforceAllowedIps: key.enforce_allowed_ips,
    expiresAt: key.expires_at,
    limits: key.limits,
    budget: key.budget,
    tags: Object.entries(key.tags).map(([name, value]) => `${name}=${value}`),
    capture: key.capture,
    service: key.service,
    owner: key.owner?.id ?? null,
    ownable: !key.service && key.person === undefined,
  };
}

type Body = BodyInput<"keys.create">;
type Change = BodyInput<"keys.update">;

/** The request that creates the key. Contains only chosen fields, because some may be sent by admins only. */
export function bodyOf(draft: KeyDraft): Body {
  return { ...changesOf(emptyDraft, draft), name: draft.name.trim(), ...(draft.service ? { service: true } : {}) };
}

/** The changed fields in the gateway's format. */
export function changesOf(before: KeyDraft, after: KeyDraft): Change {
  const was = fieldsOf(before);
  return Object.fromEntries(
    Object.entries(fieldsOf(after)).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(was[name as keyof Fields]),
    ),
  );
}

type Fields = ReturnType<typeof fieldsOf>;

function fieldsOf(draft: KeyDraft) {
  return {
    name: draft.name.trim(),
    group: draft.group,
    models: draft.models === null ? null : [...draft.models],
    enforce_models: draft.enforceModels,
    pass_through: [...draft.passThrough],
    allowed_ips: draft.allowedIps.length === 0 ? null : [...draft.allowedIps],
    enforce_allowed_ips: draft.enforceAllowedIps,
    expires_at: draft.expiresAt,
    limits: draft.limits,
    budget: draft.budget,
    tags: tagsOf(draft.tags),
    capture: draft.capture,
    owner: draft.owner,
  };
}

/** If two tags have the same name, the last one counts. A value may contain `=`, a name may not. */
export function tagsOf(texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf("=");
      return at === -1 ? [text.trim(), ""] : [text.slice(0, at).trim(), text.slice(at + 1).trim()];
    }),
  );
}

/** Why the form cannot be sent; null if it can. */
export function blockedBy(draft: KeyDraft): string | null {
  if (draft.name.trim() === "") return t("keys.fields.nameMissing");
  if (draft.service && draft.expiresAt === null) return t("keys.service.expiryMissing");
  const faults = faultsOf(draft);
  if (Object.values(faults).some((fault) => fault !== null)) return t("keys.fields.needsAttention");
  return budgetBlockedBy(draft.budget);
}

/** The error of a field. */
export function faultsOf({ tags, allowedIps }: KeyDraft): Readonly<Record<"tags" | "allowedIps", string | null>> {
  const tag = tags.find((each) => each.indexOf("=") < 1);
  const address = allowedIps.find((each) => !isIpRange(each));
  return {
    tags: tag === undefined ? null : t("keys.fields.tagWrong", { wrong: tag }),
    allowedIps: address === undefined ? null : t("keys.fields.ipsWrong", { wrong: address }),
  };
}

/** The limits that apply anyway: the lowest of each kind among the higher levels. */
export function leastLimits(...above: readonly LimitsConfig[]): LimitsConfig {
  const least: LimitsConfig = {};
  for (const kind of ["rpm", "tpm", "concurrency"] as const) {
    const values = above.map((limits) => limits[kind]).filter((value) => value !== undefined);
    if (values.length > 0) least[kind] = Math.min(...values);
  }
  return least;
}
