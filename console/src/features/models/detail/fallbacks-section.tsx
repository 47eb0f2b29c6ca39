import { ActionIcon, Group, Select, Stack, Text } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconX } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
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

/** Other models, in order, for when none of its own deployments answers. */
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
    <Section title={t("models.fallbacks")} description={t("models.modelsThatAnswerInIts")}>
      <Stack gap="xs">
        {value.length > 0 && (
          <ol className="fallback-list">
            {value.map((name, place) => (
              <li key={name}>
                <Text size="sm" c="dimmed" className="tabular">
                  {place + 1}.
                </Text>
                <Link to="/models/$model" params={{ model: name }} search={{}} className="text-link break grow">
                  {name}
                </Link>
                {models.size > 0 && !models.has(name) && <span className="failed-share">{t("models.isGone")}</span>}
                <Group gap={2} wrap="nowrap">
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    className="bare-when-disabled"
                    disabled={disabled || place === 0}
                    aria-label={t("models.tryEarlier", { name })}
                    onClick={() => move(place, -1)}
                  >
                    <IconArrowUp size={15} />
                  </ActionIcon>
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    className="bare-when-disabled"
                    disabled={disabled || place === value.length - 1}
                    aria-label={t("models.tryLater", { name })}
                    onClick={() => move(place, 1)}
                  >
                    <IconArrowDown size={15} />
                  </ActionIcon>
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    className="bare-when-disabled"
                    disabled={disabled}
                    aria-label={t("models.removeFromTheFallbacks", { name })}
                    onClick={() => onChange(value.filter((each) => each !== name))}
                  >
                    <IconX size={15} />
                  </ActionIcon>
                </Group>
              </li>
            ))}
          </ol>
        )}
        {value.length === 0 && disabled && (
          <Text size="sm" c="dimmed">
            {t("models.none")}
          </Text>
        )}
        {!disabled && value.length < fallbacksMax && (
          <Select
            aria-label={t("models.addAFallback")}
            placeholder={choices.length === 0 ? t("models.noOtherModelOfThis") : t("models.addAModelOfThe")}
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
