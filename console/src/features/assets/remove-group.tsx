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
    done: t("assets.groupRemoved"),
    onDone: onRemoved,
  });
  return (
    <ConfirmButton
      title={t("assets.remove", { name: group.name })}
      verb={t("assets.removeGroup")}
      typed={group.name}
      onConfirm={() => remove.mutateAsync({ params: { workspace: slug, group: group.id } })}
    >
      {t("assets.everythingInItGoesWith")}
    </ConfirmButton>
  );
}
