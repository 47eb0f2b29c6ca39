import type { AccessReason } from "@sluice/contract";
import { t } from "../../language/areas/access.ts";

/** Why a key may or may not call a model: in one word for a mark, and in a sentence. */
export const reasonWords: Readonly<Record<AccessReason, { readonly short: string; readonly sentence: string }>> = {
  yes: { short: t("access.yes"), sentence: t("access.theKeyMayCallIt") },
  workspace_disabled: {
    short: t("access.workspaceDisabled"),
    sentence: t("access.theWorkspaceIsDisabledSo"),
  },
  workspace_models: { short: t("access.workspace"), sentence: t("access.theWorkspaceDoesNotLet") },
  group_models: { short: t("access.group"), sentence: t("access.theKeysGroupDoesNot") },
  key_models: { short: t("access.key"), sentence: t("access.theKeyItselfDoesNot") },
  key_disabled: { short: t("access.keyDisabled"), sentence: t("access.theKeyIsDisabled") },
  key_expired: { short: t("access.keyExpired"), sentence: t("access.theKeyHasExpired") },
  key_revoked: { short: t("access.keyRevoked"), sentence: t("access.theKeyWasRevoked") },
  key_without_secret: { short: t("access.noSecret"), sentence: t("access.theKeyHasNoSecret") },
  no_deployment: { short: t("access.noDeployment"), sentence: t("access.accessIsGivenButNo") },
};

/** What decides, for a mark's look: the model's patterns, the state of the key or the workspace, or what serves it. */
export type ReasonKind = "yes" | "patterns" | "state" | "availability";

export function kindOf(reason: AccessReason): ReasonKind {
  if (reason === "yes") return "yes";
  if (reason === "no_deployment") return "availability";
  return reason.endsWith("_models") ? "patterns" : "state";
}
