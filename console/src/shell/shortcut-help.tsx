import { Kbd, Modal, Table } from "@mantine/core";
import { useWorkspace } from "../session/workspace.ts";
import { visibleGroups } from "./page-list.ts";
import { commandKey } from "./use-shortcuts.ts";

export default function ShortcutHelp({ onClose }: { readonly onClose: () => void }) {
  const { may } = useWorkspace();
  const general: readonly (readonly [readonly string[], string])[] = [
    [[commandKey(), "K"], "Find a page, key, model or request"],
    [["/"], "Go to the search of the page"],
    [["↑", "↓"], "Go from row to row in a list, Enter opens"],
    [["Esc"], "Close what is open"],
    [["?"], "Show this"],
  ];
  const jumps = visibleGroups(may)
    .flatMap((group) => group.pages)
    .map((page) => [["g", page.letter], `Go to ${page.label}`] as const);
  return (
    <Modal opened onClose={onClose} title="Keyboard shortcuts" size="md">
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
