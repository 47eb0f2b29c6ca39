import { SimpleGrid, Stack, Text } from "@mantine/core";
import type { PriceConfig } from "@sluice/contract";
import { PriceInput } from "./price-input.tsx";
import { PriceLongContext } from "./price-long-context.tsx";
import { PriceVariants } from "./price-variants.tsx";

type ModelType = "chat" | "image" | "video" | "embedding";
type PriceName = Exclude<keyof PriceConfig, "variants" | "long_context">;

interface PriceFormProps {
  readonly value: PriceConfig;
  readonly onChange: (price: PriceConfig) => void;
  /** Decides which fields stand first; one that has a price is always shown. */
  readonly type: ModelType;
  readonly disabled?: boolean;
}

interface PriceField {
  readonly name: PriceName;
  readonly label: string;
  readonly unit: string;
  readonly types: readonly ModelType[];
}

const perMillion = "per million tokens";
const perThousand = "per thousand";
const fields: readonly PriceField[] = [
  { name: "input", label: "Input", unit: perMillion, types: ["chat", "embedding", "image"] },
  { name: "output", label: "Output", unit: perMillion, types: ["chat", "image", "video"] },
  { name: "cache_read", label: "Cached input", unit: perMillion, types: ["chat"] },
  { name: "cache_write_5m", label: "Cache write, 5 minutes", unit: perMillion, types: ["chat"] },
  { name: "cache_write_1h", label: "Cache write, 1 hour", unit: perMillion, types: ["chat"] },
  { name: "audio_input", label: "Audio input", unit: perMillion, types: ["chat"] },
  { name: "audio_output", label: "Audio output", unit: perMillion, types: ["chat"] },
  { name: "image_input", label: "Image input", unit: perMillion, types: ["image"] },
  { name: "image_output", label: "Image output", unit: perMillion, types: ["image"] },
  { name: "image", label: "Image", unit: "per image", types: ["image"] },
  { name: "video", label: "Video", unit: "per second", types: ["video"] },
  { name: "web_search", label: "Web search", unit: perThousand, types: ["chat"] },
  { name: "file_search", label: "File search", unit: perThousand, types: ["chat"] },
  { name: "code_session", label: "Code session", unit: perThousand, types: ["chat"] },
];

/** What a model costs, in US dollars. An empty field is not charged by its own price (see the units beside it). */
export function PriceForm({ value, onChange, type, disabled = false }: PriceFormProps) {
  const shown = fields.filter((field) => field.types.includes(type) || value[field.name] !== undefined);
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="sm">
        {shown.map(({ name, label, unit }) => (
          <PriceInput
            key={name}
            label={label}
            unit={unit}
            empty="not priced"
            disabled={disabled}
            value={value[name]}
            onChange={(usd) => onChange(withPrice(value, name, usd))}
          />
        ))}
      </SimpleGrid>
      {(type === "chat" || value.long_context !== undefined) && (
        <PriceLongContext
          value={value.long_context}
          disabled={disabled}
          onChange={(long_context) => {
            const { long_context: _, ...rest } = value;
            onChange(long_context === null ? rest : { ...rest, long_context });
          }}
        />
      )}
      {type === "video" && (
        <PriceVariants
          value={value.variants ?? []}
          disabled={disabled}
          onChange={(variants) => {
            const { variants: _, ...rest } = value;
            onChange(variants.length === 0 ? rest : { ...rest, variants });
          }}
        />
      )}
      {Object.keys(value).length === 0 && (
        <Text size="xs" c="dimmed">
          Without a price, calls of this model cost nothing and no budget counts them.
        </Text>
      )}
    </Stack>
  );
}

function withPrice(price: PriceConfig, name: PriceName, usd: number | null): PriceConfig {
  const { [name]: _, ...rest } = price;
  return usd === null ? rest : { ...rest, [name]: usd };
}
