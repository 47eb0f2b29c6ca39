import type { GuardrailCheckConfig, GuardrailConfig } from "@sluice/contract/config-file";
import type { ConsoleGuardrail } from "@sluice/contract/console";
import { guardrailSides, personalDataTypes } from "@sluice/contract/words";
import type { Guardrail, GuardrailCheck } from "#core/index.ts";
import type { Vault } from "#ports/index.ts";
import { type AuditedObject, guardrailSealId, type Row, sealIfChanged } from "#storage/tables.ts";
import type { ControlWrite } from "../store.ts";
import { slugIn } from "../workspaces/workspace-rows.ts";

export type GuardrailRow = Row<"guardrails">;

/** A guardrail as it is stored, with the field names of the API. */
export interface GuardrailRecord
  extends Omit<ConsoleGuardrail, "workspace" | "inherited" | "all_calls" | "kind" | "check"> {
  /** null: the installation. */
  readonly workspaceId: string | null;
  readonly check: NonNullable<ConsoleGuardrail["check"]>;
}

/** `workspaces`, `groups` and `keys` are ids. Without the secret of a webhook, the stored one is kept unless the URL changes. */
export type GuardrailDraft = Omit<GuardrailConfig, "at"> & { readonly at?: GuardrailRecord["at"] | undefined };

type StoredCheck =
  | Exclude<GuardrailCheckConfig, { kind: "webhook" }>
  | { readonly kind: "webhook"; readonly url: string };

/** The column `definition`. */
type Definition = Pick<GuardrailRecord, "workspaces" | "groups" | "keys" | "on" | "at" | "action" | "on_error"> &
  Pick<GuardrailRecord, "unreadable" | "stream" | "timeout_ms" | "enforce"> & { readonly check: StoredCheck };

/** `slugs`: the workspace's slug, or the slugs of several workspaces by id. */
export function guardrailObject(slugs: string | ReadonlyMap<string, string>): AuditedObject<"guardrails"> {
  return {
    table: "guardrails",
    idColumn: "id",
    label: ({ workspace_id, name }) =>
      workspace_id === null ? `guardrail ${name}` : `guardrail ${slugIn(slugs, workspace_id)}/${name}`,
    view: ({ definition, sealed_secret, kind: _kind, ...row }, before) => ({
      ...row,
      ...(JSON.parse(definition) as Definition),
      enabled: row.enabled === 1,
      secret: secretView(sealed_secret, before),
    }),
    workspaceOf: (row) => row.workspace_id,
    notify: (log) => log.configChanged(),
  };
}

/** Shows in the audit log whether the secret changed, never the secret. */
function secretView(sealed: string | null, before: GuardrailRow | null): string | null {
  if (sealed === null) return null;
  return before === null || before.sealed_secret === sealed ? "[redacted]" : "[redacted, changed]";
}

/** `before` undefined: a new guardrail. */
export function guardrailRow(
  { ids, at, owner, vault }: Pick<ControlWrite, "ids" | "at" | "owner" | "vault">,
  workspaceId: string | null,
  draft: GuardrailDraft,
  before?: GuardrailRow,
): GuardrailRow {
  const id = before?.id ?? ids.next("grl_");
  return {
    ...{ id, workspace_id: workspaceId, name: draft.name, kind: draft.check.kind },
    definition: JSON.stringify(definitionOf(draft)),
    sealed_secret: sealedSecret(vault, id, draft.check, before),
    enabled: draft.enabled === false ? 0 : 1,
    managed_by: owner,
    created_at: before?.created_at ?? at,
  };
}

/** With defaults, and in a fixed member order, so that equal definitions are equal text. */
function definitionOf(draft: GuardrailDraft): Definition {
  const { check, action } = draft;
  return {
    workspaces: unique(draft.workspaces),
    groups: unique(draft.groups),
    keys: unique(draft.keys),
    on: guardrailSides.filter((side) => (draft.on ?? guardrailSides).includes(side)),
    at: draft.at == null ? null : unique(draft.at),
    check: storedCheck(check),
    action,
    on_error: draft.on_error ?? (action === "flag" ? "pass" : "block"),
    unreadable: draft.unreadable ?? "pass",
    stream: draft.stream ?? "window",
    timeout_ms: draft.timeout_ms ?? 2_000,
    enforce: draft.enforce ?? true,
  };
}

