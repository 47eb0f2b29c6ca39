import { NumberInput, Select, SimpleGrid, TextInput } from "@mantine/core";
import type { ConsoleModel } from "@sluice/contract";
import type { Problem } from "../../../client/problem.ts";
import { wrongField } from "../../../components/form-drawer.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/models.ts";
import { modelTypes, typeWords } from "../../catalog/price-words.ts";
import type { ServingDraft } from "./serving-draft.ts";

interface AboutSectionProps {
  readonly model: ConsoleModel;
  readonly draft: ServingDraft;
  readonly onChange: (part: Partial<ServingDraft>) => void;
  readonly problem: Problem | null;
  readonly disabled: boolean;
}

/** What callers are told of a model, and what is held for their calls. */
export function AboutSection({ model, draft, onChange, problem, disabled }: AboutSectionProps) {
  return (
    <Section title={t("models.about")}>
      <SimpleGrid cols={{ base: 1, sm: 2 }} maw="40rem">
        <Select
          label={t("models.type")}
          description={
            draft.type === model.type ? t("models.saysWhichCallsItAnswers") : t("models.callsOfTheOtherType")
          }
          data={modelTypes.map((value) => ({ value, label: typeWords[value] }))}
          allowDeselect={false}
          disabled={disabled}
          value={draft.type}
          onChange={(value) => onChange({ type: modelTypes.find((each) => each === value) ?? draft.type })}
          error={wrongField(problem, "type")}
        />
        <TextInput
          label={t("models.madeBy")}
          description={t("models.shownInListsOfModels")}
          maxLength={256}
          disabled={disabled}
          value={draft.ownedBy}
          onChange={(event) => onChange({ ownedBy: event.currentTarget.value })}
          error={wrongField(problem, "owned_by")}
        />
        {draft.type !== "video" && draft.type !== "embedding" && (
          <NumberInput
            label={t("models.mostOutputTokens")}
            description={t("models.heldAgainstBudgetsWhileA")}
            placeholder="8,192"
            min={1}
            max={100_000_000}
            allowDecimal={false}
            thousandSeparator=","
            hideControls
            disabled={disabled}
            value={draft.outputMax ?? ""}
            onChange={(value) => onChange({ outputMax: typeof value === "number" && value >= 1 ? value : null })}
            error={wrongField(problem, "max_output_tokens")}
          />
        )}
      </SimpleGrid>
    </Section>
  );
}
