import { ActionIcon, Group, Select, Stack, Text } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconX } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/models.ts";
import type { ModelType } from "../../catalog/price-words.ts";
import { useModels } from "../../catalog/use-models.ts";

interface FallbacksSectionProps {
  readonly model: string;
  readonly type: ModelType;
  readonly value: readonly string[];
  readonly onChange: (value: readonly string[]) => void;
  readonly disabled: boolean;
}

const fallbacksMax = 10;

/** Other models, in order, to use when all deployments fail. */
export function FallbacksSection({ model, type, value, onChange, disabled }: FallbacksSectionProps) {
  const models = useModels();
  const choices = [...models.values()]
    .filter((each) => each.type === type && each.name !== model && !value.includes(each.name))
    .map((each) => each.name);
  const move = (place: number, by: -1 | 1) => {
    const next = [...value];
    const [name] = next.splice(place, 1);
    if (name !== undefined) next.splice(place + by, 0, name);
    onChange(next);
  };
  return (
    <Section title={t("models.fallbacks.title")} description={t("models.fallbacks.help")}>
      <Stack gap="xs">
        {value.length > 0 && (
          <ol className="fallback-list">
            {value.map((name, place) => (
              <FallbackRow
                key={name}
                name={name}
                place={place}
                isLast={place === value.length - 1}
                isGone={models.size > 0 && !models.has(name)}
                disabled={disabled}
                onMove={(by) => move(place, by)}
                onRemove={() => onChange(value.filter((each) => each !== name))}
              />
            ))}
          </ol>
        )}
        {value.length === 0 && disabled && (
          <Text size="sm" c="dimmed">
            {t("models.fallbacks.none")}
          </Text>
        )}
        {!disabled && value.length < fallbacksMax && (
          <Select
            aria-label={t("models.fallbacks.add")}
            placeholder={choices.length === 0 ? t("models.fallbacks.noChoice") : t("models.fallbacks.choose")}
            data={choices}
            limit={100}
            searchable
            disabled={choices.length === 0}
            maw="22rem"
            value={null}
            onChange={(name) => name !== null && onChange([...value, name])}
          />
        )}
      </Stack>
    </Section>
  );
}

interface FallbackRowProps {
  readonly name: string;
  readonly place: number;
  readonly isLast: boolean;
  readonly isGone: boolean;
  readonly disabled: boolean;
  readonly onMove: (by: -1 | 1) => void;
  readonly onRemove: () => void;
}

function FallbackRow({ name, place, isLast, isGone, disabled, onMove, onRemove }: FallbackRowProps) {
  return (
    <li>
      <Text size="sm" c="dimmed" className="tabular">
        {place + 1}.
      </Text>
      <Link to="/models/$model" params={{ model: name }} search={{}} className="text-link break grow">
        {name}
      </Link>
      {isGone && <span className="failed-share">{t("models.fallbacks.gone")}</span>}
      <Group gap={2} wrap="nowrap">
        <RowButton label={t("models.earlier", { name })} disabled={disabled || place === 0} onClick={() => onMove(-1)}>
          <IconArrowUp size={15} />
        </RowButton>
        <RowButton label={t("models.later", { name })} disabled={disabled || isLast} onClick={() => onMove(1)}>
          <IconArrowDown size={15} />
        </RowButton>
        <RowButton label={t("models.fallbacks.remove", { name })} disabled={disabled} onClick={onRemove}>
          <IconX size={15} />
        </RowButton>
      </Group>
    </li>
  );
}

interface RowButtonProps {
  readonly label: string;
  readonly disabled: boolean;
  readonly onClick: () => void;
  readonly children: ReactNode;
}

function RowButton({ label, disabled, onClick, children }: RowButtonProps) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      className="bare-when-disabled"
      disabled={disabled}
      aria-label={label}
      onClick={onClick}
    >
      {children}
    </ActionIcon>
  );
}
