import type { AccessReason } from "@sluice/contract";

/** Why a key may or may not call a model: in one word for a mark, and in a sentence. */
export const reasonWords: Readonly<Record<AccessReason, { readonly short: string; readonly sentence: string }>> = {
  yes: { short: "Yes", sentence: "The key may call it." },
  workspace_disabled: {
    short: "Workspace disabled",
    sentence: "The workspace is disabled, so none of its keys opens.",
  },
  workspace_models: { short: "Workspace", sentence: "The workspace does not let this model through." },
  group_models: { short: "Group", sentence: "The key's group does not let this model through." },
  key_models: { short: "Key", sentence: "The key itself does not let this model through." },
  key_disabled: { short: "Key disabled", sentence: "The key is disabled." },
  key_expired: { short: "Key expired", sentence: "The key has expired." },
  key_revoked: { short: "Key revoked", sentence: "The key was revoked." },
  key_without_secret: { short: "No secret", sentence: "The key has no secret yet, so nobody can use it." },
  no_deployment: { short: "No deployment", sentence: "Access is given, but no enabled deployment serves this model." },
};

/** What decides, for a mark's look: the model's patterns, the state of the key or the workspace, or what serves it. */
export type ReasonKind = "yes" | "patterns" | "state" | "availability";

export function kindOf(reason: AccessReason): ReasonKind {
  if (reason === "yes") return "yes";
  if (reason === "no_deployment") return "availability";
  return reason.endsWith("_models") ? "patterns" : "state";
}
