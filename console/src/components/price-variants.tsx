import { ActionIcon, Button, Fieldset, Group, Select, Stack, TextInput } from "@mantine/core";
import type { PriceConfig } from "@sluice/contract";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { t } from "../language/areas/prices.ts";
import { NumberField } from "./number-field.tsx";

type Variant = NonNullable<PriceConfig["variants"]>[number];

interface PriceVariantsProps {
  readonly value: readonly Variant[];
  readonly onChange: (variants: Variant[]) => void;
  readonly disabled: boolean;
}

const variantsMax = 64;

/** Price variants: for videos by resolution and sound, for answers by service tier, region and speed. */
export function PriceVariants({ value, onChange, disabled }: PriceVariantsProps) {
  const change = (place: number, variant: Variant) =>
    onChange(value.map((each, index) => (index === place ? variant : each)));
  return (
    <Fieldset legend={t("prices.variants.title")}>
      <Stack gap="xs">
        {value.map((variant, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a variant has no name or id.
          <Group key={place} gap="xs" align="flex-end" wrap="wrap">
            <TextInput
              label={t("prices.variants.resolution")}
              placeholder={t("prices.variants.any")}
              w={90}
              disabled={disabled}
              value={variant.resolution ?? ""}
              onChange={(event) => change(place, set(variant, "resolution", event.currentTarget.value || null))}
            />
            <Select
              label={t("prices.variants.audio")}
              w={140}
              data={[
                { value: "any", label: t("prices.variants.any") },
                { value: "true", label: t("prices.variants.withAudio") },
                { value: "false", label: t("prices.variants.withoutAudio") },
              ]}
              allowDeselect={false}
              disabled={disabled}
              value={variant.audio === undefined ? "any" : String(variant.audio)}
              onChange={(next) =>
                change(place, set(variant, "audio", next === "any" || next === null ? null : next === "true"))
              }
            />
            {(["tier", "geo", "speed"] as const).map((axis) => (
              <TextInput
                key={axis}
                label={t(`prices.variants.${axis}`)}
                placeholder={t("prices.variants.any")}
                w={110}
                disabled={disabled}
                value={variant[axis] ?? ""}
                onChange={(event) => change(place, set(variant, axis, event.currentTarget.value || null))}
              />
            ))}
            <NumberField
              label={t("prices.variants.multiplier")}
              placeholder="–"
              suffix=" ×"
              w={110}
              min={0}
              max={100}
              decimalScale={3}
              allowNegative={false}
              hideControls
              disabled={disabled}
              value={variant.multiplier ?? null}
              onChange={(multiplier) => change(place, set(variant, "multiplier", multiplier))}
            />
            <Usd
              label={t("prices.variants.perSecond")}
              value={variant.video}
              disabled={disabled}
              onChange={(usd) => change(place, set(variant, "video", usd))}
            />
            <Usd
              label={t("prices.variants.input")}
              value={variant.input}
              disabled={disabled}
              onChange={(usd) => change(place, set(variant, "input", usd))}
            />
            <Usd
              label={t("prices.variants.output")}
              value={variant.output}
              disabled={disabled}
              onChange={(usd) => change(place, set(variant, "output", usd))}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              size="lg"
              disabled={disabled}
              aria-label={t("prices.variants.remove", { place: place + 1 })}
              onClick={() => onChange(value.filter((_, index) => index !== place))}
            >
              <IconTrash size={16} />
            </ActionIcon>
          </Group>
        ))}
        <Button
          variant="default"
          leftSection={<IconPlus size={14} />}
          disabled={disabled || value.length >= variantsMax}
          onClick={() => onChange([...value, {}])}
          className="fit"
        >
          {t("prices.variants.add")}
        </Button>
      </Stack>
    </Fieldset>
  );
}

interface UsdProps {
  readonly label: string;
  readonly value: number | undefined;
  readonly disabled: boolean;
  readonly onChange: (usd: number | null) => void;
}

function Usd({ label, value, disabled, onChange }: UsdProps) {
  return (
    <NumberField
      label={label}
      placeholder="–"
      prefix="$"
      w={130}
      min={0}
      decimalScale={9}
      allowNegative={false}
      hideControls
      disabled={disabled}
      value={value ?? null}
      onChange={onChange}
    />
  );
}

function set<Name extends keyof Variant>(variant: Variant, name: Name, value: Variant[Name] | null): Variant {
  const { [name]: _, ...rest } = variant;
  return value === null ? rest : { ...rest, [name]: value };
}
