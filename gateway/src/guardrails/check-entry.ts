import { createHash } from "node:crypto";
import { type Guardrail, type GuardrailCheckEntry, maskSecrets, type Principal } from "#core/index.ts";
import type { CheckRecord } from "./check-record.ts";
import type { GuardrailPolicy } from "./policy.ts";

/** Longer paths and errors are cut, and types beyond this many are left out. */
const textLengthMax = 200;
const typesMax = 32;

/**
 * The record without what a guardrail of the call finds in its texts: callers choose the names of members, and a service's error may
 * quote a text.
 */
export function cleanRecord(record: CheckRecord, policy: GuardrailPolicy): CheckRecord {
  const { counts, paths, error } = record;
  if (record.verdict === "passed") return record;
  const clean = (text: string) => withoutFindings(text, policy).slice(0, textLengthMax);
  const types = Object.entries(counts).slice(0, typesMax);
  return {
    ...record,
    counts: Object.fromEntries(types.map(([type, count]) => [clean(type), count])),
    paths: paths.filter((path) => path !== "").map(clean),
    error: error === null ? null : clean(error),
  };
}

function withoutFindings(text: string, { input, output }: GuardrailPolicy): string {
  let clean = maskSecrets(text);
  for (const { detector } of [...input.locating, ...output.locating]) {
    for (const { start, end } of detector.find(clean).toReversed()) {
      clean = `${clean.slice(0, start)}…${clean.slice(end)}`;
    }
  }
  return clean;
}

/** A record that did not pass, with its call, as it is kept. */
export function checkEntryOf(
  { requestId, principal }: { readonly requestId: string; readonly principal: Principal },
  record: CheckRecord & Pick<GuardrailCheckEntry, "verdict">,
  { checkId, at }: Pick<GuardrailCheckEntry, "checkId" | "at">,
): GuardrailCheckEntry {
  const { guardrail, side, verdict, counts, paths, unmasked, unreadable, durationMs, error } = record;
  return {
    ...{ checkId, at, requestId },
    ...{ workspaceId: principal.workspace.id, groupId: principal.group.id, keyId: principal.key.id },
    personId: principal.person,
    ...{ guardrailId: guardrail.id, guardrailName: guardrail.name, definition: digestOf(guardrail) },
    ...{ side, action: guardrail.action, enforced: guardrail.enforce, verdict },
    ...{ counts, paths, unmasked, unreadable, durationMs, error },
  };
}

const digests = new WeakMap<Guardrail, string>();

function digestOf(guardrail: Guardrail): string {
  let digest = digests.get(guardrail);
  if (digest === undefined) {
    const json = JSON.stringify(guardrail, (name, value) => (name === "secret" ? undefined : value));
    digest = createHash("sha256").update(json).digest("hex").slice(0, 16);
    digests.set(guardrail, digest);
  }
  return digest;
}
