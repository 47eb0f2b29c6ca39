import { ActionIcon, Button, Checkbox, Divider, Group, Popover, Stack } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconColumns3 } from "@tabler/icons-react";
import { t } from "../language/areas/components.ts";

interface ColumnMenuProps {
  /** Columns that can be hidden, the visible ones first and in their order. */
  readonly columns: readonly { readonly id: string; readonly header: string }[];
  readonly shown: readonly string[];
  readonly onChange: (shown: readonly string[]) => void;
  /** Resets the choice; null: the table shows its default columns. */
  readonly onReset: (() => void) | null;
}

/** Chooses which columns a table shows, and their order. */
export function ColumnMenu({ columns, shown, onChange, onReset }: ColumnMenuProps) {
  return (
    <Popover position="bottom-end" shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <Button
          variant="subtle"
          color="gray"
          size="compact-xs"
          leftSection={<IconColumns3 size={14} aria-hidden />}
          aria-label={t("components.table.columnsHelp")}
        >
          {t("components.table.columns")}
        </Button>
      </Popover.Target>
      <Popover.Dropdown className="column-menu">
        <Stack gap={2} component="ul" className="plain-list" aria-label={t("components.table.columns")}>
          {columns.map(({ id, header }) => (
            <Group key={id} component="li" justify="space-between" wrap="nowrap" gap="sm" mih={26}>
              <Checkbox
                size="xs"
                label={header}
                checked={shown.includes(id)}
                // One column stays, because an empty choice is the default.
                disabled={shown.length === 1 && shown.includes(id)}
                onChange={() => onChange(shown.includes(id) ? shown.filter((each) => each !== id) : [...shown, id])}
              />
              {shown.includes(id) && <MoveButtons id={id} header={header} shown={shown} onChange={onChange} />}
            </Group>
          ))}
        </Stack>
        {onReset !== null && (
          <>
            <Divider my="xs" />
            <Button variant="subtle" size="compact-xs" onClick={onReset}>
              {t("components.table.columnsReset")}
            </Button>
          </>
        )}
      </Popover.Dropdown>
    </Popover>
  );
}

interface MoveButtonsProps extends Pick<ColumnMenuProps, "shown" | "onChange"> {
  readonly id: string;
  readonly header: string;
}

function MoveButtons({ id, header, shown, onChange }: MoveButtonsProps) {
  const place = shown.indexOf(id);
  const moveTo = (next: number) => onChange(shown.filter((each) => each !== id).toSpliced(next, 0, id));
  const button = { size: 24, variant: "subtle", color: "gray" } as const;
  return (
    <Group gap={2} wrap="nowrap">
      <ActionIcon
        {...button}
        aria-label={t("components.table.moveUp", { column: header })}
        // Not disabled, so that the focus stays on it at the end of the list.
        aria-disabled={place === 0}
        onClick={() => place > 0 && moveTo(place - 1)}
      >
        <IconArrowUp size={13} aria-hidden />
      </ActionIcon>
      <ActionIcon
        {...button}
        aria-label={t("components.table.moveDown", { column: header })}
        aria-disabled={place === shown.length - 1}
        onClick={() => place < shown.length - 1 && moveTo(place + 1)}
      >
        <IconArrowDown size={13} aria-hidden />
      </ActionIcon>
    </Group>
  );
}
