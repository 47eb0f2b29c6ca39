import { Button, Stack, Text } from "@mantine/core";
import { type AnswerOf, type ConsoleProvider, modelTypes, type ProviderKindForm } from "@sluice/contract";
import { useMemo, useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { useCall } from "../../../api/use-call.ts";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/providers.ts";
import { afterCatalogChange } from "../../catalog/catalog-routes.ts";
import { useModels } from "../../catalog/use-models.ts";
import { type Choice, effectOf, importBody } from "./import-choice.ts";
import { ImportFoot } from "./import-foot.tsx";
import { ImportList } from "./import-list.tsx";
import { ImportResult } from "./import-result.tsx";
import { ManualModels } from "./manual-models.tsx";

interface ImportPanelProps {
  readonly provider: ConsoleProvider;
  /** null: this version does not know the kind. */
  readonly form: ProviderKindForm | null;
}

/** Creates models of a provider, selected from its list or entered by name. */
export function ImportPanel({ provider, form }: ImportPanelProps) {
  const [result, setResult] = useState<AnswerOf<"providers.import"> | null>(null);
  const [byHand, setByHand] = useState(form?.lists_models === false);
  const types = form?.types ?? modelTypes;
  return (
    <Stack gap="lg">
      {result !== null && <ImportResult result={result} onClose={() => setResult(null)} />}
      {byHand ? (
        <Section
          title={t("providers.manual.title")}
          description={
            form?.lists_models === false
              ? t("providers.manual.noList", { title: form.title })
              : t("providers.manual.help")
          }
          actions={
            form?.lists_models === false ? undefined : (
              <Button variant="subtle" onClick={() => setByHand(false)}>
                {t("providers.manual.list")}
              </Button>
            )
          }
        >
          <ManualModels provider={provider.id} types={types} onDone={setResult} />
        </Section>
      ) : (
        <FromList provider={provider} onByHand={() => setByHand(true)} onDone={setResult} />
      )}
    </Stack>
  );
}

interface FromListProps {
  readonly provider: ConsoleProvider;
  readonly onByHand: () => void;
  readonly onDone: (result: AnswerOf<"providers.import">) => void;
}

function FromList({ provider, onByHand, onDone }: FromListProps) {
  const [choice, setChoice] = useState<Choice>(new Map());
  const query = useCall("providers.upstreamModels", { params: { provider: provider.id } });
  const models = useModels();
  const act = useAct("providers.import", {
    invalidates: afterCatalogChange,
    inline: true,
    onDone: (result) => {
      setChoice(new Map());
      onDone(result);
    },
  });
  const wrong = useMemo(
    () => [...choice].filter(([id, chosen]) => effectOf(provider.id, id, chosen, models).tone === "wrong").length,
    [choice, models, provider.id],
  );
  return (
    <Section
      title={t("providers.import.title")}
      description={t("providers.import.help")}
      actions={
        <Button variant="subtle" onClick={onByHand}>
          {t("providers.manual.open")}
        </Button>
      }
      flush
    >
      {query.error !== null ? (
        <Stack gap="sm" p="md">
          <ProblemAlert problem={query.error} onRetry={() => query.refetch()} />
          <Text size="sm" c="dimmed">
            {t("providers.import.failed")}
          </Text>
        </Stack>
      ) : (
        <ImportList
          provider={provider.id}
          upstream={query.data?.data ?? null}
          models={models}
          choice={choice}
          onChoice={setChoice}
        />
      )}
      <ImportFoot
        chosen={choice.size}
        wrong={wrong}
        saving={act.isPending}
        problem={act.error}
        onClear={() => setChoice(new Map())}
        onImport={() => act.mutate({ params: { provider: provider.id }, body: importBody(choice) })}
      />
    </Section>
  );
}
