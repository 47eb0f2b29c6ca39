import { NumberInput, Select, SimpleGrid, TextInput } from "@mantine/core";
import type { ConsoleModel } from "@sluice/contract";
import type { Problem } from "../../../client/problem.ts";
import { wrongField } from "../../../components/form-drawer.tsx";
import { Section } from "../../../components/section.tsx";
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
    <Section title="About">
      <SimpleGrid cols={{ base: 1, sm: 2 }} maw="40rem">
        <Select
          label="Type"
          description={
            draft.type === model.type
              ? "Says which calls it answers and how it is priced."
              : "Calls of the other type will be refused from then on."
          }
          data={modelTypes.map((value) => ({ value, label: typeWords[value] }))}
          allowDeselect={false}
          disabled={disabled}
          value={draft.type}
          onChange={(value) => onChange({ type: modelTypes.find((each) => each === value) ?? draft.type })}
          error={wrongField(problem, "type")}
        />
        <TextInput
          label="Made by"
          description="Shown in lists of models, as owned_by."
          maxLength={256}
          disabled={disabled}
          value={draft.ownedBy}
          onChange={(event) => onChange({ ownedBy: event.currentTarget.value })}
          error={wrongField(problem, "owned_by")}
        />
        {draft.type !== "video" && draft.type !== "embedding" && (
          <NumberInput
            label="Most output tokens"
            description="Held against budgets while a call without max_tokens runs. Empty: 8,192."
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
