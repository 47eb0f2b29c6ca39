import { NumberInput, Select, SimpleGrid, TextInput } from "@mantine/core";
import type { ConsoleModel } from "@sluice/contract";
import { formatCount } from "../../../client/format.ts";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/models.ts";
import { modelTypes, typeWords } from "../../catalog/price-words.ts";
import type { ServingDraft } from "./serving-draft.ts";

/** The gateway's defaults for unset values. */
const outputMaxDefault = 8_192;

interface AboutSectionProps {
  readonly model: ConsoleModel;
  readonly draft: ServingDraft;
  readonly onChange: (part: Partial<ServingDraft>) => void;
  readonly fault: (field: string) => string | null;
  readonly disabled: boolean;
}

/** The model's facts in model lists, and the output reserved for its requests. */
export function AboutSection({ model, draft, onChange, fault, disabled }: AboutSectionProps) {
  return (
    <Section
      title={t("models.about.title")}
      {...(model.context_window === null
        ? {}
        : { description: t("models.about.context", { tokens: formatCount(model.context_window) }) })}
    >
      <SimpleGrid cols={{ base: 1, sm: 2 }} maw="40rem">
        <Select
          label={t("models.type")}
          description={draft.type === model.type ? t("models.about.typeHelp") : t("models.about.typeChange")}
          data={modelTypes.map((value) => ({ value, label: typeWords[value] }))}
          allowDeselect={false}
          disabled={disabled}
          value={draft.type}
          onChange={(value) => onChange({ type: modelTypes.find((each) => each === value) ?? draft.type })}
          error={fault("type")}
        />
        <TextInput
          label={t("models.ownedBy")}
          description={t("models.about.ownedByHelp")}
          maxLength={256}
          disabled={disabled}
          value={draft.ownedBy}
          onChange={(event) => onChange({ ownedBy: event.currentTarget.value })}
          withAsterisk
          error={fault("owned_by")}
        />
        {draft.type !== "video" && draft.type !== "embedding" && (
          <NumberInput
            label={t("models.about.outputMax")}
            description={t("models.about.outputMaxHelp")}
            placeholder={formatCount(outputMaxDefault)}
            min={1}
            max={100_000_000}
            allowDecimal={false}
            thousandSeparator
            hideControls
            disabled={disabled}
            value={draft.outputMax ?? ""}
            onChange={(value) => onChange({ outputMax: typeof value === "number" && value >= 1 ? value : null })}
            error={fault("max_output_tokens")}
          />
        )}
        {draft.type !== "video" && (
          <NumberInput
            label={t("models.about.contextWindow")}
            description={t("models.about.contextWindowHelp")}
            {...(model.context_window_origin === "price_list" && model.context_window !== null
              ? { placeholder: formatCount(model.context_window) }
              : {})}
            min={1}
            max={1_000_000_000}
            allowDecimal={false}
            thousandSeparator
            hideControls
            disabled={disabled}
            value={draft.contextWindow ?? ""}
            onChange={(value) => onChange({ contextWindow: typeof value === "number" && value >= 1 ? value : null })}
            error={fault("context_window")}
          />
        )}
      </SimpleGrid>
    </Section>
  );
}
