import type { AccessReason } from "@sluice/contract";
import { t } from "../../language/areas/access.ts";

/** The look of a matrix cell: a sign and a tone, distinguishable without color. */
export type Mark = "yes" | "workspace" | "group" | "key" | "out" | "unserved";

export function markOf(reason: AccessReason): Mark {
  switch (reason) {
    case "yes":
      return "yes";
    case "workspace_models":
      return "workspace";
    case "group_models":
      return "group";
    case "key_models":
      return "key";
    case "no_deployment":
    case "model_not_priced":
      return "unserved";
    default:
      return "out";
  }
}

export const markWords: Readonly<Record<Mark, string>> = {
  yes: t("access.mark.yes"),
  workspace: t("access.mark.workspace"),
  group: t("access.mark.group"),
  key: t("access.mark.key"),
  out: t("access.mark.out"),
  unserved: t("access.mark.unserved"),
};
