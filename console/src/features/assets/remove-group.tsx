import { useAct } from "../../api/use-act.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { t } from "../../language/areas/assets.ts";
import type { AssetGroup } from "./asset-group.ts";

interface RemoveGroupProps {
  readonly slug: string;
  readonly group: AssetGroup;
  readonly onRemoved: () => void;
}

export function RemoveGroup({ slug, group, onRemoved }: RemoveGroupProps) {
  const remove = useAct("assetGroups.remove", {
    invalidates: ["assetGroups.list", "assets.list"],
    done: t("assets.groups.removed"),
    onDone: onRemoved,
  });
  return (
    <ConfirmButton
      title={t("assets.groups.remove", { name: group.name })}
      verb={t("assets.groups.removeRun")}
      typed={group.name}
      onConfirm={() => remove.mutateAsync({ params: { workspace: slug, group: group.id } })}
    >
      {t("assets.groups.removeHelp")}
    </ConfirmButton>
  );
}
