import { ActionIcon, Button, Menu } from "@mantine/core";
import type { ConsoleKey } from "@sluice/contract";
import { IconDots } from "@tabler/icons-react";
import { useAct } from "../../../api/use-act.ts";
import { ConfirmDialog } from "../../../components/confirm-button.tsx";
import { noticeDone, noticeUndo } from "../../../components/notice.tsx";
import { t } from "../../../language/areas/keys.ts";
import { useUrlText } from "../../../routes/search.ts";
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

/**
 * Actions on a key. Disable and revoke are in a menu. Actions that are not allowed are disabled, and the page explains why. `?do=revoke`
 * and `?do=rotate` open the dialogs.
 */
export function KeyActions({ item, lock, onEdit, onRotated }: KeyActionsProps) {
  const [dialog, setDialog] = useUrlText("do");
  const params = { workspace: item.workspace.slug, key: item.id };
  const revoke = useAct("keys.revoke", { invalidates: afterKeyChange, done: t("keys.revoke.done") });
  if (item.state === "revoked") return null;
  return (
    <>
      {lock === null && (
        <Menu>
          <Menu.Target>
            <ActionIcon variant="default" size="md" aria-label={t("keys.more")}>
              <IconDots size={16} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <EnableItem item={item} />
            <Menu.Item color="red" onClick={() => setDialog("revoke")}>
              {t("keys.revoke.verb")}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
      <Button variant="default" disabled={lock !== null} onClick={() => setDialog("rotate")}>
        {t("keys.rotate.open")}
      </Button>
      <Button variant={lock === null ? "filled" : "default"} onClick={onEdit}>
        {lock === null ? t("keys.edit.open") : t("keys.edit.view")}
      </Button>
      <ConfirmDialog
        opened={dialog === "revoke" && lock === null}
        onClose={() => setDialog("")}
        title={t("keys.revoke.title", { name: item.name })}
        verb={t("keys.revoke.verb")}
        typed={item.name}
        onConfirm={() => revoke.mutateAsync({ params })}
      >
        {t("keys.revoke.help")}
      </ConfirmDialog>
      <RotateDialog
        item={item}
        opened={dialog === "rotate" && lock === null}
        onClose={() => setDialog("")}
        onRotated={onRotated}
      />
    </>
  );
}

function EnableItem({ item }: { readonly item: ConsoleKey }) {
  const update = useAct("keys.update", { invalidates: afterKeyChange });
  const params = { workspace: item.workspace.slug, key: item.id };
  const turn = async (enabled: boolean, undo: boolean) => {
    await update.mutateAsync({ params, body: { enabled } });
    const words = enabled ? t("keys.enable.done") : t("keys.disable.done");
    if (undo) noticeUndo(words, () => void turn(!enabled, false).catch(() => undefined));
    else noticeDone(words);
  };
  return (
    // The caller shows errors in a notice.
    <Menu.Item onClick={() => void turn(!item.enabled, true).catch(() => undefined)}>
      {item.enabled ? t("keys.disable.verb") : t("keys.enable.verb")}
    </Menu.Item>
  );
}
