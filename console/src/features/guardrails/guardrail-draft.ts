import type { BodyInput, ConsoleGuardrail, GuardrailCheckConfig, RehearsedChange } from "@sluice/contract";
import {
  type GuardrailAction,
  type GuardrailCheckKind,
  type GuardrailPlace,
  type GuardrailSide,
  guardrailBounds,
  guardrailSides,
  locatingChecks,
  maskingChecks,
  type PersonalDataType,
  slugPattern,
} from "@sluice/contract/words";
import { t } from "../../language/areas/guardrails.ts";

export interface PatternDraft {
  /** For React; not sent. */
  readonly id: number;
  readonly name: string;
  readonly regex: string;
}

/** The state of a guardrail's form. It keeps the input of all checks, so that switching between them loses nothing. */
export interface GuardrailDraft {
  readonly name: string;
  /** A slug; null: the installation. */
  readonly workspace: string | null;
  readonly enabled: boolean;
  readonly kind: GuardrailCheckKind;
  readonly types: readonly PersonalDataType[];
  /** One per line. */
  readonly words: string;
  readonly wholeWords: boolean;
  readonly ignoreCase: boolean;
  readonly patterns: readonly PatternDraft[];
  readonly model: string | null;
  readonly categories: readonly string[];
  readonly threshold: number | null;
  readonly instructions: string;
  readonly url: string;
  readonly secret: string;
  /** The URL that the stored secret belongs to; null: there is none. */
  readonly secretUrl: string | null;
  readonly action: GuardrailAction;
  readonly scope: "all" | "some";
  readonly workspaces: readonly string[];
  readonly groups: readonly string[];
  readonly keys: readonly string[];
  readonly on: readonly GuardrailSide[];
  readonly at: readonly GuardrailPlace[];
  /** null: the default of the action. */
  readonly onError: "block" | "pass" | null;
  readonly unreadable: "block" | "pass";
  readonly stream: "window" | "whole";
  readonly timeoutMs: number | null;
  readonly enforce: boolean;
}

export interface GuardrailFieldsProps {
  readonly draft: GuardrailDraft;
  readonly onChange: (changes: Partial<GuardrailDraft>) => void;
}

export const templates = ["credentials", "personal_data", "words", "none"] as const;
export type Template = (typeof templates)[number];

/** Texts have names in English, because names are part of error messages for programs. */
const templateFields: Readonly<Record<Template, Pick<GuardrailDraft, "name" | "kind" | "action">>> = {
  credentials: { name: "block-credentials", kind: "credentials", action: "block" },
  personal_data: { name: "mask-personal-data", kind: "personal_data", action: "mask" },
  words: { name: "blocked-words", kind: "words", action: "block" },
  none: { name: "", kind: "patterns", action: "block" },
};

export function emptyGuardrail(workspace: string | null, template: Template = "credentials"): GuardrailDraft {
  return {
    ...{ workspace, enabled: true, words: "", wholeWords: true, ignoreCase: true },
    types: ["email", "phone", "card", "iban"],
    patterns: [{ id: 0, name: "", regex: "" }],
    ...{ model: null, categories: [], threshold: null, instructions: "", url: "", secret: "", secretUrl: null },
    ...{ scope: "all", workspaces: [], groups: [], keys: [] },
    ...{ on: guardrailSides, at: [], onError: null, unreadable: "pass", stream: "window", timeoutMs: 2_000 },
    ...{ enforce: true, ...templateFields[template] },
  };
}

/** The form of a stored guardrail. `check` null: the user may not see it. */
export function guardrailDraftOf(guardrail: ConsoleGuardrail): GuardrailDraft {
  const { name, enabled, action, workspaces, groups, keys, on, unreadable, stream, enforce } = guardrail;
  return {
    ...emptyGuardrail(guardrail.workspace?.slug ?? null, "none"),
    ...(guardrail.check === null ? {} : fieldsOf(guardrail.check)),
    ...{ name, enabled, kind: guardrail.kind, action, workspaces, groups, keys, on, unreadable, stream, enforce },
    ...{ scope: guardrail.all_calls ? "all" : "some", at: guardrail.at ?? [] },
    onError: guardrail.on_error === onErrorOf({ action: guardrail.action, onError: null }) ? null : guardrail.on_error,
    ...{ timeoutMs: guardrail.timeout_ms },
  };
}

function fieldsOf(check: NonNullable<ConsoleGuardrail["check"]>): Partial<GuardrailDraft> {
  switch (check.kind) {
    case "credentials":
      return {};
    case "personal_data":
      return { types: check.types ?? [] };
    case "words":
      return {
        words: check.words.join("\n"),
        wholeWords: check.whole_words ?? true,
        ignoreCase: check.ignore_case ?? true,
      };
    case "patterns":
      return { patterns: check.patterns.map((pattern, id) => ({ id, ...pattern })) };
    case "moderation":
      return { model: check.model, categories: check.categories ?? [], threshold: check.threshold ?? null };
    case "classifier":
      return { model: check.model, instructions: check.instructions };
    case "webhook":
      return { url: check.url, secretUrl: check.has_secret ? check.url : null };
  }
}

/** True if the check may locate its findings, so that it can mask them. */
export function mayMask(kind: GuardrailCheckKind): boolean {
  return (maskingChecks as readonly string[]).includes(kind);
}

