import type { RehearsedChange, WorkspaceGuardrailConfig } from "@sluice/contract/config-file";
import type { Path } from "./change-fault.ts";
import type { ObjectIds } from "./object-ids.ts";
import type { RehearsedGuardrail } from "./rehearsed-changes.ts";

interface Named extends WorkspaceGuardrailConfig {
  readonly workspaces?: readonly string[] | undefined;
}

/** Resolves the objects that guardrails of a change apply to. */
export async function resolveGuardrails(
  change: RehearsedChange,
  ids: ObjectIds,
): Promise<readonly RehearsedGuardrail[]> {
  const resolve = async (config: Named, home: string | null, path: Path): Promise<RehearsedGuardrail> => {
    const { workspaces: slugs = [], groups: groupNames = [], keys: keyNames = [], ...fields } = config;
    const keys: string[] = [];
    for (const [at, text] of keyNames.entries()) keys.push(await ids.key(text, home, [...path, "keys", at]));
    return {
      ...{ workspaceId: home, config: fields, keys },
      workspaces: slugs.map((slug, at) => ids.workspace(slug, [...path, "workspaces", at])),
      groups: groupNames.map((text, at) => ids.group(text, home, [...path, "groups", at])),
    };
  };
  const resolved: RehearsedGuardrail[] = [];
  for (const [at, config] of (change.guardrails ?? []).entries()) {
    resolved.push(await resolve(config, null, ["guardrails", at]));
  }
  for (const [at, { slug, guardrails = [] }] of (change.workspaces ?? []).entries()) {
    for (const [index, config] of guardrails.entries()) {
      const path = ["workspaces", at, "guardrails", index];
      resolved.push(await resolve(config, ids.workspace(slug, ["workspaces", at, "slug"]), path));
    }
  }
  return resolved;
}
