import { Button, Fieldset, Group, SimpleGrid, Stack } from "@mantine/core";
import { type LongContextMember, longContextRows, type PriceConfig } from "@sluice/contract";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { t } from "../language/areas/prices.ts";
import { NumberField } from "./number-field.tsx";
import { PriceInput } from "./price-input.tsx";

type LongContext = NonNullable<PriceConfig["long_context"]>;
interface PriceLongContextProps {
  readonly value: LongContext | undefined;
  readonly onChange: (value: LongContext | null) => void;
  readonly disabled: boolean;
}

const fields = longContextRows.map(({ name, price }) => ({ name: price, label: t(`prices.usage.${name}`) }));
const usualThreshold = 200_000;
/** The field is empty, which the gateway does not accept as a number of tokens. */
const defaultAbove = 0;

/** Prices of requests with an input above a number of tokens. They apply to the whole request, as vendors charge it. */
export function PriceLongContext({ value, onChange, disabled }: PriceLongContextProps) {
  if (value === undefined) {
    return (
      <Button
        variant="default"
        leftSection={<IconPlus size={14} />}
        disabled={disabled}
        className="fit"
        onClick={() => onChange({ above: usualThreshold })}
      >
        {t("prices.longContext.add")}
      </Button>
    );
  }
  return (
    <Fieldset legend={t("prices.longContext.title")}>
      <Stack gap="sm">
        <NumberField
          label={t("prices.longContext.above")}
          description={t("prices.longContext.aboveHelp")}
          min={1}
          max={1_000_000_000}
          allowDecimal={false}
          thousandSeparator
          disabled={disabled}
          allowNegative={false}
          value={value.above === defaultAbove ? null : value.above}
          onChange={(above) => onChange({ ...value, above: above ?? defaultAbove })}
        />
        <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="sm">
          {fields.map(({ name, label }) => (
            <PriceInput
              key={name}
              label={label}
              unit={t("prices.variants.perMillionTokens")}
              empty={t("prices.longContext.usual")}
              disabled={disabled}
              value={value[name]}
              onChange={(usd) => onChange(withPrice(value, name, usd))}
            />
          ))}
        </SimpleGrid>
        <Group>
          <Button
            variant="subtle"
            color="gray"
            leftSection={<IconTrash size={14} />}
            disabled={disabled}
            onClick={() => onChange(null)}
          >
            {t("prices.longContext.remove")}
          </Button>
        </Group>
      </Stack>
    </Fieldset>
  );
}

function withPrice(price: LongContext, name: LongContextMember, usd: number | null): LongContext {
  const { [name]: _, ...rest } = price;
  return usd === null ? rest : { ...rest, [name]: usd };
}
