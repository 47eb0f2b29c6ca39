import { Select, Stack } from "@mantine/core";
import { guardrailChecks } from "@sluice/contract/words";
import { useState } from "react";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/guardrails.ts";
import { CheckFields } from "./check-fields.tsx";
import { emptyGuardrail, findsPlaces, type GuardrailDraft } from "./guardrail-draft.ts";
import { TryBox } from "./try-box.tsx";

const kinds = guardrailChecks.filter(findsPlaces);

/** A check without a guardrail, to see what it finds. `workspace`: a slug; null: the installation. */
export function TryTab({ workspace }: { readonly workspace: string | null }) {
  const [draft, setDraft] = useState<GuardrailDraft>(() => emptyGuardrail(workspace));
  const change = (changes: Partial<GuardrailDraft>) => setDraft((before) => ({ ...before, ...changes }));
  return (
    <Section title={t("guardrails.try.title")} description={t("guardrails.try.notLocal")}>
      <Stack gap="md" maw={720}>
        <Select
          label={t("guardrails.try.what")}
          description={t(`guardrails.kindHelp.${draft.kind}`)}
          data={kinds.map((kind) => ({ value: kind, label: t(`guardrails.kinds.${kind}`) }))}
          value={draft.kind}
          onChange={(value) => change({ kind: kinds.find((kind) => kind === value) ?? "credentials" })}
          allowDeselect={false}
        />
        <CheckFields draft={draft} onChange={change} problem={null} />
        <TryBox draft={draft} />
      </Stack>
    </Section>
  );
}
