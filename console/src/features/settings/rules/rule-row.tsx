import { ActionIcon, Group, Paper, Text } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconPencil, IconTrash } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { t } from "../../../language/areas/rules.ts";
import { conditionWords, grantWords, type RuleDraft } from "./rule-draft.ts";
import { RuleFields } from "./rule-fields.tsx";

interface RuleRowProps {
  readonly draft: RuleDraft;
  /** From 0. */
  readonly index: number;
  readonly last: boolean;
  readonly locked: boolean;
  readonly opened: boolean;
  readonly fault: (field: string) => string | null;
  readonly onToggle: () => void;
  readonly onChange: (changes: Partial<RuleDraft>) => void;
  readonly onMove: (by: -1 | 1) => void;
  readonly onRemove: () => void;
}

/** A rule in one sentence; its fields when it is opened. */
export function RuleRow(props: RuleRowProps) {
  const { draft, index, last, locked, opened, fault, onToggle, onChange, onMove, onRemove } = props;
  const number = index + 1;
  const at = `rules.${index}`;
  const wrong = fault(at);
  return (
    <Paper component="li" withBorder p="xs">
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <Text fz="sm" c="dimmed" w={24} ta="right">
          {number}
        </Text>
        <div className="grow">
          {draft.name !== "" && (
            <Text fz="sm" fw={600} className="break">
              {draft.name}
            </Text>
          )}
          <Text fz="sm" className="break">
            {conditionWords(draft)}
          </Text>
          <Text fz="sm" c="dimmed" className="break">
            → {grantWords(draft)}
          </Text>
          {wrong !== null && !opened && (
            <Text fz="xs" c="red">
              {wrong}
            </Text>
          )}
        </div>
        {!locked && (
          <Group gap={2} wrap="nowrap">
            <Act label={t("rules.up", { number })} disabled={index === 0} onClick={() => onMove(-1)}>
              <IconArrowUp size={15} />
            </Act>
            <Act label={t("rules.down", { number })} disabled={last} onClick={() => onMove(1)}>
              <IconArrowDown size={15} />
            </Act>
            <Act label={t("rules.editRule", { number })} expanded={opened} onClick={onToggle}>
              <IconPencil size={15} />
            </Act>
            <Act label={t("rules.remove", { number })} onClick={onRemove}>
              <IconTrash size={15} />
            </Act>
          </Group>
        )}
      </Group>
      {opened && !locked && <RuleFields draft={draft} at={at} fault={fault} onChange={onChange} />}
    </Paper>
  );
}

interface ActProps {
  readonly label: string;
  readonly disabled?: boolean;
  readonly expanded?: boolean;
  readonly onClick: () => void;
  readonly children: ReactNode;
}

function Act({ label, disabled = false, expanded, onClick, children }: ActProps) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={label}
      title={label}
      disabled={disabled}
      {...(expanded === undefined ? {} : { "aria-expanded": expanded })}
      onClick={onClick}
    >
      {children}
    </ActionIcon>
  );
}
