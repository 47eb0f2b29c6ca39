import type { GuardrailCheckConfig, RehearsedChange } from "@sluice/contract/config-file";
import { guardrailFaults, guardrailSides } from "@sluice/contract/words";
import type { ConfigSnapshot, Guardrail } from "#core/index.ts";
import { usableCheck } from "#directory/index.ts";
import { patternProblem } from "#guardrails/index.ts";
import { type Path, refuse, unknownName } from "./change-fault.ts";
import type { ObjectIds } from "./object-ids.ts";
import type { RehearsedGuardrail } from "./rehearsed-changes.ts";

type GuardrailChange = NonNullable<RehearsedChange["guardrails"]>[number];

/** The guardrails of a change, each as it is now and with the change. Without the secrets of webhooks. */
export async function resolveGuardrails(
  change: RehearsedChange,
  config: Pick<ConfigSnapshot, "guardrails" | "workspaces">,
  ids: ObjectIds,
): Promise<readonly RehearsedGuardrail[]> {
  const resolved: RehearsedGuardrail[] = [];
  const resolve = async (changed: GuardrailChange, workspaceId: string | null, path: Path): Promise<void> => {
    const { name } = changed;
    const isSame = (one: Pick<Guardrail, "name" | "workspaceId">) =>
      one.name === name && one.workspaceId === workspaceId;
    const before = config.guardrails.find(isSame) ?? null;
    const slug = workspaceId === null ? null : (config.workspaces.get(workspaceId)?.slug ?? workspaceId);
    if (resolved.some((one) => one.workspaceId === workspaceId && one.name === name)) {
      refuse([...path, "name"], `"${name}" is in the change twice`);
    }
    if (changed.enabled === false && before === null) unknownName([...path, "name"], "enabled guardrail", name);
    resolved.push({
      ...{ name, workspaceId, label: `guardrail ${slug === null ? "" : `${slug}/`}${name}` },
      before: before === null ? null : { ...before, check: withoutSecret(before.check) },
      after: changed.enabled === false ? null : await guardrailOf(changed, { workspaceId, before, path, ids }),
    });
  };
  for (const [at, changed] of (change.guardrails ?? []).entries()) await resolve(changed, null, ["guardrails", at]);
  for (const [at, { slug, guardrails = [] }] of (change.workspaces ?? []).entries()) {
    const workspaceId = ids.workspace(slug, ["workspaces", at, "slug"]);
    for (const [index, changed] of guardrails.entries()) {
      await resolve(changed, workspaceId, ["workspaces", at, "guardrails", index]);
    }
  }
  return resolved;
}

interface Place {
  readonly workspaceId: string | null;
  readonly before: Guardrail | null;
  readonly path: Path;
  readonly ids: ObjectIds;
}

async function guardrailOf(changed: GuardrailChange, { workspaceId, before, path, ids }: Place): Promise<Guardrail> {
  const { name, workspaces, groups, keys } = changed;
  if (changed.check !== undefined) refuseFaults(changed.check, changed.action ?? before?.action, path);
  const check = changed.check === undefined ? before?.check : usableCheck(changed.check);
  const action = changed.action ?? before?.action;
  if (check === undefined || action === undefined) {
    refuse([...path, "name"], `there is no enabled guardrail "${name}"; a new one needs \`check\` and \`action\``);
  }
  const each = <Id>(member: string, texts: readonly string[] | undefined, idOf: (text: string, at: Path) => Id) =>
    texts && Promise.all(texts.map((text, index) => idOf(text, [...path, member, index])));
  return {
    ...{ id: before?.id ?? `rehearsed ${workspaceId ?? ""}/${name}`, name, workspaceId },
    workspaces: (await each("workspaces", workspaces, ids.workspace)) ?? before?.workspaces ?? [],
    groups: (await each("groups", groups, (text, at) => ids.group(text, workspaceId, at))) ?? before?.groups ?? [],
    keys: (await each("keys", keys, (text, at) => ids.key(text, workspaceId, at))) ?? before?.keys ?? [],
    on: changed.on ?? before?.on ?? guardrailSides,
    at: changed.at === undefined ? (before?.at ?? null) : changed.at,
    ...{ check: withoutSecret(check), action },
    onError: changed.on_error ?? before?.onError ?? (action === "flag" ? "pass" : "block"),
    unreadable: changed.unreadable ?? before?.unreadable ?? "pass",
    stream: changed.stream ?? before?.stream ?? "window",
    timeoutMs: changed.timeout_ms ?? before?.timeoutMs ?? 2_000,
    enforce: changed.enforce ?? before?.enforce ?? true,
  };
}

function refuseFaults(check: GuardrailCheckConfig, action: Guardrail["action"] | undefined, path: Path): void {
  const [fault] = action === undefined ? [] : guardrailFaults({ check, action });
  if (fault !== undefined) refuse([...path, ...fault.path], fault.message);
  if (check.kind !== "patterns") return;
  for (const [index, { regex }] of check.patterns.entries()) {
    const problem = patternProblem(regex);
    if (problem !== null) refuse([...path, "check", "patterns", index, "regex"], problem);
  }
}

function withoutSecret(check: Guardrail["check"]): Guardrail["check"] {
  return check.kind === "webhook" ? { ...check, secret: null } : check;
}
