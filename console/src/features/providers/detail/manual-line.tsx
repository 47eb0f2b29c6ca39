import { ActionIcon, Group, Select, TextInput } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { t } from "../../../language/areas/providers.ts";
import { type ModelType, modelTypes } from "../../catalog/price-words.ts";
import type { Effect } from "./import-choice.ts";
import { typeChoices } from "./import-row.tsx";

export interface Line {
  readonly key: number;
  readonly upstreamModel: string;
  /** Empty: same as the upstream name. */
  readonly name: string;
  readonly type: ModelType;
}

interface ManualLineProps {
  readonly line: Line;
  /** From 1. */
  readonly place: number;
  readonly types: readonly ModelType[];
  /** undefined while the line is empty. */
  readonly effect: Effect | undefined;
  /** True after a submit with all lines empty. */
  readonly isMissing: boolean;
  readonly onChange: (part: Partial<Line>) => void;
  /** null: it is the only line. */
  readonly onRemove: (() => void) | null;
}

export function ManualLine({ line, place, types, effect, isMissing, onChange, onRemove }: ManualLineProps) {
  return (
    <Group gap="xs" align="flex-start" className="manual-line">
      <TextInput
        label={t("providers.upstreamModel")}
        placeholder={t("providers.manual.upstreamExample")}
        withAsterisk={place === 1}
        maxLength={256}
        autoComplete="off"
        spellCheck={false}
        className="manual-name"
        value={line.upstreamModel}
        onChange={(event) => onChange({ upstreamModel: event.currentTarget.value })}
        error={isMissing ? t("providers.manual.upstreamMissing") : undefined}
      />
      <TextInput
        label={t("providers.manual.name")}
        placeholder={line.upstreamModel.trim() || t("providers.manual.same")}
        maxLength={256}
        autoComplete="off"
        spellCheck={false}
        className="manual-name"
        value={line.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
        error={effect?.tone === "wrong" ? effect.words : undefined}
        description={effect === undefined || effect.tone === "wrong" ? undefined : effect.words}
        inputWrapperOrder={["label", "input", "description", "error"]}
      />
      <Select
        label={t("providers.type")}
        w={120}
        data={typeChoices.filter((choice) => types.includes(choice.value))}
        allowDeselect={false}
        value={line.type}
        onChange={(value) => onChange({ type: modelTypes.find((type) => type === value) ?? line.type })}
      />
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        mt={22}
        className="bare-when-disabled"
        disabled={onRemove === null}
        aria-label={t("providers.manual.remove", { place })}
        onClick={() => onRemove?.()}
      >
        <IconTrash size={16} />
      </ActionIcon>
    </Group>
  );
}
