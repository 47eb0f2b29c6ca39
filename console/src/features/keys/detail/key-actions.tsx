import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { ConsoleKey } from "@sluice/contract";
import { useAct } from "../../../api/use-act.ts";
import { ConfirmButton } from "../../../components/confirm-button.tsx";
import { noticeDone, noticeUndo } from "../../../components/notice.tsx";
import { t } from "../../../language/areas/keys.ts";
import type { CreatedKey } from "../key-created.tsx";
import { afterKeyChange } from "../key-routes.ts";
import { RotateDialog } from "./rotate-dialog.tsx";

interface KeyActionsProps {
  readonly item: ConsoleKey;
  /** Why the user may not change the key; null if they may. */
  readonly lock: string | null;
  readonly onEdit: () => void;
  readonly onRotated: (made: CreatedKey) => void;
}

/** Actions on a key. Actions that are not allowed are disabled, and the page explains why. */
export function KeyActions({ item, lock, onEdit, onRotated }: KeyActionsProps) {
  const [rotating, rotate] = useDisclosure(false);
  const params = { workspace: item.workspace.slug, key: item.id };
  const revoke = useAct("keys.revoke", { invalidates: afterKeyChange, done: t("keys.revoke.done") });
  if (item.state === "revoked") return null;
  return (
    <>
      <ConfirmButton
        title={t("keys.revoke.title", { name: item.name })}
        verb={t("keys.revoke.verb")}
        typed={item.name}
        color="red"
        variant="light"
        disabled={lock !== null}
        onConfirm={() => revoke.mutateAsync({ params })}
      >
        {t("keys.revoke.help")}
      </ConfirmButton>
      <EnableButton item={item} disabled={lock !== null} />
      <Button variant="default" disabled={lock !== null} onClick={rotate.open}>
        {t("keys.rotate.open")}
      </Button>
      <Button variant={lock === null ? "filled" : "default"} onClick={onEdit}>
        {lock === null ? t("keys.edit.open") : t("keys.edit.view")}
      </Button>
      <RotateDialog item={item} opened={rotating} onClose={rotate.close} onRotated={onRotated} />
    </>
  );
}

function EnableButton({ item, disabled }: { readonly item: ConsoleKey; readonly disabled: boolean }) {
  const update = useAct("keys.update", { invalidates: afterKeyChange });
  const params = { workspace: item.workspace.slug, key: item.id };
  const turn = async (enabled: boolean, undo: boolean) => {
    await update.mutateAsync({ params, body: { enabled } });
    const words = enabled ? t("keys.enable.done") : t("keys.disable.done");
    if (undo) noticeUndo(words, () => void turn(!enabled, false).catch(() => undefined));
    else noticeDone(words);
  };
  return (
    <Button
      variant="default"
      disabled={disabled}
      loading={update.isPending}
      // The caller shows errors in a notice.
      onClick={() => void turn(!item.enabled, true).catch(() => undefined)}
    >
      {item.enabled ? t("keys.disable.verb") : t("keys.enable.verb")}
    </Button>
  );
}
