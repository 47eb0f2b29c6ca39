import type { GuardrailAction, GuardrailPlace, GuardrailSide, PersonalDataType } from "@sluice/contract/words";

/** The check of a guardrail. Plain values, so that threads can compile it. */
export type GuardrailCheck =
  | { readonly kind: "credentials" }
  | { readonly kind: "personal_data"; readonly types: readonly PersonalDataType[] }
  | { readonly kind: "patterns"; readonly patterns: readonly NamedPattern[] }
  | {
      readonly kind: "words";
      readonly words: readonly string[];
      readonly wholeWords: boolean;
      readonly ignoreCase: boolean;
    }
  /** `model`: a model of the gateway. `threshold`: from 0 to 1; null: the model's own verdict. */
  | {
      readonly kind: "moderation";
      readonly model: string;
      readonly categories: readonly string[] | null;
      readonly threshold: number | null;
    }
  | { readonly kind: "classifier"; readonly model: string; readonly instructions: string }
  | { readonly kind: "webhook"; readonly url: string; readonly secret: string | null };

export type LocatingCheck = Extract<
  GuardrailCheck,
  { readonly kind: "credentials" | "personal_data" | "patterns" | "words" }
>;

export interface NamedPattern {
  readonly name: string;
  /** RE2 syntax. */
  readonly regex: string;
}

/** A rule on what calls may send and receive. It applies to every call in its scope, and narrower scopes cannot remove it. */
export interface Guardrail {
  readonly id: string;
  readonly name: string;
  /** null: the installation's. */
  readonly workspaceId: string | null;
  /** Ids. All three empty: every call of the installation or workspace; else the calls of any of these. */
  readonly workspaces: readonly string[];
  readonly groups: readonly string[];
  readonly keys: readonly string[];
  readonly on: readonly GuardrailSide[];
  /** null: everywhere. */
  readonly at: readonly GuardrailPlace[] | null;
  readonly check: GuardrailCheck;
  readonly action: GuardrailAction;
  /** If the check itself fails or is too slow. */
  readonly onError: "block" | "pass";
  /** Contents that cannot be read: media, encrypted reasoning. */
  readonly unreadable: "block" | "pass";
  /** How a streamed answer is checked: while it passes, or before its first byte. */
  readonly stream: "window" | "whole";
  readonly timeoutMs: number;
  /** false: shadow mode. Findings are recorded and the call is not changed. */
  readonly enforce: boolean;
}

/** A place in a text that a check found. UTF-16 offsets, `end` exclusive. */
export interface Finding {
  readonly start: number;
  readonly end: number;
  /** For example `email`, or the pattern's name. */
  readonly type: string;
}

/**
 * Finds places in texts. Pure: the same text always has the same findings.
 *
 * A stream releases text up to `pendingFrom` and keeps the rest. It calls with the last `detectorContext` characters that it released,
 * then the text that it kept and the new text; `from` is the end of the released text. Then it finds the same as in the whole text.
 */
export interface Detector {
  /** Ascending, not overlapping. Only findings that start at `from` or later; the text before it is context. Default: 0. */
  find(text: string, from?: number): readonly Finding[];
  /**
   * For a text that continues: the offset, at least `from`, of the first character that may belong to a finding which more text would
   * complete or lengthen. `text.length`: none.
   */
  pendingFrom(text: string, from?: number): number;
}

/** Characters before a finding that may decide about it. */
export const detectorContext = 256;

/** The number of checks of a guardrail by one process in an hour, with one result. */
export interface GuardrailHour {
  /** Its start in Unix milliseconds. */
  readonly hour: number;
  /** The process. */
  readonly source: string;
  readonly workspaceId: string;
  readonly guardrailId: string;
  readonly guardrailName: string;
  readonly side: GuardrailSide;
  readonly verdict: GuardrailVerdict;
  readonly enforced: boolean;
  readonly checks: number;
}

/**
 * passed   nothing was found
 * flagged  something was found, and the call was not changed
 * masked   every finding was replaced
 * blocked  the call was refused
 * failed   the check could not be done
 */
export type GuardrailVerdict = "passed" | "flagged" | "masked" | "blocked" | "failed";

/** The stored record of a guardrail's check that found something or failed. Never contains the text that was found. */
export interface GuardrailCheckEntry {
  readonly checkId: string;
  /** Unix milliseconds. */
  readonly at: number;
  readonly requestId: string;
  readonly workspaceId: string;
  readonly groupId: string;
  readonly keyId: string;
  readonly personId: string | null;
  readonly guardrailId: string;
  readonly guardrailName: string;
  /** Digest of everything that the guardrail did then, without its secret. */
  readonly definition: string;
  readonly side: GuardrailSide;
  readonly action: GuardrailAction;
  /** false: shadow mode. */
  readonly enforced: boolean;
  /** In shadow mode, the verdict that it would have had. */
  readonly verdict: Exclude<GuardrailVerdict, "passed">;
  /** Findings by type. */
  readonly counts: Readonly<Record<string, number>>;
  /** Members of the body in which something was found. */
  readonly paths: readonly string[];
  /** Findings in signed texts, which cannot be masked. */
  readonly unmasked: number;
  /** Media and encrypted parts, which were not checked. */
  readonly unreadable: number;
  readonly durationMs: number;
  /** Why the check failed; null: it did not. */
  readonly error: string | null;
}
