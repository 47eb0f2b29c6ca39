import { Button, Menu } from "@mantine/core";
import { IconColumns3 } from "@tabler/icons-react";
import { t } from "../language/areas/components.ts";

interface ColumnMenuProps {
  readonly columns: readonly { readonly id: string; readonly header: string; readonly shown: boolean }[];
  readonly onToggle: (id: string) => void;
  /** Resets the choice; null: the table shows its default columns. */
  readonly onReset: (() => void) | null;
}

/** Chooses which columns a table shows. */
export function ColumnMenu({ columns, onToggle, onReset }: ColumnMenuProps) {
  return (
    <Menu closeOnItemClick={false} position="bottom-end">
      <Menu.Target>
        <Button
          variant="subtle"
          color="gray"
          size="compact-xs"
          leftSection={<IconColumns3 size={14} aria-hidden />}
          aria-label={t("components.table.columnsHelp")}
        >
          {t("components.table.columns")}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {columns.map(({ id, header, shown }) => (
          <Menu.CheckboxItem key={id} checked={shown} onChange={() => onToggle(id)} closeMenuOnClick={false}>
            {header}
          </Menu.CheckboxItem>
        ))}
        {onReset !== null && (
          <>
            <Menu.Divider />
            <Menu.Item onClick={onReset}>{t("components.table.columnsReset")}</Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