function storedCheck(check: GuardrailCheckConfig): StoredCheck {
  if (check.kind === "webhook") return { kind: "webhook", url: check.url };
  if (check.kind === "personal_data" && check.types !== undefined) return { ...check, types: unique(check.types) };
  if (check.kind !== "words") return check;
  const { words, whole_words = true, ignore_case = true } = check;
  return { kind: "words", words: unique(words), whole_words, ignore_case };
}

function unique<Item>(items: readonly Item[] = []): Item[] {
  return [...new Set(items)];
}

function sealedSecret(
  vault: Vault,
  id: string,
  check: GuardrailCheckConfig,
  before: GuardrailRow | undefined,
): string | null {
  if (check.kind !== "webhook" || check.secret === null) return null;
  const stored = before?.sealed_secret ?? null;
  if (check.secret !== undefined) return sealIfChanged(vault, guardrailSealId(id), stored, check.secret);
  // A stored secret must not be used for another address.
  const there = before === undefined ? null : (JSON.parse(before.definition) as Definition).check;
  return there?.kind === "webhook" && there.url === check.url ? stored : null;
}

export function guardrailRecord(row: GuardrailRow): GuardrailRecord {
  const { id, workspace_id: workspaceId, name, managed_by, created_at } = row;
  const { check, ...definition } = JSON.parse(row.definition) as Definition;
  return {
    ...{ id, workspaceId, name, managed_by, created_at, ...definition },
    check: check.kind === "webhook" ? { ...check, has_secret: row.sealed_secret !== null } : check,
    enabled: row.enabled === 1,
  };
}

/** A change of a stored guardrail as a complete draft. */
export function changedDraft(before: GuardrailRecord, change: Partial<GuardrailDraft>): GuardrailDraft {
  const { id: _id, workspaceId: _workspace, managed_by: _owner, created_at: _at, check, ...fields } = before;
  const withoutSecret: GuardrailCheckConfig = check.kind === "webhook" ? { kind: "webhook", url: check.url } : check;
  return { ...fields, check: withoutSecret, ...change };
}

/** A guardrail for calls, frozen, with its secret decrypted. */
export function guardrailOf(row: GuardrailRow, vault: Vault): Guardrail {
  const { check, on_error: onError, timeout_ms: timeoutMs, ...definition } = JSON.parse(row.definition) as Definition;
  const secret = row.sealed_secret === null ? null : vault.open(row.sealed_secret, guardrailSealId(row.id)).reveal();
  return frozen({
    ...{ id: row.id, name: row.name, workspaceId: row.workspace_id, ...definition, onError, timeoutMs },
    check: checkOf(check, secret),
  });
}

function checkOf(check: StoredCheck, secret: string | null): GuardrailCheck {
  switch (check.kind) {
    case "personal_data":
      return { kind: "personal_data", types: check.types ?? personalDataTypes };
    case "words":
      return {
        ...{ kind: "words", words: check.words },
        wholeWords: check.whole_words ?? true,
        ignoreCase: check.ignore_case ?? true,
      };
    case "moderation":
      return {
        ...{ kind: "moderation", model: check.model },
        categories: check.categories ?? null,
        threshold: check.threshold ?? null,
      };
    case "webhook":
      return { ...check, secret };
    default:
      return check;
  }
}

/** The check of a request or a stored guardrail, for calls. Without the secret of a webhook. */
export function plainCheck(check: GuardrailCheckConfig | GuardrailRecord["check"]): GuardrailCheck {
  return checkOf(check.kind === "webhook" ? { kind: "webhook", url: check.url } : check, null);
}

function frozen<Value>(value: Value): Value {
  if (value !== null && typeof value === "object") {
    Object.freeze(value);
    for (const member of Object.values(value)) frozen(member);
  }
  return value;
}
