import { SimpleGrid, Stack, Text } from "@mantine/core";
import { type ModelTypeName, type PriceConfig, type PriceMember, usageTable } from "@sluice/contract";
import { t } from "../language/areas/prices.ts";
import { PriceInput } from "./price-input.tsx";
import { PriceLongContext } from "./price-long-context.tsx";
import { PriceVariants } from "./price-variants.tsx";

interface PriceFormProps {
  readonly value: PriceConfig;
  readonly onChange: (price: PriceConfig) => void;
  /** Decides which fields come first; a field with a price is always shown. */
  readonly type: ModelTypeName;
  readonly disabled?: boolean;
  /** Only the main fields of the type. */
  readonly short?: boolean;
}

/** Input and output first, next to each other. */
const fields = usageTable
  .flatMap(({ name, price, by, unit, types }) =>
    price === null
      ? []
      : [{ name: price, label: t(`prices.usage.${name}`), unit: t(`prices.units.${unit}`, { by }), types }],
  )
  .toSorted((one, other) => Number(isMain(other.name)) - Number(isMain(one.name)));

function isMain(name: PriceMember): boolean {
  return name === "input" || name === "output";
}

const mainFields = 2;

/** The price of a model in US dollars. Usage of an empty field is not charged separately. */
export function PriceForm({ value, onChange, type, disabled = false, short = false }: PriceFormProps) {
  const ofType = fields.filter((field) => field.types.includes(type) || value[field.name] !== undefined);
  const shown = short ? ofType.slice(0, mainFields) : ofType;
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 1, xs: 2, md: short ? 2 : 4 }} spacing="sm">
        {shown.map(({ name, label, unit }) => (
          <PriceInput
            key={name}
            label={label}
            unit={unit}
            empty={t("prices.notPriced")}
            disabled={disabled}
            value={value[name]}
            onChange={(usd) => onChange(withPrice(value, name, usd))}
          />
        ))}
      </SimpleGrid>
      {!short && (type === "chat" || value.long_context !== undefined) && (
        <PriceLongContext
          value={value.long_context}
          disabled={disabled}
          onChange={(long_context) => {
            const { long_context: _, ...rest } = value;
            onChange(long_context === null ? rest : { ...rest, long_context });
          }}
        />
      )}
      {!short && type === "video" && (
        <PriceVariants
          value={value.variants ?? []}
          disabled={disabled}
          onChange={(variants) => {
            const { variants: _, ...rest } = value;
            onChange(variants.length === 0 ? rest : { ...rest, variants });
          }}
        />
      )}
      {!short && Object.keys(value).length === 0 && (
        <Text size="xs" c="dimmed">
          {t("prices.noneHelp")}
        </Text>
      )}
    </Stack>
  );
}

function withPrice(price: PriceConfig, name: PriceMember, usd: number | null): PriceConfig {
  const { [name]: _, ...rest } = price;
  return usd === null ? rest : { ...rest, [name]: usd };
}
