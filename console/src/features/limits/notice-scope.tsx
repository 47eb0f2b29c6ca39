import type { Notice } from "@sluice/contract";
import { useCall } from "../../api/use-call.ts";
import { t } from "../../language/areas/limits.ts";

interface NoticeScopeProps {
  readonly workspace: string;
  readonly notice: Notice;
}

/** Whose budget a notice watches, by name. */
export function NoticeScope({ workspace, notice: { scope, scope_id: id } }: NoticeScopeProps) {
  const params = { workspace };
  const groups = useCall("groups.list", { params, enabled: scope === "group" });
  const key = useCall("keys.show", { params: { ...params, key: id ?? "-" }, enabled: scope === "key" && id !== null });
  if (scope === null) return <>{t("limits.everyBudgetHere")}</>;
  if (scope === "workspace") return <>{t("limits.theWorkspace")}</>;
  if (scope === "group") {
    const name = id === null ? null : (groups.data?.data.find((group) => group.id === id)?.name ?? id);
    return <span className="break">{name === null ? t("limits.everyGroup") : t("limits.group2", { name })}</span>;
  }
  return <span className="break">{id === null ? t("limits.everyKey") : `key ${key.data?.name ?? id}`}</span>;
}
