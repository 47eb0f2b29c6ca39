import { useAct } from "../../api/use-act.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import type { AssetGroup } from "./asset-group.ts";

interface RemoveGroupProps {
  readonly slug: string;
  readonly group: AssetGroup;
  readonly onRemoved: () => void;
}

export function RemoveGroup({ slug, group, onRemoved }: RemoveGroupProps) {
  const remove = useAct("assetGroups.remove", {
    invalidates: ["assetGroups.list", "assets.list"],
    done: "Group removed.",
    onDone: onRemoved,
  });
  return (
    <ConfirmButton
      title={`Remove ${group.name}?`}
      verb="Remove group"
      typed={group.name}
      onConfirm={() => remove.mutateAsync({ params: { workspace: slug, group: group.id } })}
    >
      Everything in it goes with it, here and in the library where it lives. Requests that refer to it are refused from
      then on. This cannot be taken back.
    </ConfirmButton>
  );
}
