import type { ConsoleKey } from "@sluice/contract";
import { t } from "../../language/areas/overview.ts";
import type { Step } from "../first-run/steps.ts";

/**
 * Steps from an invitation to the first response. `keys`: the user's keys; `member`: the user may create keys; `workspace`: a slug, or
 * null if several are selected.
 */
export function memberSteps(
  keys: readonly Pick<ConsoleKey, "last_used_at" | "state">[],
  member: boolean,
  workspace: string | null,
): readonly Step[] {
  const place = workspace === null ? {} : { workspace };
  return [
    {
      id: "key",
      done: keys.some((key) => key.state !== "revoked"),
      skipped: false,
      title: t("overview.steps.ownKey"),
      why: t("overview.steps.ownKeyWhy"),
      action: member
        ? { label: t("overview.steps.createKey"), link: { to: "/keys", search: { ...place, create: "1" } } }
        : null,
    },
    {
      id: "call",
      done: keys.some((key) => key.last_used_at !== null),
      skipped: false,
      title: t("overview.steps.ownCall"),
      why: t("overview.steps.ownCallWhy"),
      action: member ? { label: t("overview.steps.playground"), link: { to: "/playground", search: place } } : null,
    },
  ];
}
