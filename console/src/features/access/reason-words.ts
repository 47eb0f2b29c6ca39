import type { AccessReason } from "@sluice/contract";
import { t } from "../../language/areas/access.ts";

/** Why a key may or may not call a model, in a sentence. */
export const reasonWords: Readonly<Record<AccessReason, string>> = {
  yes: t("access.reason.yes"),
  workspace_disabled: t("access.reason.workspaceDisabled"),
  workspace_models: t("access.reason.workspaceModels"),
  group_models: t("access.reason.groupModels"),
  key_models: t("access.reason.keyModels"),
  key_disabled: t("access.reason.keyDisabled"),
  key_expired: t("access.reason.keyExpired"),
  key_revoked: t("access.reason.keyRevoked"),
  key_without_secret: t("access.reason.noSecret"),
  model_not_priced: t("access.reason.notPriced"),
  no_deployment: t("access.reason.noDeployment"),
};

/** The same for a mark: `Yes`, `No: group`. */
export function shortReason(reason: AccessReason): string {
  return reason === "yes" ? t("access.yes") : t("access.denied", { reason });
}

/** The cause of a refusal, which selects the mark: model patterns, the state of the key or workspace, or the deployments. */
export type ReasonKind = "yes" | "patterns" | "state" | "availability";

export function kindOf(reason: AccessReason): ReasonKind {
  if (reason === "yes") return "yes";
  if (reason === "no_deployment" || reason === "model_not_priced") return "availability";
  return reason.endsWith("_models") ? "patterns" : "state";
}