/** True if the gateway itself locates the findings. Only these checks can be tried on a text. */
export function findsPlaces(kind: GuardrailCheckKind): boolean {
  return (locatingChecks as readonly string[]).includes(kind);
}

export function checkOf(draft: GuardrailDraft): GuardrailCheckConfig {
  const { kind } = draft;
  switch (kind) {
    case "credentials":
      return { kind };
    case "personal_data":
      return draft.types.length === 0 ? { kind } : { kind, types: [...draft.types] };
    case "words":
      return { kind, words: wordsOf(draft), whole_words: draft.wholeWords, ignore_case: draft.ignoreCase };
    case "patterns":
      return { kind, patterns: draft.patterns.map(({ name, regex }) => ({ name: name.trim(), regex })) };
    case "moderation":
      return {
        ...{ kind, model: draft.model ?? "" },
        ...(draft.categories.length === 0 ? {} : { categories: [...draft.categories] }),
        ...(draft.threshold === null ? {} : { threshold: draft.threshold }),
      };
    case "classifier":
      return { kind, model: draft.model ?? "", instructions: draft.instructions.trim() };
    case "webhook":
      return { kind, url: draft.url.trim(), ...(draft.secret === "" ? {} : { secret: draft.secret }) };
  }
}

function wordsOf({ words }: GuardrailDraft): string[] {
  return words.split("\n").flatMap((word) => (word.trim() === "" ? [] : [word.trim()]));
}

export function bodyOf(draft: GuardrailDraft): BodyInput<"guardrails.create"> {
  const ids = (list: readonly string[]) => (draft.scope === "all" ? [] : [...list]);
  const { name, enabled, action, unreadable, stream, enforce } = draft;
  return {
    ...{ name: name.trim(), enabled, action, unreadable, stream, enforce, check: checkOf(draft) },
    ...(draft.workspace === null ? { workspaces: ids(draft.workspaces) } : {}),
    ...{ groups: ids(draft.groups), keys: ids(draft.keys) },
    ...{ on: [...draft.on], at: draft.at.length === 0 ? null : [...draft.at] },
    ...{ on_error: onErrorOf(draft), timeout_ms: draft.timeoutMs ?? 0 },
  };
}

/** The unsaved form as a change, without the secret of a webhook; null: it is incomplete, or disables one that is not enabled. */
export function rehearsedGuardrail(draft: GuardrailDraft, stored: ConsoleGuardrail | null): RehearsedChange | null {
  if (blockedBy(draft) !== null || (!draft.enabled && stored?.enabled !== true)) return null;
  const body = bodyOf({ ...draft, secret: "", secretUrl: null });
  const name = stored?.name ?? body.name;
  const change = draft.enabled ? { ...body, name } : { name, enabled: false };
  if (draft.workspace === null) return { guardrails: [change] };
  return { workspaces: [{ slug: draft.workspace, guardrails: [change] }] };
}

/** Why the form cannot be sent; null if it can. */
export function blockedBy(draft: GuardrailDraft): string | null {
  if (!slugPattern.test(draft.name.trim())) return t("guardrails.form.nameMissing");
  const check = checkBlockedBy(draft);
  if (check !== null) return check;
  if (draft.scope === "some" && draft.workspaces.length + draft.groups.length + draft.keys.length === 0) {
    return t("guardrails.form.scopeMissing");
  }
  if (draft.on.length === 0) return t("guardrails.form.onMissing");
  const { timeoutMsMin: min, timeoutMsMax: max } = guardrailBounds;
  const isInTime = draft.timeoutMs !== null && draft.timeoutMs >= min && draft.timeoutMs <= max;
  return isInTime ? null : t("guardrails.form.timeoutMissing", { min, max });
}

/** Why the check is incomplete; null if it is complete. */
export function checkBlockedBy(draft: GuardrailDraft): string | null {
  switch (draft.kind) {
    case "words":
      return wordsOf(draft).length === 0 ? t("guardrails.form.wordsMissing") : null;
    case "patterns": {
      const isMissing = ({ name, regex }: PatternDraft) => name.trim() === "" || regex === "";
      return draft.patterns.length === 0 || draft.patterns.some(isMissing)
        ? t("guardrails.form.patternsMissing")
        : null;
    }
    case "moderation":
      return draft.model === null ? t("guardrails.form.modelMissing") : null;
    case "classifier":
      if (draft.model === null) return t("guardrails.form.modelMissing");
      return draft.instructions.trim() === "" ? t("guardrails.form.instructionsMissing") : null;
    case "webhook":
      if (!URL.canParse(draft.url.trim())) return t("guardrails.form.urlMissing");
      return draft.secret !== "" && draft.secret.length < 16 ? t("guardrails.form.secretShort") : null;
    default:
      return null;
  }
}

/** A change of the check. A check without places cannot mask. */
export function withKind(draft: GuardrailDraft, kind: GuardrailCheckKind): Partial<GuardrailDraft> {
  const action = draft.action === "mask" && !mayMask(kind) ? "block" : draft.action;
  return { kind, action, model: kind === draft.kind ? draft.model : null };
}

/** A guardrail that only records must not stop calls when its check fails. */
export function onErrorOf({ action, onError }: Pick<GuardrailDraft, "action" | "onError">): "block" | "pass" {
  return onError ?? (action === "flag" ? "pass" : "block");
}
