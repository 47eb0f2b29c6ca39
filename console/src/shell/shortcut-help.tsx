import { Kbd, Table } from "@mantine/core";
import { Modal } from "../components/modal.tsx";
import { t } from "../language/areas/shell.ts";
import { useSession } from "../session/session-context.tsx";
import { useWorkspace } from "../session/workspace.ts";
import { visiblePages } from "./page-list.ts";
import { commandKey } from "./use-shortcuts.ts";

export default function ShortcutHelp({ onClose }: { readonly onClose: () => void }) {
  const { media } = useSession().answer;
  const { may } = useWorkspace();
  const general: readonly (readonly [readonly string[], string])[] = [
    [[commandKey(), "K"], t("shell.palette.short")],
    [["/"], t("shell.shortcuts.search")],
    [["↑", "↓"], t("shell.shortcuts.rows")],
    [["Esc"], t("shell.shortcuts.close")],
    [["?"], t("shell.shortcuts.help")],
  ];
  const jumps = visiblePages(may, media).map(
    (page) => [["g", page.shortcut], t("shell.shortcuts.goTo", { label: page.label })] as const,
  );
  return (
    <Modal opened onClose={onClose} title={t("shell.shortcuts.title")} size="md">
      <Table>
        <Table.Tbody>
          {[...general, ...jumps].map(([keys, words]) => (
            <Table.Tr key={words}>
              <Table.Td className="nowrap">
                {keys.map((key) => (
                  <Kbd key={key} mr={4}>
                    {key}
                  </Kbd>
                ))}
              </Table.Td>
              <Table.Td>{words}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
}
