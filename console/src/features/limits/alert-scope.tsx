import type { Notice } from "@sluice/contract";
import { useCall } from "../../api/use-call.ts";
import { t } from "../../language/areas/limits.ts";

interface AlertScopeProps {
  readonly workspace: string;
  readonly alert: Notice;
}

/** The name of the scope that an alert watches. */
export function AlertScope({ workspace, alert: { scope, scope_id: id } }: AlertScopeProps) {
  const params = { workspace };
  const groups = useCall("groups.list", { params, enabled: scope === "group" });
  const key = useCall("keys.show", { params: { ...params, key: id ?? "-" }, enabled: scope === "key" && id !== null });
  const members = useCall("members.list", { params, enabled: scope === "person" && id !== null });
  if (scope === null) return <>{t("limits.watched.all")}</>;
  if (scope === "workspace") return <>{t("limits.watched.workspace")}</>;
  if (scope === "group") {
    const name = id === null ? null : (groups.data?.data.find((group) => group.id === id)?.name ?? id);
    return (
      <span className="break">{name === null ? t("limits.watched.groups") : t("limits.watched.group", { name })}</span>
    );
  }
  if (scope === "person") {
    const name = id === null ? null : (members.data?.data.find((member) => member.id === id)?.email ?? id);
    return (
      <span className="break">
        {name === null ? t("limits.watched.persons") : t("limits.watched.person", { name })}
      </span>
    );
  }
  return (
    <span className="break">
      {id === null ? t("limits.watched.keys") : t("limits.watched.key", { name: key.data?.name ?? id })}
    </span>
  );
}
